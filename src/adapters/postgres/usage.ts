import type { Pool, PoolClient } from 'pg';
import { USAGE_DIMENSIONS, type UsageDifference, type UsageQuestion, type UsageReport } from '#/ports/usage.ts';
import { copyOut, copyQuery } from './copy-out.ts';
import { localDays } from './local-periods.ts';
import { query, STATEMENTS } from './statements.ts';
import { inTransaction } from './transaction.ts';
import { UsageParts } from './usage-parts.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** How far apart the edges are that sums are kept for. */
const EDGES_MS = HOUR_MS / 2;
/** How long sums are kept by quarter of an hour: thirteen months and some days. */
const QUARTERS_KEPT_MS = 400 * DAY_MS;
const QUARTERS_READ_MS = QUARTERS_KEPT_MS - 2 * DAY_MS;
/** Quarters that gateways no longer add to, except for late rows. */
const SETTLED_AFTER_MS = 2 * HOUR_MS;
const FOLD_AT_ONCE = 20_000;
const BACKFILL_AT_ONCE = 20_000;
const READ_TIMEOUT_MS = 30_000;
const CHECK_TIMEOUT_MS = 3_600_000;

type Columns<Name extends string> = Readonly<Record<Name, string>>;

/** Sums of usage; see `UsageBook.usage`. */
export async function askUsage(pool: Pool, question: UsageQuestion): Promise<UsageReport> {
  const { organization, workload, from, to, timeZone, by } = question;
  const days = localDays(from, to, timeZone);
  const [first, last] = [days[0], days.at(-1)];
  if (!first || !last) return { lines: [], complete: true };
  const bounds = [...(by.includes('day') ? days.map((day) => day.from) : [first.from]), last.until];
  const edges = bounds.map((instant) => nearest(instant, EDGES_MS));
  const midnights = edges.map((instant) => nearest(instant, DAY_MS));
  // What lies between an instant and the midnight that stands for it is read by half hour and quarter.
  if (bounds.some((instant, index) => instant !== midnights[index] && instant < Date.now() - QUARTERS_READ_MS))
    throw new RangeError('usage older than thirteen months is kept by days of UTC only');
  const asked = USAGE_DIMENSIONS.map((dimension) => by.includes(dimension));
  const [byWorkload = false, byModel = false] = asked;
  const instants = { bounds: bounds.map(timestamp), edges: edges.map(timestamp), midnights: midnights.map(timestamp) };
  const told = [byWorkload, byModel, instants.edges, instants.midnights, asked.every(Boolean)];
  const sql = copyQuery(STATEMENTS.usage, [organization, workload ?? null, instants.bounds, ...told]);
  const answer = async (client: PoolClient): Promise<UsageReport> => {
    const parts = new UsageParts(by.includes('day') ? days.map(({ id }) => id) : []);
    await copyOut(client, sql, { timeoutMs: READ_TIMEOUT_MS, take: (piece) => parts.add(piece) });
    const pending = await client.query<{ pending: boolean }>(query(STATEMENTS.usagePending, [], READ_TIMEOUT_MS));
    return { lines: parts.lines(), complete: pending.rows[0]?.pending === false };
  };
  return inTransaction(pool, answer, 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
}

interface DifferenceRow extends Columns<'organization' | 'workload' | 'provider' | 'model' | 'day'> {
  readonly stored_calls: string;
  readonly stored_tokens: string;
  readonly stored_cost: string;
  readonly counted_calls: string;
  readonly counted_tokens: string;
  readonly counted_cost: string;
}

/** Holds the sums against the rows; see `UsageBook.usageDifferences`. */
export async function findUsageDifferences(pool: Pool): Promise<readonly UsageDifference[]> {
  // A day later than they expire, so that a day is kept whole or not looked at.
  const since = timestamp(Math.ceil((Date.now() - QUARTERS_KEPT_MS) / DAY_MS) * DAY_MS + DAY_MS);
  const { rows } = await pool.query<DifferenceRow>(query(STATEMENTS.usageDifferences, [since], CHECK_TIMEOUT_MS));
  return rows.map(({ organization, workload, provider, model, day, ...sums }) => ({
    organization,
    workload,
    provider,
    model,
    day,
    stored: { calls: sums.stored_calls, tokens: sums.stored_tokens, cost: sums.stored_cost },
    counted: { calls: sums.counted_calls, tokens: sums.counted_tokens, cost: sums.counted_cost },
  }));
}

/** Folds the sums of past quarters, and forgets quarters and edges of long ago. To be run by one process at a time. */
export async function foldUsage(client: Pick<Pool, 'query'>, now: number): Promise<void> {
  const values = [timestamp(now - SETTLED_AFTER_MS), FOLD_AT_ONCE];
  for (let folded = FOLD_AT_ONCE; folded >= FOLD_AT_ONCE;) {
    const { rows } = await client.query<{ folded: number }>(query(STATEMENTS.foldUsage, values));
    folded = rows[0]?.folded ?? 0;
  }
  await client.query(query(STATEMENTS.expireUsage, [timestamp(now - QUARTERS_KEPT_MS)]));
}

/** Counts rows from before sums existed, a few at a time; safe with several processes at once. */
export async function backfillUsage(pool: Pool): Promise<void> {
  for (;;) {
    const { rows } = await pool.query<{ counted: number }>(query(STATEMENTS.backfillUsage, [BACKFILL_AT_ONCE]));
    if (rows.length === 0) return;
  }
}

/** Of two that are as near, the later: as `audit_usage_edges` has it. */
function nearest(instant: number, unit: number): number {
  return Math.round(instant / unit) * unit;
}

function timestamp(instant: number): string {
  return new Date(instant).toISOString();
}
