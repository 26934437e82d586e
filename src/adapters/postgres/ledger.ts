import type { Pool } from 'pg';
import type { CheckpointStore } from '#ports/checkpoints.ts';
import type { SpendDifference } from '#ports/evidence.ts';
import type { Ledger, SealedRow } from '#ports/ledger.ts';
import type { OpenHold, PeriodTotals, SpendTotals } from '#ports/limit-counters.ts';
import type { RetentionStore } from '#ports/retention.ts';
import { bigintArray, digestArray, textArray, timestampArray, uuidArray } from './array-parameter.ts';
import { readCheckpoints, readHeads, saveCheckpoint } from './checkpoints.ts';
import { localPeriods } from './local-periods.ts';
import { migrate, withSchemaLock } from './migrate.ts';
import { createPool, type PostgresOptions } from './pool.ts';
import { dropMonths, retentionPlan } from './retention.ts';
import { allRows, sealedRow, type LedgerRow } from './rows.ts';
import { openSnapshot, spendDifferences, type Snapshot } from './snapshot.ts';
import { query, STATEMENTS } from './statements.ts';

export interface PostgresLedgerOptions extends PostgresOptions {
  /** Only reads: neither migrates nor makes partitions, so that it needs no rights but SELECT. */
  readonly readOnly?: boolean;
}

export interface PostgresLedger extends Ledger, CheckpointStore {
  /**
   * Makes the partitions of the month of `now` (milliseconds since the epoch) and of the two after it, where they are
   * missing, and shortens old sums; resolves with the months made. To be called about once a day: skipped, it costs
   * space and time, never rows.
   */
  maintain(now: number): Promise<readonly string[]>;
  /** Workloads whose sums, which `totals` is answered from, are not those of their rows: none, unless tampered with. */
  spendDifferences(): Promise<readonly SpendDifference[]>;
  /** Everything as of now, to be verified or handed on. Takes one connection until it is disposed of. */
  snapshot(): Promise<Snapshot>;
  readonly retention: RetentionStore;
  close(): Promise<void>;
}

const WRITE_TIMEOUT_MS = 30_000;
const READ_TIMEOUT_MS = 10_000;
const MONTHS_AHEAD = 2;
/** How long sums are kept by quarter of an hour: for longer than any month that a budget is cut by. */
const QUARTERS_KEPT_MS = 70 * 24 * 60 * 60 * 1000;

/**
 * Opens the ledger in PostgreSQL and brings its schema up to date. Rejects when the database cannot be reached, when
 * its schema was changed by others, or when it would acknowledge rows that are not durable.
 */
export async function openPostgresLedger(options: PostgresLedgerOptions): Promise<PostgresLedger> {
  const { readOnly = false, ...rest } = options;
  const pool = createPool(rest);
  try {
    if (!readOnly) {
      await assertDurable(pool);
      await migrate(pool);
      await maintain(pool, Date.now());
    }
    await ping(pool);
  } catch (error) {
    await pool.end();
    throw error;
  }
  return {
    append: (rows) => append(pool, rows),
    totals: (organization, timeZone, now, open) => totals(pool, organization, timeZone, now, open),
    find: (callIds) => find(pool, callIds),
    rows: () => allRows(pool),
    ping: () => ping(pool),
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
    close: () => pool.end(),
  };
}

async function append(pool: Pool, rows: readonly SealedRow[]): Promise<void> {
  if (rows.length === 0) return;
  const values = [
    uuidArray(rows.map((row) => row.callId)),
    uuidArray(rows.map((row) => row.strand)),
    bigintArray(rows.map((row) => row.sequence)),
    timestampArray(rows.map((row) => row.at)),
    textArray(rows.map((row) => row.organization)),
    textArray(rows.map((row) => row.workload)),
    bigintArray(rows.map((row) => row.cost)),
    textArray(rows.map((row) => row.row)),
    digestArray(rows.map((row) => row.link)),
  ];
  await pool.query(query(STATEMENTS.append, values, WRITE_TIMEOUT_MS));
}

interface TotalsRow {
  readonly workload: string;
  readonly total: string;
  /** Null when there is none in the period. */
  readonly day: string | null;
  readonly month: string | null;
}

async function totals(
  pool: Pool,
  organization: string,
  timeZone: string,
  now: number,
  open: readonly OpenHold[],
): Promise<SpendTotals> {
  const { day, month } = localPeriods(now, timeZone);
  const bounds = [day.from, day.until, month.from, month.until].map((instant) => new Date(instant).toISOString());
  const values = [organization, ...bounds, uuidArray(open.map((hold) => hold.callId))];
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

async function find(pool: Pool, callIds: readonly string[]): Promise<readonly SealedRow[]> {
  if (callIds.length === 0) return [];
  const { rows } = await pool.query<LedgerRow>(query(STATEMENTS.find, [uuidArray(callIds)], READ_TIMEOUT_MS));
  return rows.map(sealedRow);
}

async function ping(pool: Pool): Promise<void> {
  await pool.query(query(STATEMENTS.ping, [], READ_TIMEOUT_MS));
}

async function maintain(pool: Pool, now: number): Promise<readonly string[]> {
  const made: string[] = [];
  await withSchemaLock(pool, async (client) => {
    const values = [new Date(now).toISOString(), MONTHS_AHEAD];
    const { rows } = await client.query<{ month: string; added: boolean }>(query(STATEMENTS.addPartitions, values));
    made.push(...rows.filter((row) => row.added).map((row) => row.month));
    await client.query(query(STATEMENTS.foldSpend, [new Date(now - QUARTERS_KEPT_MS).toISOString()]));
  });
  return made;
}

/** A server told to acknowledge commits before they are on disk would lose rows whose holds were settled. */
async function assertDurable(pool: Pool): Promise<void> {
  const { rows } = await pool.query<{ synchronous_commit: string }>('SHOW synchronous_commit');
  if (rows[0]?.synchronous_commit === 'off') {
    throw new Error('synchronous_commit is off for this database or role: the audit ledger needs it on');
  }
}
