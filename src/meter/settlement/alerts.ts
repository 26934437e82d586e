import type { OrganizationConfig, WorkloadConfig } from '#/config/snapshot.ts';
import type { Alert } from '#/ports/alerts.ts';
import type { CreditStanding } from '#/ports/credit.ts';
import type { CountersView, SpendLimit } from '#/ports/limit-counters.ts';
import type { NanoEuro } from '#/values/money.ts';
import { periodsAt } from '../limits/periods.ts';

/** The limits that a call was refused by, and that are watched. */
export type MoneyLimit = Alert['limit'];

/** The watched state of one organization. */
export interface Watched {
  readonly organization: OrganizationConfig;
  readonly workloads: readonly WorkloadConfig[];
  /** Of a prepaid organization that has entries. */
  readonly credit?: CreditStanding;
  /**
   * Calls refused because money was used up: `cap`, `credit`, or `budget` and a workload's id -> start of the latest
   * one.
   */
  readonly refused: ReadonlyMap<string, number>;
}

/** One limit and the amount spent of it. */
interface Gauge {
  readonly limit: MoneyLimit;
  readonly workload?: string;
  readonly period: string;
  readonly amount: NanoEuro;
  readonly spent: NanoEuro;
  readonly left: NanoEuro;
  readonly percents: readonly number[];
  /** Whether a call that began then was held against it. */
  readonly heldFor: (at: number) => boolean;
}

/** Counters know of a top-up by then. */
const TOP_UP_KNOWN_MS = 5000;

/** How a refusal is noted. */
export function refusalName(limit: MoneyLimit, workload: string): string {
  return limit === 'budget' ? `budget ${workload}` : limit;
}

/**
 * Every alert that holds for the counters: thresholds that settled amounts have reached, and refusals if the
 * limit alerts when it is used up. Open holds are worst cases and raise no alert.
 */
export function dueAlerts(watched: Watched, view: CountersView, at: number): readonly Alert[] {
  return gaugesOf(watched, view, at).flatMap((gauge) => alertsOf(gauge, watched, at));
}

function gaugesOf({ organization, workloads, credit }: Watched, view: CountersView, at: number): readonly Gauge[] {
  const periods = periodsAt(at, organization.timeZone);
  const spentIn = (scope: string, period: string): NanoEuro => {
    const counter = view.spend.find((one) => one.scope === scope && one.period === period)?.amount ?? 0n;
    const held = view.holds.filter(
      (hold) =>
        (scope === 'organization' || hold.workload === scope) &&
        (period === 'total' || hold.periods.day === period || hold.periods.month === period),
    );
    return held.reduce((settled, { amount }) => settled - amount, counter);
  };
  const gauge = (limit: MoneyLimit, scope: string, { amount, period: span }: SpendLimit): Omit<Gauge, 'percents'> => {
    const heldFor = (instant: number): boolean => {
      const then = periodsAt(instant, organization.timeZone);
      return span === 'total' || period === { daily: then.day, monthly: then.month }[span];
    };
    const period = { total: 'total', daily: periods.day, monthly: periods.month }[span];
    const spent = spentIn(scope, period);
    return { limit, period, amount, spent, left: amount - spent, heldFor };
  };
  const gauges: Gauge[] = [];
  if (organization.cap)
    gauges.push({ ...gauge('cap', 'organization', organization.cap), percents: organization.alertPercent });
  for (const { id, budget, alertPercent } of workloads)
    if (budget) gauges.push({ ...gauge('budget', id, budget), workload: id, percents: alertPercent });
  if (credit?.lastTopUp) {
    const spent = spentIn('organization', 'total');
    const { number, amount, at: paidAt } = credit.lastTopUp;
    const period = `entry ${number}`;
    gauges.push({
      limit: 'credit',
      period,
      amount,
      spent,
      left: credit.sum - spent,
      heldFor: (instant) => instant >= paidAt + TOP_UP_KNOWN_MS,
      percents: organization.alertPercent,
    });
  }
  return gauges;
}

/** Of credit, thresholds are measured by the last top-up: 80 per cent are used when a fifth of it, or less, is left. */
function alertsOf(gauge: Gauge, { organization, refused }: Watched, at: number): Alert[] {
  const { percents, heldFor, ...facts } = gauge;
  const { limit, workload, period, amount, left } = facts;
  const used = amount - left;
  const alert = (event: Alert['event'], percent: number): Alert => {
    const name = [limit, workload ?? '', period, amount, event === 'refused' ? event : percent].join(' ');
    return { id: `${organization.id} ${name}`, event, percent, organization: organization.id, at, ...facts };
  };
  const due = percents.filter((percent) => used * 100n >= amount * BigInt(percent)).map((one) => alert('reached', one));
  const refusedAt = refused.get(refusalName(limit, workload ?? ''));
  // One that is looked at in the next period says nothing of that one.
  if (percents.includes(100) && refusedAt !== undefined && heldFor(refusedAt))
    due.push(alert('refused', amount <= 0n || used <= 0n ? 0 : Number((used * 100n) / amount)));
  return due;
}
