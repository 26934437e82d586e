import type { Pool, PoolClient } from 'pg';
import type { Checkpoint, CheckpointInput, CreditHead, Cut, StrandHead } from '#/ports/checkpoints.ts';
import { arrayOf } from './array-parameter.ts';
import { query, STATEMENTS } from './statements.ts';

/** Where statements are run: on any connection, or on one that has a transaction open. */
export type Queryable = Pool | PoolClient;

interface CheckpointRow {
  readonly number: bigint;
  readonly statement: string;
  readonly key: string;
  readonly signature: string;
  readonly public_key: string | null;
  /** JSON: `[[strand, sequence, link], …]`. */
  readonly heads: string;
  /** JSON: `[[strand, sequence, link, withheld], …]`, or null. */
  readonly cuts: string | null;
  /** JSON: `[[organization, workload, cost, calls, salt], …]`, or null. */
  readonly carried: string | null;
  /** JSON: `[[organization, number, link], …]`, or null. */
  readonly credit: string | null;
}

const PAGE = 500;
const TIMEOUT_MS = 60_000;

/** The last checkpoint, and the heads of strands and of credit that have grown since. */
export async function readHeads(db: Queryable): Promise<CheckpointInput> {
  const last = await db.query<{ number: bigint }>(query(STATEMENTS.lastCheckpoint, [], TIMEOUT_MS));
  const number = last.rows[0]?.number;
  const checkpoint = number === undefined ? undefined : await readCheckpoint(db, number);
  const grown = await db.query<{ strand: string; sequence: bigint; link: string }>(
    query(STATEMENTS.heads, [], TIMEOUT_MS),
  );
  const heads = grown.rows.map(({ strand, sequence, link }) => ({ strand, sequence: Number(sequence), link }));
  const { rows: credited } = await db.query<{ organization: string; number: bigint; link: string }>(
    query(STATEMENTS.creditHeads, [], TIMEOUT_MS),
  );
  const credit = credited.map(({ number: entry, ...head }) => ({ ...head, number: Number(entry) }));
  return { last: checkpoint, heads, ...(credit.length > 0 && { credit }) };
}

/** The checkpoint of a number that there is one of. */
export async function readCheckpoint(db: Queryable, number: bigint): Promise<Checkpoint | undefined> {
  const { rows } = await db.query<CheckpointRow>(query(STATEMENTS.checkpoints, [number - 1n, 1], TIMEOUT_MS));
  return rows[0] && checkpointOf(rows[0]);
}

/** Writes a checkpoint without a cut and its heads in one statement. Rejects when its number is taken. */
export async function saveCheckpoint(db: Queryable, checkpoint: Checkpoint): Promise<void> {
  const { number, statement, key, publicKey, signature, heads, credit = [] } = checkpoint;
  const values = [
    number,
    statement,
    key,
    Buffer.from(signature, 'hex'),
    arrayOf(
      'uuid',
      heads.map((head) => head.strand),
    ),
    arrayOf(
      'bigint',
      heads.map((head) => head.sequence),
    ),
    arrayOf(
      'digest',
      heads.map((head) => head.link),
    ),
    publicKey === undefined ? null : Buffer.from(publicKey, 'hex'),
    arrayOf(
      'text',
      credit.map((head) => head.organization),
    ),
    arrayOf(
      'bigint',
      credit.map((head) => head.number),
    ),
    arrayOf(
      'digest',
      credit.map((head) => head.link),
    ),
  ];
  await db.query(query(STATEMENTS.saveCheckpoint, values, TIMEOUT_MS));
}

/** Writes what the checkpoint of a number says of dropped rows; in the transaction that writes it and drops them. */
export async function saveCut(db: PoolClient, number: number, { strands, carried }: Cut): Promise<void> {
  const values = [
    number,
    arrayOf(
      'uuid',
      strands.map((cut) => cut.strand),
    ),
    arrayOf(
      'bigint',
      strands.map((cut) => cut.sequence),
    ),
    arrayOf(
      'digest',
      strands.map((cut) => cut.link),
    ),
    arrayOf(
      'text',
      strands.map((cut) => JSON.stringify(cut.withheld)),
    ),
    arrayOf(
      'text',
      carried.map((sum) => sum.organization),
    ),
    arrayOf(
      'text',
      carried.map((sum) => sum.workload),
    ),
    arrayOf(
      'text',
      carried.map((sum) => sum.cost),
    ),
    arrayOf(
      'bigint',
      carried.map((sum) => sum.calls),
    ),
    arrayOf(
      'bytea',
      carried.map((sum) => Buffer.from(sum.salt, 'hex')),
    ),
  ];
  await db.query(query(STATEMENTS.saveCut, values, TIMEOUT_MS));
}

/** Every checkpoint after a number, by number, a page at a time. */
export async function* readCheckpoints(db: Queryable, from?: number): AsyncGenerator<Checkpoint> {
  for (let after = from === undefined ? -(2n ** 63n) : BigInt(from); ;) {
    const page = await fetchPage(db, after);
    yield* page;
    if (page.length < PAGE) return;
    after = BigInt(page.at(-1)!.number);
  }
}

async function fetchPage(db: Queryable, after: bigint): Promise<readonly Checkpoint[]> {
  const { rows } = await db.query<CheckpointRow>(query(STATEMENTS.checkpoints, [after, PAGE], TIMEOUT_MS));
  return rows.map(checkpointOf);
}

/** As stored: what the columns and the statement say is for the verifier to compare. */
function checkpointOf(row: CheckpointRow): Checkpoint {
  const heads = JSON.parse(row.heads) as readonly (readonly [string, string, string])[];
  const { before, credited, ...facts } = statementOf(row.statement);
  const cut = cutOf(row, before);
  const credit = JSON.parse(row.credit ?? '[]') as readonly (readonly [string, string, string])[];
  return {
    ...facts,
    number: Number(row.number),
    heads: heads.map(([strand, sequence, link]): StrandHead => ({ strand, sequence: Number(sequence), link })),
    ...(cut && { cut }),
    ...((credited || row.credit !== null) && {
      credit: credit.map(([organization, number, link]): CreditHead => ({
        organization,
        number: Number(number),
        link,
      })),
    }),
    statement: row.statement,
    key: row.key,
    ...(row.public_key !== null && { publicKey: row.public_key }),
    signature: row.signature,
  };
}

function cutOf({ cuts, carried }: CheckpointRow, before: string | undefined): Cut | undefined {
  if (cuts === null && carried === null && before === undefined) return undefined;
  const strands = JSON.parse(cuts ?? '[]') as readonly (readonly [string, string, string, string])[];
  const sums = JSON.parse(carried ?? '[]') as readonly (readonly [string, string, string, string, string])[];
  return {
    before: before ?? '',
    strands: strands.map(([strand, sequence, link, withheld]) => {
      return { strand, sequence: Number(sequence), link, withheld: rangesOf(withheld) };
    }),
    carried: sums.map(([organization, workload, cost, calls, salt]) => {
      return { organization, workload, cost, calls: Number(calls), salt };
    }),
  };
}

/** Text that is not what retention writes yields a range that no statement has. */
function rangesOf(text: string): readonly (readonly [number, number])[] {
  try {
    const ranges: unknown = JSON.parse(text);
    if (JSON.stringify(ranges) === text && Array.isArray(ranges) && ranges.every(isRange)) return ranges;
  } catch {
    // as below
  }
  return [[-1, -1]];
}

function isRange(value: unknown): value is readonly [number, number] {
  return Array.isArray(value) && value.length === 2 && value.every(Number.isSafeInteger);
}

interface StatementFacts extends Pick<Checkpoint, 'at' | 'root' | 'previous' | 'introduces'> {
  readonly before?: string;
  /** Whether it says anything of credit. */
  readonly credited: boolean;
}

/** A statement that is not what `makeCheckpoint` writes yields empty members: the verifier reports it as edited. */
function statementOf(text: string): StatementFacts {
  try {
    const { at, root, previous, introduces, cut, credit } = JSON.parse(text) as Record<string, unknown>;
    return {
      at: Date.parse(String(at)),
      root: String(root),
      previous: String(previous),
      credited: credit !== undefined,
      ...(introduces !== undefined && { introduces: textOf(introduces) }),
      ...(cut !== undefined && { before: textOf((cut as Record<string, unknown> | null)?.['before']) }),
    };
  } catch {
    return { at: Number.NaN, root: '', previous: '', credited: false };
  }
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
