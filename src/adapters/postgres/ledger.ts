import type { Pool, PoolClient } from 'pg';
import { type Ledger, type LedgerReads, type LedgerInstant, RowsDropped, type SealedRow } from '#/ports/ledger.ts';
import type { CheckpointStore, RetentionStore } from '#/ports/checkpoints.ts';
import type { SpendDifference } from '#/ports/evidence.ts';
import type { NanoEuro } from '#/values/money.ts';
import type { OpenHold, PeriodTotals, SpendTotals } from '#/ports/limit-counters.ts';
import type { UsageBook } from '#/ports/usage.ts';
import { arrayOf } from './array-parameter.ts';
import { readCheckpoints, readHeads, saveCheckpoint } from './checkpoints.ts';
import { localPeriods } from './local-periods.ts';
import { maintain } from './maintain.ts';
import { migrate } from './migrate.ts';
import { createPool, type PostgresOptions } from './pool.ts';
import { dropMonths, retentionPlan } from './retention.ts';
import { allRows, sealedRow, type LedgerRow } from './rows.ts';
import { openSnapshot, spendDifferences, type Snapshot } from './snapshot.ts';
import { query, STATEMENTS, type TimedQuery } from './statements.ts';
import { inTransaction } from './transaction.ts';
import { askUsage, backfillUsage, findUsageDifferences } from './usage.ts';

export interface PostgresLedgerOptions extends PostgresOptions {
  /** Only reads: neither migrates nor makes partitions, so that it needs no rights but SELECT. */
  readonly readOnly?: boolean;
}

export interface PostgresLedger extends Ledger, LedgerReads, CheckpointStore, UsageBook {
  /**
   * Makes the partitions of the month of `now` (milliseconds since the epoch) and of the two after it, where they are
   * missing, and shortens old sums; resolves with the months made. To be called about once a day: skipped, it costs
   * space and time, never rows.
   */
  maintain(now: number): Promise<readonly string[]>;
  /** Counts the usage of rows that were written before sums of it were kept. Does nothing once all are counted. */
  countEarlierUsage(): Promise<void>;
  /** Workloads whose sums, which `totals` is answered from, are not those of their rows: none, unless tampered with. */
  spendDifferences(): Promise<readonly SpendDifference[]>;
  /** Everything as of now, to be verified or handed on. Takes one connection until it is disposed of. */
  snapshot(): Promise<Snapshot>;
  readonly retention: RetentionStore;
  /** Calls since `since` that alone would explain counters that are off by `drift`; at most five. Reads all of their rows. */
  driftSuspects(
    organization: string,
    workload: string | undefined,
    drift: NanoEuro,
    since: number,
  ): Promise<readonly DriftSuspect[]>;
  close(): Promise<void>;
}

/** A call whose cost, or whose held amount less its cost, is the difference. */
export interface DriftSuspect {
  readonly callId: string;
  readonly cost: NanoEuro;
  readonly held: NanoEuro;
}

const WRITE_TIMEOUT_MS = 30_000;
const READ_TIMEOUT_MS = 10_000;

/**
 * Opens the ledger in PostgreSQL and brings its schema up to date. Rejects when the database cannot be reached, when
 * its schema was changed by others, or when it would acknowledge rows that are not durable.
 */
export async function openPostgresLedger(options: PostgresLedgerOptions): Promise<PostgresLedger> {
  const { readOnly = false, shared, ...rest } = options;
  const pool = shared ?? createPool(rest);
  const close = async (): Promise<void> => (shared ? undefined : pool.end());
  try {
    if (!readOnly) {
      await assertDurable(pool);
      await migrate(pool);
      await maintain(pool, Date.now());
    }
    await ping(pool);
  } catch (error) {
    await close();
    throw error;
  }
  return {
    append: (rows, from) => (from === 'left' ? appendLeft(pool, rows) : append(pool, rows)),
    totals: (organization, timeZone, now, open) => totals(pool, organization, timeZone, now, open),
    find: (callIds) => find(pool, callIds),
    rows: () => allRows(pool),
    ping: () => ping(pool),
    atOneInstant: (work) => atOneInstant(pool, work),
    heads: () => readHeads(pool),
    saveCheckpoint: (checkpoint) => saveCheckpoint(pool, checkpoint),
    checkpoints: (after) => readCheckpoints(pool, after),
    snapshot: () => openSnapshot(pool),
    retention: {
      plan: (before) => retentionPlan(pool, before),
      drop: (before, sign) => dropMonths(pool, before, sign),
    },
    maintain: (now) => maintain(pool, now),
    spendDifferences: () => spendDifferences(pool),
    usage: (question) => askUsage(pool, question),
    usageDifferences: () => findUsageDifferences(pool),
    countEarlierUsage: () => backfillUsage(pool),
    driftSuspects: (organization, workload, drift, since) => suspects(pool, organization, workload, drift, since),
    close,
  };
}

/** Retention takes its turn before or after, so that what it drops is either there or refused. */
async function appendLeft(pool: Pool, rows: readonly SealedRow[]): Promise<void> {
  if (rows.length === 0) return;
  await inTransaction(pool, async (client) => {
    await client.query('LOCK TABLE audit_withheld IN ROW EXCLUSIVE MODE');
    const calls = arrayOf(
      'uuid',
      rows.map((row) => row.callId),
    );
    const dropped = await client.query<{ call_id: string }>(query(STATEMENTS.droppedCalls, [calls], READ_TIMEOUT_MS));
    if (dropped.rows.length > 0) throw new RowsDropped(new Set(dropped.rows.map((row) => row.call_id)));
    await append(client, rows);
  });
}

async function append(pool: Pool | PoolClient, rows: readonly SealedRow[]): Promise<void> {
  if (rows.length === 0) return;
  const callIds: string[] = [];
  const strands: string[] = [];
  const sequences: number[] = [];
  const times: number[] = [];
  const organizations: string[] = [];
  const workloads: string[] = [];
  const costs: bigint[] = [];
  const texts: string[] = [];
  const links: string[] = [];
  for (const row of rows) {
    callIds.push(row.callId);
    strands.push(row.strand);
    sequences.push(row.sequence);
    times.push(row.at);
    organizations.push(row.organization);
    workloads.push(row.workload);
    costs.push(row.cost);
    texts.push(row.row);
    links.push(row.link);
  }
  const values = [
    arrayOf('uuid', callIds),
    arrayOf('uuid', strands),
    arrayOf('bigint', sequences),
    arrayOf('timestamp', times),
    arrayOf('text', organizations),
    arrayOf('text', workloads),
    arrayOf('bigint', costs),
    arrayOf('text', texts),
    arrayOf('digest', links),
  ];
  const statement: TimedQuery = { ...STATEMENTS.append, values, query_timeout: WRITE_TIMEOUT_MS };
  await pool.query(statement);
}

interface TotalsRow {
  readonly workload: string;
  readonly total: string;
  /** Null without a row in the period. */
  readonly day: string | null;
  readonly month: string | null;
}

async function totals(
  pool: Pool | PoolClient,
  organization: string,
  timeZone: string,
  now: number,
  open: readonly OpenHold[],
): Promise<SpendTotals> {
  const { day, month } = localPeriods(now, timeZone);
  const bounds = [day.from, day.until, month.from, month.until].map((instant) => new Date(instant).toISOString());
  const values = [
    organization,
    ...bounds,
    arrayOf(
      'uuid',
      open.map((hold) => hold.callId),
    ),
  ];
  const { rows } = await pool.query<TotalsRow>(query(STATEMENTS.totals, values));
  const workloads = new Map<string, PeriodTotals>();
  let all: PeriodTotals = { total: 0n, day: 0n, month: 0n };
  for (const { workload, ...sums } of rows) {
    const spent = { total: BigInt(sums.total), day: BigInt(sums.day ?? 0), month: BigInt(sums.month ?? 0) };
    workloads.set(workload, spent);
    all = { total: all.total + spent.total, day: all.day + spent.day, month: all.month + spent.month };
  }
  return { periods: { day: day.id, month: month.id }, organization: all, workloads };
}

async function find(pool: Pool | PoolClient, callIds: readonly string[]): Promise<readonly SealedRow[]> {
  if (callIds.length === 0) return [];
  const { rows } = await pool.query<LedgerRow>(query(STATEMENTS.find, [arrayOf('uuid', callIds)], READ_TIMEOUT_MS));
  return rows.map(sealedRow);
}

function atOneInstant<T>(pool: Pool, work: (instant: LedgerInstant) => Promise<T>): Promise<T> {
  const read = (client: PoolClient): Promise<T> =>
    work({
      totals: (organization, timeZone, now, open) => totals(client, organization, timeZone, now, open),
      find: (callIds) => find(client, callIds),
    });
  return inTransaction(pool, read, 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
}

async function suspects(
  pool: Pool,
  organization: string,
  workload: string | undefined,
  drift: NanoEuro,
  since: number,
): Promise<readonly DriftSuspect[]> {
  const values = [organization, String(drift), workload ?? null, new Date(since).toISOString()];
  const { rows } = await pool.query<{ readonly call_id: string; readonly cost: bigint; readonly held: string }>(
    query(STATEMENTS.driftSuspects, values),
  );
  return rows.map(({ call_id: callId, cost, held }) => ({ callId, cost, held: BigInt(held) }));
}

async function ping(pool: Pool): Promise<void> {
  await pool.query(query(STATEMENTS.ping, [], READ_TIMEOUT_MS));
}

/** A server told to acknowledge commits before they are on disk would lose rows whose holds were settled. */
async function assertDurable(pool: Pool): Promise<void> {
  const { rows } = await pool.query<{ synchronous_commit: string }>('SHOW synchronous_commit');
  if (rows[0]?.synchronous_commit === 'off') {
    throw new Error('synchronous_commit is off for this database or role: the audit ledger needs it on');
  }
}
