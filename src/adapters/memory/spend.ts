import type {
  Credit,
  HoldRequest,
  LimitName,
  Lowering,
  OpenHold,
  Periods,
  PeriodTotals,
  SpendLimit,
  SpendTotals,
} from '#/ports/limit-counters.ts';
import type { NanoEuro } from '#/values/money.ts';

/** The most a counter can hold: what fits in 64 bits with a sign. */
export const MOST: NanoEuro = 2n ** 63n - 1n;

/** A limit is near when it lets fewer than so many more calls through that hold as much. */
const NEAR_CALLS = 16;

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

/**
 * What the spend limits say to one more hold; undefined: they all allow it. `near`: they do, and another call may be refused
 * for what this one holds.
 */
export function spendVerdict(spend: Spend, request: HoldRequest, now: number): LimitName | 'cold' | 'near' | undefined {
  const { workload, periods, amount, workloadBudget, organizationCap, prepaid = false } = request;
  const kept = keptPeriods(spend, periods, now);
  const budget = workloadBudget && spend.get(periodOf(workloadBudget, periods));
  const cap = organizationCap && spend.get(periodOf(organizationCap, periods));
  const total = prepaid ? spend.get('total') : undefined;
  if ((workloadBudget && !budget) || (organizationCap && !cap) || (prepaid && !total?.credit)) return 'cold';
  const ofBudget = budget?.workloads.get(workload) ?? 0n;
  const ofCap = cap?.organization ?? 0n;
  if (workloadBudget && ofBudget > room(workloadBudget, amount)) return 'budget';
  if (organizationCap && ofCap > room(organizationCap, amount)) return 'cap';
  for (const period of kept) {
    if ((period.workloads.get(workload) ?? 0n) > MOST - amount) return 'budget';
    if (period.organization > MOST - amount) return 'cap';
  }
  if (total?.credit && total.organization + amount > total.credit.sum) return 'credit';
  const isNear =
    prepaid ||
    (workloadBudget && ofBudget > nearRoom(workloadBudget, amount)) ||
    (organizationCap && ofCap > nearRoom(organizationCap, amount));
  return isNear === true ? 'near' : undefined;
}

/** What may have been spent before, for `amount` more to stay within `limit`. Negative when the amount alone is too much. */
export function room(limit: SpendLimit, amount: NanoEuro): NanoEuro {
  return clamp(limit.amount) - amount;
}

/** What may have been spent before a hold of `amount` for the limit not to be near. */
export function nearRoom(limit: SpendLimit, amount: NanoEuro): NanoEuro {
  return room(limit, BigInt(NEAR_CALLS) * amount);
}

/** What may have been used of the tokens per minute for the limit not to be near; 0 without a limit. */
export function nearTokens({ tokensPerMinute, tokens }: Pick<HoldRequest, 'tokensPerMinute' | 'tokens'>): number {
  return tokensPerMinute === undefined ? 0 : tokensPerMinute - NEAR_CALLS * tokens;
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
    period.workloads.set(hold.workload, clamp((period.workloads.get(hold.workload) ?? 0n) + amount));
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

/** Cuts an amount to what a counter can hold. */
function clamp(amount: NanoEuro): NanoEuro {
  return amount > MOST ? MOST : amount;
}

/** Throws RangeError on a request whose amounts, counts or limits make no sense. */
export function checkRequest(request: HoldRequest): void {
  const { amount, tokens, free = false, requestsPerMinute = 0, tokensPerMinute = 0 } = request;
  checkDebit(amount, tokens);
  if (free && (amount > 0n || tokens > 0)) throw new RangeError('a free call must have no amount and no tokens');
  for (const limit of [requestsPerMinute, tokensPerMinute])
    if (!Number.isSafeInteger(limit) || limit < 0) throw new RangeError(NO_COUNT);
}

/** Throws RangeError on an amount that no counter can hold, and on tokens that are no count. */
export function checkDebit(amount: NanoEuro, tokens: number): void {
  if (amount < 0n || amount > MOST) throw new RangeError('an amount must be between 0 and 2^63 - 1 nano-euro');
  if (!Number.isSafeInteger(tokens) || tokens < 0) throw new RangeError(NO_COUNT);
}

const NO_COUNT = 'a count must be a whole number from 0';
