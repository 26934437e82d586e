import type { WorkloadConfig } from '#/config/snapshot.ts';
import type { CountersView, LimitCounters, OpenHold, Periods, SpendLimit } from '#/ports/limit-counters.ts';
import type { NanoEuro } from '#/values/money.ts';
import { periodEnd } from './periods.ts';

/** State of a money limit, as shown to callers of its own organization. */
export interface Standing {
  /** What it allows in its period. */
  readonly amount: NanoEuro;
  /** For calls that are over. */
  readonly spent: NanoEuro;
  /** For calls in flight, which may cost less. */
  readonly held: NanoEuro;
  /** When its period ends, milliseconds since the epoch; undefined: it has no end. */
  readonly endsAt?: number;
}

/** A limit of money that a call is refused by. */
type MoneyLimit = 'budget' | 'cap' | 'credit';

type View = Pick<LimitCounters, 'view'>;

/** Looks at an organization that are under way: those who ask about one at the same time share it. */
const LOOKS = new WeakMap<View, Map<string, Promise<CountersView | undefined>>>();

/** How a limit stands for a call of this workload; undefined where the counters do not say. */
export async function standingOf(
  by: MoneyLimit,
  { at, periods }: Pick<OpenHold, 'at' | 'periods'>,
  workload: WorkloadConfig,
  counters: View,
): Promise<Standing | undefined> {
  const { organization } = workload;
  const view = await look(organization.id, counters);
  const limit = limitOf(by, workload, view);
  if (!view || !limit) return undefined;
  const key = keyOf(limit.period, periods);
  const scope = by === 'budget' ? workload.id : 'organization';
  const counted = view.spend.filter((one) => one.period === key);
  if (counted.length === 0) return undefined;
  // A period that is counted counts every workload: one that is not there has spent nothing.
  const sum = counted.find((one) => one.scope === scope)?.amount ?? 0n;
  const held = view.holds
    .filter((hold) => (by !== 'budget' || hold.workload === workload.id) && keyOf(limit.period, hold.periods) === key)
    .reduce((total, { amount }) => total + amount, 0n);
  const endsAt = periodEnd(at, organization.timeZone, limit.period);
  return { amount: limit.amount, spent: sum - held, held, ...(endsAt !== undefined && { endsAt }) };
}

function look(organization: string, counters: View): Promise<CountersView | undefined> {
  const looks = LOOKS.get(counters) ?? new Map<string, Promise<CountersView | undefined>>();
  LOOKS.set(counters, looks);
  const known = looks.get(organization);
  if (known) return known;
  // Without amounts, it is still a refusal.
  const view = counters.view(organization).catch(() => undefined);
  looks.set(organization, view);
  void view.finally(() => looks.delete(organization));
  return view;
}

function limitOf(
  by: MoneyLimit,
  { budget, organization }: WorkloadConfig,
  view?: CountersView,
): SpendLimit | undefined {
  if (by === 'budget') return budget;
  if (by === 'cap') return organization.cap;
  return view?.credit && { amount: view.credit.sum, period: 'total' };
}

function keyOf(period: SpendLimit['period'], { day, month }: Periods): string {
  return { total: 'total', daily: day, monthly: month }[period];
}
