import type { PoolClient } from 'pg';
import type {
  Job,
  JobBook,
  JobBounds,
  JobEnd,
  JobFile,
  JobFiles,
  JobNews,
  JobProgress,
  JobQueue,
  JobState,
  NewJob,
  TakenJob,
} from '#/ports/document-jobs.ts';
import { openPostgresJobFiles } from './job-files.ts';
import { openStore } from './migrate.ts';
import type { Connections, PostgresOptions } from './pool.ts';
import { query, STATEMENTS } from './statements.ts';
import { inTransaction } from './transaction.ts';

/** Jobs in PostgreSQL, and the place for their files there. */
export interface PostgresJobs {
  readonly book: JobBook;
  readonly queue: JobQueue;
  readonly files: JobFiles;
  close(): Promise<void>;
}

const TIMEOUT_MS = 10_000;
/** Separate from the ledger's connections, so that large documents never delay rows. */
const CONNECTIONS = 3;
/** Serializes those who hand in jobs, so that bounds are kept. */
const ENTER_LOCK = 7_305_804_402_118_567n;

/** Opens the store and brings its schema up to date. Rejects when the database cannot be reached. */
export async function openPostgresJobs(options: PostgresOptions): Promise<PostgresJobs> {
  const { connections: pool, close } = await openStore(options, CONNECTIONS);
  return {
    book: bookIn(pool),
    queue: queueIn(pool),
    files: openPostgresJobFiles(pool),
    close,
  };
}

function bookIn(pool: Connections): JobBook {
  return {
    enter: (job, bounds) => enter(pool, job, bounds),
    async queue(id) {
      await pool.query(query(STATEMENTS.queueJob, [id], TIMEOUT_MS));
    },
    find: (id) => find(pool, id),
    async cancel(id) {
      await pool.query(query(STATEMENTS.cancelJob, [id], TIMEOUT_MS));
      return find(pool, id);
    },
    async waiting() {
      const { rows } = await pool.query<{ waiting: number }>(query(STATEMENTS.waitingJobs, [], TIMEOUT_MS));
      return rows[0]?.waiting ?? 0;
    },
  };
}

function queueIn(pool: Connections): JobQueue {
  return {
    take: (lease, leaseMs, leftTakes) => take(pool, [lease, leaseMs, leftTakes]),
    keep: (job, leaseMs, news) => keep(pool, job, leaseMs, news),
    end: (job, end) => endOf(pool, job, end),
    async leftovers() {
      await pool.query(query(STATEMENTS.expireJobs, [], TIMEOUT_MS));
      await pool.query(query(STATEMENTS.forgetJobs, [], TIMEOUT_MS));
      const { rows } = await pool.query<{ id: string; input: boolean; result: boolean }>(
        query(STATEMENTS.leftoverFiles, [], TIMEOUT_MS),
      );
      return rows.flatMap(({ id, input, result }): JobFile[] => [
        ...(input ? [{ job: id, part: 'input' as const }] : []),
        ...(result ? [{ job: id, part: 'result' as const }] : []),
      ]);
    },
    async cleared(files) {
      for (const { job, part } of files) await pool.query(query(STATEMENTS.clearFile, [job, part], TIMEOUT_MS));
    },
  };
}

function enter(pool: Connections, job: NewJob, bounds: JobBounds): ReturnType<JobBook['enter']> {
  return inTransaction(pool, async (client) => {
    await client.query('SELECT pg_advisory_xact_lock($1)', [ENTER_LOCK]);
    return enterLocked(client, job, bounds);
  });
}

async function enterLocked(
  client: PoolClient,
  { id, organization, workload, key, createdAt, order, inputBytes }: NewJob,
  { waiting, storedBytes }: JobBounds,
): Promise<Awaited<ReturnType<JobBook['enter']>>> {
  const { rows } = await client.query<{ waiting: bigint; stored: bigint }>(
    query(STATEMENTS.jobsKept, [organization], TIMEOUT_MS),
  );
  const kept = rows[0] ?? { waiting: 0n, stored: 0n };
  if (kept.waiting >= BigInt(waiting)) return 'too_many';
  if (kept.stored + BigInt(inputBytes) > BigInt(storedBytes)) return 'no_room';
  const values = [id, organization, workload, key, new Date(createdAt).toISOString(), bytesOf(order), inputBytes];
  await client.query(query(STATEMENTS.enterJob, values, TIMEOUT_MS));
  return 'entered';
}

interface JobRow {
  readonly id: string;
  readonly organization: string;
  readonly workload: string;
  readonly state: JobState;
  readonly cancel: boolean;
  readonly phase: JobProgress['phase'];
  readonly pages: number | null;
  readonly pages_done: number;
  readonly error_code: string | null;
  readonly error_message: string | null;
  readonly created: Date;
  readonly expires: Date | null;
  /** Hexadecimal. */
  readonly sealed_outcome: string | null;
}

async function find(pool: Connections, id: string): Promise<Job | undefined> {
  const { rows } = await pool.query<JobRow>(query(STATEMENTS.findJob, [id], TIMEOUT_MS));
  const [row] = rows;
  if (!row) return undefined;
  const { organization, workload, state, error_code: code, error_message: message } = row;
  return {
    id,
    organization,
    workload,
    state,
    cancelling: row.cancel && state === 'running',
    progress: progressOf(row),
    error: code === null ? undefined : { code, message: message ?? '' },
    createdAt: row.created.getTime(),
    expiresAt: row.expires?.getTime(),
    outcome: row.sealed_outcome === null ? undefined : Buffer.from(row.sealed_outcome, 'hex'),
  };
}

function progressOf({ state, phase, pages, pages_done: pagesDone }: JobRow): JobProgress {
  if (state === 'succeeded' || state === 'expired')
    return { phase: 'done', pages: pages ?? undefined, pagesDone: pages ?? 0 };
  return { phase, pages: pages ?? undefined, pagesDone };
}

interface TakenRow extends Pick<JobRow, 'id' | 'organization' | 'workload' | 'cancel' | 'created'> {
  readonly key: string;
  readonly takes: number;
  /** Hexadecimal. */
  readonly sealed_order: string;
}

async function take(pool: Connections, asked: Parameters<JobQueue['take']>): Promise<TakenJob | undefined> {
  const { rows } = await pool.query<TakenRow>(query(STATEMENTS.takeJob, asked, TIMEOUT_MS));
  const [row] = rows;
  if (!row) return undefined;
  const { id, organization, workload, key, takes, cancel: cancelled, created, sealed_order: order } = row;
  const createdAt = created.getTime();
  const [lease] = asked;
  return { id, organization, workload, key, createdAt, order: Buffer.from(order, 'hex'), lease, takes, cancelled };
}

async function keep(
  pool: Connections,
  { id, lease }: TakenJob,
  leaseMs: number,
  { progress, result }: JobNews,
): Promise<'kept' | 'cancelled' | 'lost'> {
  const { phase = null, pages = null, pagesDone = null } = progress ?? {};
  const stored = [result ? bytesOf(result.outcome) : null, result?.bytes ?? null];
  const values = [id, lease, leaseMs, pages, ...stored, phase, pagesDone];
  const { rows } = await pool.query<{ cancel: boolean }>(query(STATEMENTS.keepJob, values, TIMEOUT_MS));
  const [row] = rows;
  if (!row) return 'lost';
  return row.cancel ? 'cancelled' : 'kept';
}

async function endOf(pool: Connections, { id, lease }: TakenJob, end: JobEnd): Promise<boolean> {
  if (end.state === 'queued') {
    const values = [id, lease, end.inMs, end.counted];
    return changed(await pool.query(query(STATEMENTS.requeueJob, values, TIMEOUT_MS)));
  }
  const { code = null, message = null } = end.state === 'failed' ? end.error : {};
  const keptMs = end.state === 'succeeded' ? end.keptMs : null;
  return changed(await pool.query(query(STATEMENTS.endJob, [id, lease, end.state, code, message, keptMs], TIMEOUT_MS)));
}

function changed({ rowCount }: { readonly rowCount: number | null }): boolean {
  return (rowCount ?? 0) > 0;
}

function bytesOf(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
