import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import type { Client, PoolClient } from 'pg';
import { openConnections, type Connections, type PostgresOptions } from './pool.ts';
import { inTransaction } from './transaction.ts';

interface Migration {
  readonly number: number;
  readonly name: string;
  readonly sql: string;
  readonly sha256: string;
}

/** Serializes everything that changes the schema, over all processes on one database. */
const SCHEMA_LOCK = 7_305_804_402_118_566n;

/** PostgreSQL's insufficient_privilege. */
const FORBIDDEN = '42501';

/** The database's record of its schema differs from the one this version of the gateway writes. */
class SchemaMismatch extends Error {
  override readonly name = 'SchemaMismatch';
}

/** Options of a store that is separate from the ledger. */
export interface StoreOptions extends PostgresOptions {
  /** Leaves the schema as it is. */
  readonly existing?: boolean;
}

/**
 * Connections of a store, at most so many at a time, and its schema brought up to date. Rejects, with nothing left open,
 * when the database cannot be reached.
 */
export async function openStore(
  { existing = false, ...options }: StoreOptions,
  most: number,
): Promise<ReturnType<typeof openConnections>> {
  const store = openConnections(options, most);
  try {
    if (!existing) await migrate(store.connections);
  } catch (error) {
    await store.close();
    throw error;
  }
  return store;
}

/**
 * Brings the schema up to date: numbered files, each run once, never backwards. Safe with several processes at once.
 * A database that is up to date is only read; one that is ahead of this version is left as it is.
 */
export async function migrate(pool: Connections): Promise<void> {
  const migrations = readMigrations();
  const behind = await pending(pool, migrations);
  if (behind.length === 0) return;
  const run = withSchemaLock(pool, async (client) => {
    await client.query(`CREATE TABLE IF NOT EXISTS schema_migrations (
      number integer PRIMARY KEY, name text NOT NULL, sha256 text NOT NULL, at timestamptz NOT NULL DEFAULT now())`);
    for (const { number, name, sql, sha256 } of await pending(client, migrations)) {
      await client.query(sql);
      await client.query('INSERT INTO schema_migrations (number, name, sha256) VALUES ($1, $2, $3)', [
        number,
        name,
        sha256,
      ]);
    }
  });
  await run.catch((cause: unknown) => {
    if ((cause as { code?: unknown }).code !== FORBIDDEN) throw cause;
    const names = behind.map(({ name }) => name).join(', ');
    const reason = `the schema lacks ${names}, and this database user cannot change it: run gwctl migrate --grant-to with the name of this user, as the owner of the schema`;
    throw new SchemaMismatch(reason, { cause });
  });
}

/** Runs `action` in a transaction that no other process changing the schema overlaps. */
export async function withSchemaLock(pool: Connections, action: (client: PoolClient) => Promise<void>): Promise<void> {
  await inTransaction(pool, async (client) => {
    await client.query('SELECT pg_advisory_xact_lock($1)', [SCHEMA_LOCK]);
    await action(client);
  });
}

async function pending(db: Connections | PoolClient | Client, migrations: readonly Migration[]): Promise<Migration[]> {
  const { rows } = await db.query<{ table: string | null }>("SELECT to_regclass('schema_migrations')::text AS table");
  if (rows[0]?.table === null) return [...migrations];
  const applied = await db.query<{ number: number; sha256: string }>('SELECT number, sha256 FROM schema_migrations');
  const known = new Map(applied.rows.map((row) => [row.number, row.sha256]));
  for (const { number, name, sha256 } of migrations) {
    const other = known.get(number) ?? sha256;
    if (other !== sha256) throw new SchemaMismatch(`migration ${number} (${name}) was applied with different contents`);
  }
  return migrations.filter(({ number }) => !known.has(number));
}

function readMigrations(): readonly Migration[] {
  const folder = new URL('./migrations/', import.meta.url);
  const files = readdirSync(folder).filter((file) => file.endsWith('.sql'));
  return files.sort().map((file) => {
    const sql = readFileSync(new URL(file, folder), 'utf8');
    const name = file.slice(5, -4);
    return { number: Number(file.slice(0, 4)), name, sql, sha256: createHash('sha256').update(sql).digest('hex') };
  });
}
