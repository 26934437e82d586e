import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { inject } from 'vitest';
import { openEmbeddedPostgres } from '#/adapters/pglite/embedded-postgres.ts';
import { openPostgresLedger, type PostgresLedger } from '#/adapters/postgres/ledger.ts';
import { createDatabase, dropDatabase } from '../harness/postgres.ts';

/** A database of a test's own. */
export interface LedgerHome {
  readonly url: string;
  close(): Promise<void>;
}

/** A kind of database that keeps the ledger. */
export interface LedgerSubject {
  readonly name: 'PostgreSQL' | 'PGlite';
  /** A new, empty database. */
  home(): Promise<LedgerHome>;
}

export const LEDGER_SUBJECTS: readonly LedgerSubject[] = [
  { name: 'PostgreSQL', home: postgresHome },
  { name: 'PGlite', home: () => embeddedHome() },
];

async function postgresHome(): Promise<LedgerHome> {
  const server = inject('databaseUrl');
  const url = await createDatabase(server);
  return { url, close: () => dropDatabase(server, url) };
}

/** Makes a data directory with a closed, empty embedded database. */
export async function embeddedDataDir(): Promise<string> {
  const dataDir = await temporaryFolder();
  await cp(inject('embeddedDataDir'), dataDir, { recursive: true });
  return dataDir;
}

async function embeddedHome(): Promise<LedgerHome> {
  const dataDir = await embeddedDataDir();
  const database = await openEmbeddedPostgres({ dataDir });
  return {
    url: database.connectionString,
    close: async () => {
      await database.close();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

/** A new folder with a short path: sockets in it have to have a name. */
export function temporaryFolder(): Promise<string> {
  return mkdtemp(join(tmpdir(), 'gw-'));
}

/** A new database with an open ledger and a connection beside it, all closed with it. */
export async function openHome(subject: LedgerSubject): Promise<OpenHome> {
  const home = await subject.home();
  const ledger = await openPostgresLedger({ connectionString: home.url });
  const client = await connect(home.url);
  return {
    url: home.url,
    ledger,
    client,
    [Symbol.asyncDispose]: async () => {
      await client.end();
      await ledger.close();
      await home.close();
    },
  };
}

export interface OpenHome extends AsyncDisposable {
  readonly url: string;
  readonly ledger: PostgresLedger;
  readonly client: pg.Client;
}

/** Brings an empty database to where a build before migration `number` left it. */
export async function makeSchemaUntil(client: pg.Client, number: number): Promise<void> {
  const folder = new URL('../../src/adapters/postgres/migrations/', import.meta.url);
  await client.query(
    'CREATE TABLE schema_migrations (number integer PRIMARY KEY, name text NOT NULL, sha256 text NOT NULL, at timestamptz NOT NULL DEFAULT now())',
  );
  for (const file of readdirSync(folder).sort()) {
    if (Number(file.slice(0, 4)) >= number) return;
    const sql = readFileSync(new URL(file, folder), 'utf8');
    await client.query(sql);
    await client.query('INSERT INTO schema_migrations (number, name, sha256) VALUES ($1, $2, $3)', [
      Number(file.slice(0, 4)),
      file.slice(5, -4),
      createHash('sha256').update(sql).digest('hex'),
    ]);
  }
}

export async function connect(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => {});
  await client.connect();
  return client;
}
