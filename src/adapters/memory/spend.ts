import type {
  Credit,
  HoldRequest,
  LimitName,
  Lowering,
  OpenHold,
  Periods,
  SpendLimit,
  SpendTotals,
} from '#/ports/limit-counters.ts';
import type { NanoEuro } from '#/values/money.ts';
import { clamp, MOST, nearRoom, room } from './amount.ts';
import type { RestoredSpend } from './restored-spend.ts';

/** Spend of one organization in one period: settled and held. A workload that is not there has spent nothing. */
interface PeriodSpend {
  /** Of a prepaid organization, with its total. */
  credit?: Credit;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
  organization: NanoEuro;
  readonly workloads: Map<string, NanoEuro>;
}

/** The spend counters of one organization, by period: `total`, `2026-11-21`, `2026-11`. Absent: never restored. */
export type Spend = Map<string, PeriodSpend>;

const DAY_MS = 86_400_000;

/** What the spend limits say to one more hold; undefined: they all allow it. */
export function spendVerdict(spend: Spend, request: HoldRequest, now: number): LimitName | 'cold' | undefined {
  const { workload, periods, amount, workloadBudget, organizationCap, prepaid } = request;
  const kept = keptPeriods(spend, periods, now);
  const budget = workloadBudget && spend.get(periodOf(workloadBudget, periods));
  const cap = organizationCap && spend.get(periodOf(organizationCap, periods));
  const total = prepaid === true ? spend.get('total') : undefined;
  if ((workloadBudget && !budget) || (organizationCap && !cap) || (prepaid === true && !total?.credit)) return 'cold';
  if (workloadBudget && budget && spentBy(budget, workload) > room(workloadBudget, amount)) return 'budget';
  if (organizationCap && cap && cap.organization > room(organizationCap, amount)) return 'cap';
  for (const period of kept) {
    if (spentBy(period, workload) > MOST - amount) return 'budget';
    if (period.organization > MOST - amount) return 'cap';
  }
  if (total?.credit && total.organization + amount > total.credit.sum) return 'credit';
  return undefined;
}

/** Whether a limit is so near that another call may be refused for what this one holds. */
export function isNear(spend: Spend, request: HoldRequest): boolean {
  const { workload, periods, amount, workloadBudget, organizationCap, prepaid } = request;
  const budget = workloadBudget && spend.get(periodOf(workloadBudget, periods));
  const cap = organizationCap && spend.get(periodOf(organizationCap, periods));
  if (prepaid === true) return true;
  if (workloadBudget && budget && spentBy(budget, workload) > nearRoom(workloadBudget, amount)) return true;
  return organizationCap && cap ? cap.organization > nearRoom(organizationCap, amount) : false;
}

/** Makes a newer credit known, where the total is kept. */
export function putCredit(spend: Spend, credit: Credit): void {
  const total = spend.get('total');
  if (total && credit.number >= (total.credit?.number ?? 0)) total.credit = credit;
}

/** Adds to every counter that is kept, in the hold's own periods. */
export function addSpend(spend: Spend, hold: OpenHold, amount: NanoEuro, now: number): void {
  for (const period of keptPeriods(spend, hold.periods, now)) {
    period.organization = clamp(period.organization + amount);
    period.workloads.set(hold.workload, clamp(spentBy(period, hold.workload) + amount));
  }
}

/**
 * Sets the counters of the current periods, but for those that may not be lowered; those of earlier periods stay until
 * they expire, and so does newer credit.
 */
export function setSpend(
  spend: Spend,
  { periods, credit }: SpendTotals,
  restored: RestoredSpend,
  lowers: Lowering,
  now: number,
): void {
  const known = spend.get('total')?.credit;
  const set = (name: string, scope: 'total' | 'day' | 'month', expiresAt: number): void => {
    const workloads = new Map<string, NanoEuro>();
    for (const [workload, amounts] of restored.workloads) workloads.set(workload, amounts[scope]);
    const before = spend.get(name);
    const floor = lowers === 'everything' || (lowers === 'periods' && scope !== 'total') ? undefined : before;
    if (!floor || floor.expiresAt <= now) {
      spend.set(name, { expiresAt, organization: restored.organization[scope], workloads });
      return;
    }
    for (const [workload, amount] of floor.workloads) workloads.set(workload, higher(amount, workloads.get(workload)));
    const organization = higher(floor.organization, restored.organization[scope]);
    spend.set(name, { expiresAt, organization, workloads });
  };
  set('total', 'total', Infinity);
  for (const one of [known, credit]) if (one) putCredit(spend, one);
  set(periods.day, 'day', now + 3 * DAY_MS);
  set(periods.month, 'month', now + 40 * DAY_MS);
  for (const [name, { expiresAt }] of spend) if (expiresAt <= now) spend.delete(name);
}

function higher(kept: NanoEuro, restored: NanoEuro | undefined): NanoEuro {
  return restored === undefined || kept > restored ? kept : restored;
}

function keptPeriods(spend: Spend, periods: Periods, now: number): PeriodSpend[] {
  const kept: PeriodSpend[] = [];
  for (const name of ['total', periods.day, periods.month]) {
    const period = spend.get(name);
    if (!period) continue;
    if (period.expiresAt > now) kept.push(period);
    else spend.delete(name);
  }
  return kept;
}

function periodOf(limit: SpendLimit, periods: Periods): string {
  switch (limit.period) {
    case 'total':
      return 'total';
    case 'daily':
      return periods.day;
    case 'monthly':
      return periods.month;
  }
}

function spentBy(period: PeriodSpend, workload: string): NanoEuro {
  return period.workloads.get(workload) ?? 0n;
}
