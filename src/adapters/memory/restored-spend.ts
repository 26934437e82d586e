import type { OpenHold, PeriodTotals, SpendTotals } from '#/ports/limit-counters.ts';
import type { NanoEuro } from '#/values/money.ts';
import { clamp } from './amount.ts';

/** Counters of one scope after a restore. */
export interface RestoredScope {
  total: NanoEuro;
  day: NanoEuro;
  month: NanoEuro;
}

export interface RestoredSpend {
  readonly organization: Readonly<RestoredScope>;
  readonly workloads: ReadonlyMap<string, Readonly<RestoredScope>>;
}

/** What the counters must say: the ledger's totals plus the open holds, each in the periods it counts towards. */
export function restoredSpend(totals: SpendTotals, open: readonly OpenHold[]): RestoredSpend {
  const organization = scopeOf(totals.organization);
  const workloads = new Map<string, RestoredScope>();
  for (const [workload, spent] of totals.workloads) workloads.set(workload, scopeOf(spent));
  for (const hold of open) {
    let workload = workloads.get(hold.workload);
    if (!workload) workloads.set(hold.workload, (workload = { total: 0n, day: 0n, month: 0n }));
    for (const scope of [organization, workload]) {
      scope.total = clamp(scope.total + hold.amount);
      if (hold.periods.day === totals.periods.day) scope.day = clamp(scope.day + hold.amount);
      if (hold.periods.month === totals.periods.month) scope.month = clamp(scope.month + hold.amount);
    }
  }
  return { organization, workloads };
}

function scopeOf({ total, day, month }: PeriodTotals): RestoredScope {
  return { total: clamp(total), day: clamp(day), month: clamp(month) };
}
