import type { Pool, PoolClient } from 'pg';
import type {
  CoveredRow,
  Evidence,
  EvidenceParts,
  ShownRow,
  SpendDifference,
  StoredRows,
  WithheldRow,
} from '#/ports/evidence.ts';
import { arrayOf } from './array-parameter.ts';
import { linkedEntries } from './credit-chain.ts';
import { readCheckpoint, readCheckpoints, type Queryable } from './checkpoints.ts';
import { rowsInOrder, scanRows, sealedRow, type LedgerRow } from './rows.ts';
import { query, STATEMENTS } from './statements.ts';

/** The ledger as of one instant, for as long as it is not disposed of. */
export interface Snapshot extends Evidence, EvidenceParts, AsyncDisposable {}

const PAGE = 1_000;
const TIMEOUT_MS = 60_000;
/** Sums over every row. */
const SUMS_TIMEOUT_MS = 600_000;

const BEGIN = 'BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY';

/** Opens a read-only transaction that sees everything committed before it began. */
export async function openSnapshot(pool: Pool): Promise<Snapshot> {
  await using connections = new AsyncDisposableStack();
  const client = await begin(pool, connections);
  const kept = connections.move();
  const evidence = evidenceOf(client);
  const { rows } = evidence;
  let sums: Promise<readonly SpendDifference[]> | undefined;
  // Sums over every row are the server's work alone: it does it while rows are read here, on a second connection.
  const scan: StoredRows['scan'] = async (each) => {
    if (pool.options.max > 1 && !(await isEmbedded(client))) {
      const beside = await beginBeside(pool, client, kept);
      sums = spendDifferences(beside);
      // It is awaited later.
      sums.catch(() => {});
    }
    return rows.scan(each);
  };
  return {
    ...evidence,
    rows: { ...rows, scan },
    spendDifferences: () => sums ?? evidence.spendDifferences(),
    [Symbol.asyncDispose]: async () => {
      await sums?.catch(() => {});
      await kept.disposeAsync();
    },
  };
}

/** A connection with a transaction that ends with `connections`. */
async function begin(pool: Pool, connections: AsyncDisposableStack): Promise<PoolClient> {
  const client = await pool.connect();
  connections.defer(async () => {
    const fault = await client.query('ROLLBACK').then(
      () => undefined,
      (error: unknown) => (error instanceof Error ? error : new Error(String(error))),
    );
    client.release(fault);
  });
  await client.query(BEGIN);
  return client;
}

/** A second one that sees what `client` sees. */
async function beginBeside(pool: Pool, client: PoolClient, connections: AsyncDisposableStack): Promise<PoolClient> {
  const { rows } = await client.query<{ name: string }>('SELECT pg_export_snapshot() AS name');
  const beside = await begin(pool, connections);
  await beside.query(`SET TRANSACTION SNAPSHOT ${beside.escapeLiteral(rows[0]?.name ?? '')}`);
  return beside;
}

/** What a connection sees of the ledger; consistent where it has a transaction open that is. */
export function evidenceOf(db: PoolClient): Evidence & EvidenceParts {
  return {
    checkpoints: () => readCheckpoints(db),
    rows: storedRowsOf(db),
    withheld: () => withheld(db),
    creditEntries: () => linkedEntries(db),
    spendDifferences: () => spendDifferences(db),
    strandsOf: async (organization) => {
      const { rows } = await db.query<{ strand: string }>(query(STATEMENTS.strandsOf, [organization], SUMS_TIMEOUT_MS));
      return rows.map(({ strand }) => strand);
    },
    strand: (strand, organization) => shown(db, strand, organization),
    covered: (callId) => covered(db, callId),
  };
}

function storedRowsOf(db: PoolClient): StoredRows {
  return {
    scan: async (each) => {
      if (await isEmbedded(db)) return false;
      await scanRows(db, each);
      return true;
    },
    inOrder: (strand) => rowsInOrder(db, strand),
    repeatedCalls: async () => {
      const found = await db.query<{ call_id: string }>(query(STATEMENTS.repeatedCalls, [], SUMS_TIMEOUT_MS));
      return found.rows.map((row) => row.call_id);
    },
  };
}

/** An embedded database has one transaction at a time, and answers a statement as a whole, from memory. */
async function isEmbedded(db: Queryable): Promise<boolean> {
  const { rows } = await db.query<{ version: string }>('SELECT version()');
  return rows[0]?.version.includes('PGlite') === true;
}

/** See Evidence. */
export async function spendDifferences(db: Queryable): Promise<readonly SpendDifference[]> {
  return (await db.query<SpendDifference>(query(STATEMENTS.spendDifferences, [], SUMS_TIMEOUT_MS))).rows;
}

type Stored<Row> = Omit<Row, 'sequence'> & { readonly sequence: bigint };

async function* withheld(db: Queryable): AsyncGenerator<WithheldRow> {
  let strand = '00000000-0000-0000-0000-000000000000';
  let sequence = 0n;
  for (;;) {
    const values = [strand, sequence, PAGE];
    const { rows } = await db.query<Stored<WithheldRow>>(query(STATEMENTS.withheld, values, TIMEOUT_MS));
    for (const row of rows) yield { ...row, sequence: Number(row.sequence) };
    const last = rows.at(-1);
    if (!last || rows.length < PAGE) return;
    ({ strand, sequence } = last);
  }
}

interface ShownColumns {
  readonly sequence: bigint;
  readonly link: string;
  readonly superseded: boolean;
  readonly organization: string | null;
  readonly row_text: string | null;
  readonly hash: string;
}

async function* shown(db: Queryable, strand: string, organization: string): AsyncGenerator<ShownRow> {
  for (let after = 0n; ;) {
    const values = [strand, after, organization, PAGE];
    const { rows } = await db.query<ShownColumns>(query(STATEMENTS.shown, values, TIMEOUT_MS));
    for (const { sequence, link, hash, row_text: row, ...rest } of rows) {
      yield {
        strand,
        sequence: Number(sequence),
        link,
        hash,
        ...(rest.organization !== null && { organization: rest.organization }),
        ...(row !== null && { row }),
        ...(rest.superseded && { superseded: true as const }),
      };
    }
    if (rows.length < PAGE) return;
    after = rows.at(-1)!.sequence;
  }
}

async function covered(db: Queryable, callId: string): Promise<CoveredRow | undefined> {
  const found = await db.query<LedgerRow>(query(STATEMENTS.find, [arrayOf('uuid', [callId])], TIMEOUT_MS));
  const row = found.rows[0] && sealedRow(found.rows[0]);
  if (!row) return undefined;
  const { strand, sequence } = row;
  const before = await db.query<{ link: string }>(query(STATEMENTS.linkBefore, [strand, sequence - 1], TIMEOUT_MS));
  const link = before.rows[0]?.link ?? '';
  const heads = await db.query<{ checkpoint: bigint; sequence: bigint; link: string }>(
    query(STATEMENTS.coveringHead, [strand, sequence], TIMEOUT_MS),
  );
  const head = heads.rows[0];
  const checkpoint = head && (await readCheckpoint(db, head.checkpoint));
  if (!checkpoint) return { row, before: link };
  const after: string[] = [];
  for (let at = BigInt(sequence); at < head.sequence;) {
    const values = [strand, at, '', PAGE];
    const { rows } = await db.query<ShownColumns>(query(STATEMENTS.shown, values, TIMEOUT_MS));
    for (const each of rows) if (each.sequence <= head.sequence) after.push(each.hash);
    at = rows.at(-1)?.sequence ?? head.sequence;
  }
  const reached = { strand, sequence: Number(head.sequence), link: head.link };
  return { row, before: link, covered: { head: reached, checkpoint, after } };
}
