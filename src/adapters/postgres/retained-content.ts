import type { RetainedContent, RetainedItem } from '#/ports/retained-content.ts';
import { arrayOf } from './array-parameter.ts';
import { openStore, type StoreOptions } from './migrate.ts';
import type { Connections } from './pool.ts';
import { query, STATEMENTS } from './statements.ts';

/** Retained content in PostgreSQL. */
export interface PostgresContent extends RetainedContent {
  close(): Promise<void>;
}

const WRITE_TIMEOUT_MS = 30_000;
const READ_TIMEOUT_MS = 10_000;
const DELETED_AT_ONCE = 5000;
/** Separate from the ledger's connections, so that large content never delays rows. */
const CONNECTIONS = 2;

/** Opens the store and brings its schema up to date. Rejects when the database cannot be reached. */
export async function openPostgresContent(options: StoreOptions): Promise<PostgresContent> {
  const { connections: pool, close } = await openStore(options, CONNECTIONS);
  return {
    put: (items) => put(pool, items),
    find: (callId) => find(pool, callId),
    erase: (organization) => deleteAll(pool, STATEMENTS.eraseContent, organization),
    expire: (now) => deleteAll(pool, STATEMENTS.expireContent, new Date(now).toISOString()),
    close,
  };
}

async function put(pool: Connections, items: readonly RetainedItem[]): Promise<void> {
  if (items.length === 0) return;
  const values = [
    arrayOf(
      'uuid',
      items.map((item) => item.callId),
    ),
    arrayOf(
      'text',
      items.map((item) => item.organization),
    ),
    arrayOf(
      'timestamp',
      items.map((item) => item.expiresAt),
    ),
    arrayOf(
      'bytea',
      items.map((item) => item.encrypted),
    ),
  ];
  await pool.query(query(STATEMENTS.putContent, values, WRITE_TIMEOUT_MS));
}

interface ContentRow {
  readonly organization: string;
  /** Milliseconds since the epoch, as decimal text. */
  readonly expires: string;
  /** Hexadecimal. */
  readonly sealed: string;
}

async function find(pool: Connections, callId: string): Promise<RetainedItem | undefined> {
  const { rows } = await pool.query<ContentRow>(query(STATEMENTS.findContent, [callId], READ_TIMEOUT_MS));
  const [row] = rows;
  if (!row) return undefined;
  const { organization, expires, sealed } = row;
  return { callId, organization, expiresAt: Number(expires), encrypted: Buffer.from(sealed, 'hex') };
}

/** Deletes in pieces, so that no transaction is long. */
async function deleteAll(pool: Connections, statement: Parameters<typeof query>[0], which: string): Promise<number> {
  let deleted = 0;
  for (;;) {
    const { rowCount } = await pool.query(query(statement, [which, DELETED_AT_ONCE], WRITE_TIMEOUT_MS));
    deleted += rowCount ?? 0;
    if ((rowCount ?? 0) < DELETED_AT_ONCE) return deleted;
  }
}
