import { spawn, type ChildProcess } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { newKey, tenant } from '../harness/gateway.ts';
import { runGwctl } from '../harness/gwctl.ts';
import { createDatabase } from '../harness/postgres.ts';
import { startUpstream, type Upstream } from '../harness/upstream.ts';
import { tally } from './tally.ts';

/** A release that changes the schema is rolled out to three gateways at once, and one of them dies in the middle. */

const ROOT = join(import.meta.dirname, '../..');
const MIGRATIONS = join(ROOT, 'src/adapters/postgres/migrations');
/** The last migration of the schema that they find: before the one that links what is there already. */
const OLD = 9;

const tried = tally('gateways on an old schema');
const key = newKey();
const folder = mkdtempSync(join(tmpdir(), 'gatewarden-three-'));
const children: ChildProcess[] = [];
let databaseUrl: string;
let db: Client;
let upstream: Upstream;

beforeAll(async () => {
  upstream = await startUpstream();
  mkdirSync(join(folder, 'config'));
  writeFileSync(
    join(folder, 'config', 'resources.yaml'),
    tenant({ upstreamUrl: upstream.url, key })
      .map((one) => JSON.stringify(one))
      .join('\n---\n'),
  );
  databaseUrl = await createDatabase(inject('databaseUrl'));
  db = new Client({ connectionString: databaseUrl });
  await db.connect();
}, 60_000);

afterAll(async () => {
  for (const child of children) child.kill('SIGKILL');
  await db?.end();
  await upstream?.close();
  rmSync(folder, { recursive: true, force: true });
});

interface Starting {
  readonly child: ChildProcess;
  /** Its address once it listens; rejects when it ends before. */
  readonly listening: Promise<string>;
}

function start(name: string): Starting {
  const child = spawn(process.execPath, [join(ROOT, 'src/start.js')], {
    stdio: ['ignore', 'pipe', 'ignore'],
    env: {
      PATH: process.env['PATH'],
      PORT: '0',
      ADMIN_PORT: '0',
      GW_CONFIG_DIR: join(folder, 'config'),
      GW_DATA_DIR: join(folder, name),
      GW_INFERENCE: 'off',
      REDIS_URL: inject('redisUrl'),
      DATABASE_URL: databaseUrl,
    },
  });
  children.push(child);
  const listening = new Promise<string>((resolve, reject) => {
    let text = '';
    child.stdout.on('data', (chunk: Buffer) => {
      text += chunk.toString();
      const url = /"gateway\.listening","url":"([^"]+)"/.exec(text)?.[1];
      if (url !== undefined) resolve(url);
    });
    child.once('exit', (code, signal) => reject(new Error(`${name} ended with ${code ?? signal}: ${text}`)));
  });
  listening.catch(() => {});
  return { child, listening };
}

/** Applies the migrations that an older release had, and writes what it wrote. */
async function makeOldSchema(): Promise<void> {
  await db.query(`CREATE TABLE schema_migrations (
    number integer PRIMARY KEY, name text NOT NULL, sha256 text NOT NULL, at timestamptz NOT NULL DEFAULT now())`);
  for (const file of readdirSync(MIGRATIONS).sort()) {
    const number = Number(file.slice(0, 4));
    if (!(number <= OLD)) continue;
    const sql = readFileSync(join(MIGRATIONS, file), 'utf8');
    await db.query(sql);
    const sha256 = createHash('sha256').update(sql).digest('hex');
    await db.query('INSERT INTO schema_migrations (number, name, sha256) VALUES ($1, $2, $3)', [
      number,
      file.slice(5, -4),
      sha256,
    ]);
  }
  await db.query(`INSERT INTO credit_entries (organization, number, amount_nano_eur, sum_nano_eur, reference, note, actor)
    VALUES ('default/acme', 1, 5000000000, 5000000000, 'OLD-1', '', 'ops')`);
}

/** Connections to this database that wait for a lock of a kind. */
async function waiting(kind: string): Promise<number> {
  const { rows } = await db.query<{ count: string }>(
    `SELECT count(*) FROM pg_stat_activity
     WHERE datname = current_database() AND wait_event_type = 'Lock' AND wait_event = $1`,
    [kind],
  );
  return Number(rows[0]!.count);
}

test('all but the one that is killed finish, once, and everything verifies', async () => {
  await makeOldSchema();
  // Whoever reads the old table keeps the first gateway in the middle of its migrations.
  const reader = new Client({ connectionString: databaseUrl });
  await reader.connect();
  await reader.query('BEGIN');
  await reader.query('LOCK TABLE credit_entries IN ACCESS SHARE MODE');
  const first = start('first');
  await expect.poll(() => waiting('relation'), { timeout: 60_000 }).toBe(1);
  const others = [start('second'), start('third')];
  await expect.poll(() => waiting('advisory'), { timeout: 60_000 }).toBe(2);
  first.child.kill('SIGKILL');
  await reader.query('COMMIT');
  await reader.end();
  const urls = await Promise.all(others.map(({ listening }) => listening));

  const applied = await db.query<{ number: number }>('SELECT number FROM schema_migrations ORDER BY number');
  const files = readdirSync(MIGRATIONS).filter((file) => file.endsWith('.sql'));
  expect(applied.rows.map(({ number }) => number)).toEqual(
    files.map((file) => Number(file.slice(0, 4))).sort((a, b) => a - b),
  );
  const linked = await db.query<{ link: Buffer | null }>('SELECT link FROM credit_entries');
  expect(linked.rows).toEqual([{ link: expect.any(Buffer) as Buffer }]);
  for (const url of urls) {
    const answer = await fetch(`${url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: '{"model":"upstream/m","messages":[{"role":"user","content":"Hello"}]}',
    });
    expect(answer.status).toBe(200);
  }
  for (const { child } of others) {
    child.kill('SIGTERM');
    await new Promise((resolve) => child.once('exit', resolve));
  }
  expect((await runGwctl(['audit', 'verify', '--database-url', databaseUrl])).out).toMatch(/intact/i);
  tried.held('one of three killed in the middle of migrating');
}, 240_000);
