import type { Pool, PoolClient } from 'pg';
import type { CarriedSum, Checkpoint, PlannedCut, RetentionInput } from '#/ports/checkpoints.ts';
import { arrayOf } from './array-parameter.ts';
import { readHeads, saveCheckpoint, saveCut, type Queryable } from './checkpoints.ts';
import { withSchemaLock } from './migrate.ts';
import { query, STATEMENTS } from './statements.ts';

const TIMEOUT_MS = 600_000;
/** How long it waits for others that use the tables: behind it, gateways wait with their rows. */
const LOCK_TIMEOUT = '10s';

/** The strands that have rows of calls before a month (`2026-08`), with where they can be cut. */
export async function retentionPlan(db: Queryable, before: string): Promise<readonly PlannedCut[]> {
  const { rows } = await db.query<{ strand: string; sequence: bigint; link: string | null; withheld: string }>(
    query(STATEMENTS.retentionPlan, [instantOf(before)], TIMEOUT_MS),
  );
  return rows.map(({ strand, sequence, link, withheld }) => ({
    strand,
    sequence: Number(sequence),
    link: link ?? undefined,
    withheld: (JSON.parse(withheld) as readonly string[]).map(Number),
  }));
}

/**
 * Drops the rows of calls before a month: whole partitions, and related rows elsewhere. In the same transaction
 * `sign` makes the checkpoint that records it; if it throws, nothing changes.
 */
export async function dropMonths(
  pool: Pool,
  before: string,
  sign: (input: RetentionInput) => Checkpoint,
): Promise<Checkpoint> {
  let signed: Checkpoint | undefined;
  await withSchemaLock(pool, async (client) => {
    await client.query(`SET LOCAL lock_timeout = '${LOCK_TIMEOUT}'`);
    const partitions = await partitionsBefore(client, before);
    // Between signing and dropping, no rows of that time may be added; rows of today may.
    const tables = [...partitions, 'audit_rows_default', 'audit_withheld', 'checkpoints'];
    await client.query(`LOCK TABLE ${tables.join(', ')} IN SHARE ROW EXCLUSIVE MODE`);
    const late = await countSuperseded(client, before);
    const plan = await retentionPlan(client, before);
    const carried = await carriedSums(client, before);
    signed = sign({ ...(await readHeads(client)), plan, carried });
    const { cut, number } = signed;
    if (!cut) throw new Error('the checkpoint does not record the dropped rows');
    await saveCheckpoint(client, signed);
    await saveCut(client, number, cut);
    await withhold(client, before, plan);
    // From here on, gateways wait.
    await client.query('LOCK TABLE audit_superseded IN SHARE ROW EXCLUSIVE MODE');
    if ((await countSuperseded(client, before)) !== late)
      throw new Error('rows of that time were added meanwhile: try again');
    const old = 'rest WHERE call_id < first_call_id($1::timestamptz)';
    await deleteFrom(client, 'audit_superseded', old, [instantOf(before)]);
    await deleteFrom(client, 'audit_rows_default', old, [instantOf(before)]);
    for (const partition of partitions) await client.query(`DROP TABLE ${partition}`);
  });
  return signed!;
}

async function carriedSums(client: PoolClient, before: string): Promise<readonly Omit<CarriedSum, 'salt'>[]> {
  const { rows } = await client.query<{ organization: string; workload: string; cost: string; calls: string }>(
    query(STATEMENTS.carriedSums, [instantOf(before)], TIMEOUT_MS),
  );
  return rows.map(({ calls, ...rest }) => ({ ...rest, calls: Number(calls) }));
}

/** Keeps the hashes of rows that follow rows which stay, and lets those go that a cut has come past. */
async function withhold(client: PoolClient, before: string, plan: readonly PlannedCut[]): Promise<void> {
  const strands = arrayOf(
    'uuid',
    plan.map((cut) => cut.strand),
  );
  const numbers = arrayOf(
    'bigint',
    plan.map((cut) => cut.sequence),
  );
  await client.query(query(STATEMENTS.withholdRows, [instantOf(before), strands, numbers], TIMEOUT_MS));
  const cutOff = 'USING unnest($1::uuid[], $2::bigint[]) AS cut (strand, sequence) WHERE cut.strand = rest.strand';
  await deleteFrom(client, 'audit_withheld', `rest ${cutOff} AND rest.sequence <= cut.sequence`, [strands, numbers]);
}

/** The partitions of months before this one. */
async function partitionsBefore(client: PoolClient, before: string): Promise<readonly string[]> {
  const { rows } = await client.query<{ name: string }>(
    `SELECT inhrelid::regclass::text AS name FROM pg_inherits WHERE inhparent = 'audit_rows'::regclass`,
  );
  return rows.flatMap(({ name }) => {
    const month = /^audit_rows_(\d{4})_(\d\d)$/.exec(name);
    return month && `${month[1]}-${month[2]}` < before ? [name] : [];
  });
}

async function countSuperseded(client: PoolClient, before: string): Promise<bigint> {
  const { rows } = await client.query<{ count: bigint }>(
    'SELECT count(*) FROM audit_superseded WHERE call_id < first_call_id($1::timestamptz)',
    [instantOf(before)],
  );
  return rows[0]?.count ?? 0n;
}

/**
 * Deletes from a table whose triggers refuse it. They are back before the transaction ends; until then no other
 * connection writes to the table.
 */
async function deleteFrom(client: PoolClient, table: string, where: string, values: readonly unknown[]): Promise<void> {
  await client.query(`ALTER TABLE ${table} DISABLE TRIGGER refuse_change`);
  await client.query(`DELETE FROM ${table} AS ${where}`, [...values]);
  await client.query(`ALTER TABLE ${table} ENABLE TRIGGER refuse_change`);
}

function instantOf(month: string): string {
  return `${month}-01T00:00:00Z`;
}
