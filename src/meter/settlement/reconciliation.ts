import type { OrganizationConfig } from '#/config/snapshot.ts';
import type { LedgerReads, LedgerInstant, SealedRow } from '#/ports/ledger.ts';
import type { CountersView, LimitCounters, OpenHold, PeriodTotals, SpendTotals } from '#/ports/limit-counters.ts';
import type { NanoEuro } from '#/values/money.ts';
import { periodsAt } from '../limits/periods.ts';

/** A counter with its expected value: the ledger's rows and the open holds of its scope and period. */
export interface ReconciledCounter {
  /** `organization`, or the id of a workload. */
  readonly scope: string;
  /** `total`, `2026-11-21` or `2026-11`. */
  readonly period: string;
  readonly counter: NanoEuro;
  readonly ledger: NanoEuro;
  readonly held: NanoEuro;
  /** Counter less ledger and held: 0 unless data was lost or changed. // design 2 */
  readonly drift: NanoEuro;
}

/** The counters of one organization compared with the ledger, at the instant at which they were read. */
export interface Reconciliation {
  readonly lines: readonly ReconciledCounter[];
  readonly view: CountersView;
  /** Rows, by call id, of the holds that were open: sealed and about to be settled. */
  readonly sealed: ReadonlyMap<string, SealedRow>;
}

export interface ReconciliationDeps {
  readonly counters: Pick<LimitCounters, 'view'>;
  readonly ledger: LedgerReads;
}

const NOTHING: PeriodTotals = { total: 0n, day: 0n, month: 0n };
/** Closed calls are listed for two minutes. */
const MOST_MS = 50_000;
/** Stands for now. */
const NOW = Number.MAX_SAFE_INTEGER;

/**
 * Compares counters and ledger while calls go on, without keeping any of them waiting. The counters are read first, at
 * one instant. The ledger, read at one later instant, knows more: rows of holds that were open are left out of its sums,
 * and calls debited since are found by reading the counters again, for each of them is open now or has been closed in
 * between. Rejects when the stores cannot be read, or took too long to be compared. `kept`: also periods that are over.
 */
async function reconcileOnce(
  organization: OrganizationConfig,
  deps: ReconciliationDeps,
  kept: 'current' | 'all' = 'current',
): Promise<Reconciliation> {
  const { counters, ledger } = deps;
  const before = await counters.view(organization.id, NOW);
  const sums = await ledger.atOneInstant(async (instant) => {
    const totals = await totalsOf(organization, before, instant, kept);
    const after = await counters.view(organization.id, before.now);
    if (after.now - before.now > MOST_MS) throw new Error('comparing counters with the ledger took too long');
    const known = new Set([...idsOf(before)]);
    const since = [...idsOf(after)].filter((id) => !known.has(id));
    const rows = await instant.find([...since, ...before.holds.map(({ callId }) => callId)]);
    const newer = new Set(since);
    return {
      totals,
      newer: rows.filter(({ callId }) => newer.has(callId)),
      sealed: rows.filter(({ callId }) => !newer.has(callId)),
    };
  });
  const lines = sums.totals.flatMap((totals) => linesOf(organization, before, totals, sums.newer));
  return { lines: distinct(lines), view: before, sealed: new Map(sums.sealed.map((row) => [row.callId, row])) };
}

/** Calls that are open or have closed. */
function* idsOf({ holds, closed = [] }: CountersView): Iterable<string> {
  for (const { callId } of holds) yield callId;
  yield* closed;
}

async function totalsOf(
  { id, timeZone }: OrganizationConfig,
  { holds, spend }: CountersView,
  instant: LedgerInstant,
  kept: 'current' | 'all',
): Promise<readonly SpendTotals[]> {
  const instants = [Date.now()];
  if (kept === 'all') {
    for (const period of new Set(spend.map((one) => one.period))) {
      const within = instantIn(period, timeZone);
      if (within !== undefined) instants.push(within);
    }
  }
  const totals: SpendTotals[] = [];
  for (const now of instants) totals.push(await instant.totals(id, timeZone, now, holds));
  return totals;
}

/** An instant of a day or month by its name; undefined for the total, and for a day that a zone does not have. */
function instantIn(period: string, timeZone: string): number | undefined {
  const middle = Date.parse(`${period.length === 7 ? `${period}-15` : period}T12:00:00Z`);
  if (Number.isNaN(middle)) return undefined;
  return [0, -12, 12, -6, 6, -18, 18]
    .map((hours) => middle + hours * 3_600_000)
    .find((instant) => Object.values(periodsAt(instant, timeZone)).includes(period));
}

function linesOf(
  { timeZone }: OrganizationConfig,
  view: CountersView,
  totals: SpendTotals,
  newer: readonly SealedRow[],
): ReconciledCounter[] {
  const { day, month } = totals.periods;
  const named = { total: 'total', day, month } as const;
  return (['total', 'day', 'month'] as const).flatMap((span) => {
    const period = named[span];
    const counters = new Map(view.spend.filter((one) => one.period === period).map((one) => [one.scope, one.amount]));
    // A counter that is not there is restored before it is used.
    if (!counters.has('organization')) return [];
    const late = newer.filter(({ at }) => span === 'total' || periodsAt(at, timeZone)[span] === period);
    const open = view.holds.filter(({ periods }) => span === 'total' || periods[span] === period);
    const scopes = new Set([...counters.keys(), ...totals.workloads.keys(), ...open.map(({ workload }) => workload)]);
    return [...scopes].map((scope) => {
      const spent = scope === 'organization' ? totals.organization : (totals.workloads.get(scope) ?? NOTHING);
      const ledger = spent[span] - sumOf(late, scope, ({ cost }) => cost);
      const held = sumOf(open, scope, ({ amount }) => amount);
      const counter = counters.get(scope) ?? 0n;
      return { scope, period, counter, ledger, held, drift: counter - ledger - held };
    });
  });
}

function sumOf<T extends SealedRow | OpenHold>(
  items: readonly T[],
  scope: string,
  amount: (item: T) => NanoEuro,
): NanoEuro {
  let sum = 0n;
  for (const item of items) if (scope === 'organization' || item.workload === scope) sum += amount(item);
  return sum;
}

function distinct(lines: readonly ReconciledCounter[]): readonly ReconciledCounter[] {
  return [...new Map(lines.map((line) => [`${line.period} ${line.scope}`, line])).values()];
}

/** The lines that say too little and too much by the most; either is undefined when none does. */
export function worstDrift({ lines }: Reconciliation): {
  readonly below?: ReconciledCounter;
  readonly above?: ReconciledCounter;
} {
  let below: ReconciledCounter | undefined;
  let above: ReconciledCounter | undefined;
  for (const line of lines) {
    if (line.drift < (below?.drift ?? 0n)) below = line;
    if (line.drift > (above?.drift ?? 0n)) above = line;
  }
  return { ...(below && { below }), ...(above && { above }) };
}

/**
 * Compares counters with the ledger, again while they differ by changing amounts: a settlement that was sent twice, or a
 * store that lost its data between two questions, looks like drift once, and not twice by the same amount.
 */
export async function reconcileCounters(
  organization: OrganizationConfig,
  deps: ReconciliationDeps,
  kept: 'current' | 'all' = 'current',
): Promise<Reconciliation> {
  let reconciled = await reconcileOnce(organization, deps, kept);
  for (let tries = 0; tries < 3 && reconciled.lines.some(({ drift }) => drift !== 0n); tries++) {
    await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
    const again = await reconcileOnce(organization, deps, kept);
    if (sameDrift(reconciled, again)) return again;
    reconciled = again;
  }
  return reconciled;
}

const AGAIN_MS = 250;

function sameDrift(one: Reconciliation, other: Reconciliation): boolean {
  const text = ({ lines }: Reconciliation): string =>
    lines.flatMap(({ scope, period, drift }) => (drift === 0n ? [] : `${period} ${scope} ${drift}`)).join('\n');
  return text(one) === text(other);
}
