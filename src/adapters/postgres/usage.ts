import type { Pool } from 'pg';
import type { UsageDifference, UsageLine, UsageQuestion, UsageReport } from '#ports/usage.ts';
import { localDays, type Span } from './local-periods.ts';
import { query, STATEMENTS } from './statements.ts';

const DAY_MS = 86_400_000;
/** How long sums are kept by quarter of an hour: thirteen months and some days. */
const QUARTERS_KEPT_MS = 400 * DAY_MS;
/** Quarters that no gateway adds to any more, but for rows that come late. */
const SETTLED_AFTER_MS = 2 * 3_600_000;
const FOLD_AT_ONCE = 20_000;
const BACKFILL_AT_ONCE = 20_000;
const READ_TIMEOUT_MS = 30_000;
const CHECK_TIMEOUT_MS = 3_600_000;

type Columns<Name extends string> = Readonly<Record<Name, string>>;
/** As the database adds up: decimal text. */
type SumsRow = Columns<
  | 'calls'
  | 'refused'
  | 'failed'
  | 'hung_up'
  | 'abandoned'
  | 'cache_hits'
  | 'input_tokens'
  | 'cache_read_tokens'
  | 'cache_write_5m_tokens'
  | 'cache_write_1h_tokens'
  | 'output_tokens'
  | 'reasoning_tokens'
  | 'cost_nano_eur'
>;
interface UsageRow extends SumsRow {
  readonly workload: string | null;
  readonly provider: string | null;
  readonly model: string | null;
  /** Counted from 1. */
  readonly period: number;
}

/** Sums of what was used; see `UsageBook.usage`. */
export async function askUsage(pool: Pool, question: UsageQuestion): Promise<UsageReport> {
  const { organization, workload, from, to, timeZone, by } = question;
  const days = localDays(from, to, timeZone);
  const [first, last] = [days[0], days.at(-1)];
  if (!first || !last) return { lines: [], complete: true };
  const bounds = [...(by.includes('day') ? days.map((day) => day.from) : [first.from]), last.until];
  const midnights = bounds.map((instant) => Math.round(instant / DAY_MS) * DAY_MS);
  const pieces = piecesBetween(bounds, midnights);
  if (pieces.some(({ since }) => since < Date.now() - QUARTERS_KEPT_MS + 2 * DAY_MS))
    throw new RangeError('usage of longer than thirteen months ago is kept by days of UTC only');
  const { name: _, ...planned } = query(
    STATEMENTS.usage,
    [
      organization,
      workload ?? null,
      bounds.map(timestamp),
      by.includes('workload'),
      by.includes('model'),
      midnights.map(timestamp),
      pieces.map(({ since }) => timestamp(since)),
      pieces.map(({ until }) => timestamp(until)),
      pieces.map(({ period }) => period),
      pieces.map(({ sign }) => sign),
    ],
    READ_TIMEOUT_MS,
  );
  // Without a name it is planned for these values each time: a plan for any values reads far too much.
  const { rows } = await pool.query<UsageRow>(planned);
  const pending = await pool.query<{ pending: boolean }>(query(STATEMENTS.usagePending, [], READ_TIMEOUT_MS));
  const lines = rows.map((row) => lineOf(row, by.includes('day') ? days : []));
  return { lines, complete: pending.rows[0]?.pending === false };
}

/** Quarters that lie between where a period begins and the midnight that stands for it. */
interface Piece {
  readonly since: number;
  readonly until: number;
  /** Counted from 1. */
  readonly period: number;
  readonly sign: 1 | -1;
}

/**
 * Everything after a bound is everything after its midnight, and what lies between them: more when the bound is earlier,
 * less when it is later. A period is what comes after its bound less what comes after the next.
 */
function piecesBetween(bounds: readonly number[], midnights: readonly number[]): readonly Piece[] {
  return bounds.flatMap((bound, index) => {
    const midnight = midnights[index]!;
    if (bound === midnight) return [];
    const [since, until] = [Math.min(bound, midnight), Math.max(bound, midnight)];
    const sign = bound < midnight ? 1 : -1;
    const begins: Piece[] = index < bounds.length - 1 ? [{ since, until, period: index + 1, sign }] : [];
    const ends: Piece[] = index > 0 ? [{ since, until, period: index, sign: sign === 1 ? -1 : 1 }] : [];
    return [...begins, ...ends];
  });
}

function lineOf({ workload, provider, model, period, ...sums }: UsageRow, days: readonly Span[]): UsageLine {
  const day = days[period - 1]?.id;
  return {
    ...(workload !== null && { workload }),
    ...(provider !== null && { provider }),
    ...(model !== null && { model }),
    ...(day !== undefined && { day }),
    calls: Number(sums.calls),
    refused: Number(sums.refused),
    failed: Number(sums.failed),
    hungUp: Number(sums.hung_up),
    abandoned: Number(sums.abandoned),
    cacheHits: Number(sums.cache_hits),
    tokens: {
      input: Number(sums.input_tokens),
      cacheRead: Number(sums.cache_read_tokens),
      cacheWrite5m: Number(sums.cache_write_5m_tokens),
      cacheWrite1h: Number(sums.cache_write_1h_tokens),
      output: Number(sums.output_tokens),
      reasoning: Number(sums.reasoning_tokens),
    },
    cost: BigInt(sums.cost_nano_eur),
  };
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

/** Folds the sums of past quarters, and forgets quarters of long ago. To be run by one process at a time. */
export async function foldUsage(client: Pick<Pool, 'query'>, now: number): Promise<void> {
  const values = [timestamp(now - SETTLED_AFTER_MS), FOLD_AT_ONCE];
  for (let folded = FOLD_AT_ONCE; folded >= FOLD_AT_ONCE;) {
    const { rows } = await client.query<{ folded: number }>(query(STATEMENTS.foldUsage, values));
    folded = rows[0]?.folded ?? 0;
  }
  await client.query(query(STATEMENTS.expireUsage, [timestamp(now - QUARTERS_KEPT_MS)]));
}

/** Counts the rows of before the sums were kept, a few at a time; safe with several processes at once. */
export async function backfillUsage(pool: Pool): Promise<void> {
  for (;;) {
    const { rows } = await pool.query<{ counted: number }>(query(STATEMENTS.backfillUsage, [BACKFILL_AT_ONCE]));
    if (rows.length === 0) return;
  }
}

function timestamp(instant: number): string {
  return new Date(instant).toISOString();
}
