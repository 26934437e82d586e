import type { Pool } from 'pg';
import type { Checkpoint, CheckpointInput, StrandHead } from '#ports/checkpoints.ts';
import { bigintArray, digestArray, uuidArray } from './array-parameter.ts';
import { query, STATEMENTS } from './statements.ts';

interface CheckpointRow {
  readonly number: bigint;
  readonly statement: string;
  readonly key: string;
  readonly signature: string;
  /** JSON: `[[strand, sequence, link], …]`. */
  readonly heads: string;
}

const PAGE = 500;
const TIMEOUT_MS = 60_000;

/** The last checkpoint and the heads of the strands that have grown since. */
export async function readHeads(pool: Pool): Promise<CheckpointInput> {
  const last = await pool.query<{ number: bigint }>(query(STATEMENTS.lastCheckpoint, [], TIMEOUT_MS));
  const number = last.rows[0]?.number;
  const checkpoint = number === undefined ? undefined : (await fetchPage(pool, number - 1n))[0];
  const grown = await pool.query<{ strand: string; sequence: bigint; link: string }>(
    query(STATEMENTS.heads, [], TIMEOUT_MS),
  );
  const heads = grown.rows.map(({ strand, sequence, link }) => ({ strand, sequence: Number(sequence), link }));
  return { last: checkpoint, heads };
}

/** Writes a checkpoint and its heads in one statement. Rejects when its number is taken. */
export async function saveCheckpoint(pool: Pool, checkpoint: Checkpoint): Promise<void> {
  const { number, statement, key, signature, heads } = checkpoint;
  const values = [
    number,
    statement,
    key,
    Buffer.from(signature, 'hex'),
    uuidArray(heads.map((head) => head.strand)),
    bigintArray(heads.map((head) => head.sequence)),
    digestArray(heads.map((head) => head.link)),
  ];
  await pool.query(query(STATEMENTS.saveCheckpoint, values, TIMEOUT_MS));
}

/** Every checkpoint by number, a page at a time. */
export async function* readCheckpoints(pool: Pool): AsyncGenerator<Checkpoint> {
  for (let after = -(2n ** 63n); ;) {
    const page = await fetchPage(pool, after);
    yield* page;
    if (page.length < PAGE) return;
    after = BigInt(page.at(-1)!.number);
  }
}

async function fetchPage(pool: Pool, after: bigint): Promise<readonly Checkpoint[]> {
  const { rows } = await pool.query<CheckpointRow>(query(STATEMENTS.checkpoints, [after, PAGE], TIMEOUT_MS));
  return rows.map(checkpointOf);
}

/** As stored: what the columns and the statement say is for the verifier to compare. */
function checkpointOf(row: CheckpointRow): Checkpoint {
  const heads = JSON.parse(row.heads) as readonly (readonly [string, string, string])[];
  return {
    ...statementOf(row.statement),
    number: Number(row.number),
    heads: heads.map(([strand, sequence, link]): StrandHead => ({ strand, sequence: Number(sequence), link })),
    statement: row.statement,
    key: row.key,
    signature: row.signature,
  };
}

/** A statement that is not what `makeCheckpoint` writes yields empty members: the verifier reports it as edited. */
function statementOf(text: string): Pick<Checkpoint, 'at' | 'root' | 'previous'> {
  try {
    const { at, root, previous } = JSON.parse(text) as Record<string, unknown>;
    return { at: Date.parse(String(at)), root: String(root), previous: String(previous) };
  } catch {
    return { at: Number.NaN, root: '', previous: '' };
  }
}
