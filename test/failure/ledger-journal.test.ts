import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { GatewayProcess } from '../harness/gateway.ts';
import { runGwctl } from '../harness/gwctl.ts';
import { ledgerRows } from '../harness/ledger-rows.ts';
import { startPostgres, type PostgresServer } from '../harness/postgres.ts';
import { expectBooksToAgree, startStack, type Stack } from './stack.ts';

let stack: Stack;
let postgres: PostgresServer;
let dataDir: string;
beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'gw-journal-'));
  postgres = await startPostgres({ control: true });
});
afterEach(async () => {
  await stack?.[Symbol.asyncDispose]();
  await postgres.stop();
  await rm(dataDir, { recursive: true, force: true });
});

/** One figure of a gateway's metrics. */
async function metric(gateway: GatewayProcess, name: string): Promise<number> {
  const text = await (await fetch(`${gateway.adminUrl}/metrics`)).text();
  return Number(new RegExp(`^${name}(?:\\{\\})? (\\S+)$`, 'm').exec(text)?.[1] ?? Number.NaN);
}

async function journals(): Promise<string[]> {
  return (await readdir(join(dataDir, 'journal'))).filter((file) => !file.endsWith('.sock'));
}

/** Asks so many times; every call is served. */
async function serve(calls: number): Promise<void> {
  for (let call = 0; call < calls; call++) expect((await stack.ask()).status).toBe(200);
}

/** Waits until every row is on the disk, and none in memory. */
async function spilled(): Promise<void> {
  await expect.poll(() => metric(stack.gateway, 'gw_pending_rows'), { timeout: 20_000 }).toBe(0);
  expect(await metric(stack.gateway, 'gw_ledger_journal_bytes')).toBeGreaterThan(0);
}

async function expectIntact(): Promise<void> {
  expect((await runGwctl(['audit', 'verify', '--database-url', stack.databaseUrl])).out).toMatch(/^intact/);
}

test('PostgreSQL away, the gateway killed meanwhile: its rows come from the disk of the next one, as they were', async () => {
  stack = await startStack({
    databaseUrl: await postgres.createDatabase(),
    env: { GW_DATA_DIR: dataDir },
  });
  await serve(2);
  await expectBooksToAgree(stack, 2);
  expect(await journals()).toEqual([]);
  await postgres.kill();
  await serve(20);
  await spilled();
  expect(await metric(stack.gateway, 'gw_ledger_journal_oldest_seconds')).toBeGreaterThan(0);
  await stack.gateway.kill();
  expect(await journals()).toHaveLength(1);
  await postgres.restart();
  stack.gateway = await stack.another();
  await expectBooksToAgree(stack, 22);
  const rows = await ledgerRows(stack.databaseUrl);
  // At what they cost, not at what was held.
  expect(rows.map(({ outcome }) => outcome)).toEqual(rows.map(() => 'served'));
  expect(await journals()).toEqual([]);
  await expectIntact();
});

test('PostgreSQL comes back to a gateway that lives: rows are replayed in order, the disk is given back', async () => {
  stack = await startStack({ databaseUrl: await postgres.createDatabase(), env: { GW_DATA_DIR: dataDir } });
  for (let round = 0; round < 2; round++) {
    await serve(1);
    await postgres.kill();
    await serve(10);
    await spilled();
    await postgres.restart();
    await serve(5);
    await expectBooksToAgree(stack, (round + 1) * 16);
    await expect.poll(journals).toEqual([]);
    await expect.poll(() => metric(stack.gateway, 'gw_ledger_journal_bytes')).toBe(0);
  }
  await expectIntact();
});

test('a journal that is full: calls are refused with 503 until PostgreSQL is back, none is lost', async () => {
  stack = await startStack({
    databaseUrl: await postgres.createDatabase(),
    env: { GW_DATA_DIR: dataDir, GW_LEDGER_JOURNAL_MIB: '1' },
  });
  await serve(1);
  await postgres.kill();
  let served = 1;
  for (let refused = false; !refused;) {
    const answers = await Promise.all(Array.from({ length: 50 }, () => stack.ask()));
    for (const { status } of answers) {
      expect([200, 503]).toContain(status);
      if (status === 200) served += 1;
      else refused = true;
    }
  }
  const answer = await stack.ask();
  expect({ status: answer.status, body: await answer.json() }).toMatchObject({
    status: 503,
    body: { error: { code: 'ledger_unavailable' } },
  });
  const bytes = await metric(stack.gateway, 'gw_ledger_journal_bytes');
  expect(bytes).toBeLessThan(2 * 1024 * 1024);
  await postgres.restart();
  await expect.poll(async () => (await stack.ask()).status, { timeout: 20_000 }).toBe(200);
  await expectBooksToAgree(stack, served + 1);
  const rows = await ledgerRows(stack.databaseUrl);
  expect(rows.filter(({ outcome }) => outcome === 'served')).toHaveLength(served + 1);
  await expectIntact();
});

test('PostgreSQL that stalls without failing: rows do not wait in memory for it', async () => {
  stack = await startStack({ databaseUrl: await postgres.createDatabase(), env: { GW_DATA_DIR: dataDir } });
  await serve(1);
  await expectBooksToAgree(stack, 1);
  const blocker = new pg.Client({ connectionString: stack.databaseUrl });
  await blocker.connect();
  await blocker.query('BEGIN; LOCK TABLE audit_rows IN SHARE MODE');
  await serve(5);
  await spilled();
  await blocker.query('ROLLBACK');
  await blocker.end();
  await serve(1);
  await expectBooksToAgree(stack, 7);
  await expect.poll(journals).toEqual([]);
  await expectIntact();
});

test('another gateway sweeps the holds of a dead one before its journal is replayed: the call is billed once', async () => {
  stack = await startStack({ databaseUrl: await postgres.createDatabase(), env: { GW_DATA_DIR: dataDir } });
  const first = stack.gateway;
  // On a machine of its own: it does not see the journal.
  const other = await stack.another({ GW_DATA_DIR: `${dataDir}/other` });
  await serve(1);
  await expectBooksToAgree(stack, 1);
  await postgres.kill();
  await serve(5);
  await spilled();
  await first.kill();
  await postgres.restart();
  stack.gateway = other;
  await expectBooksToAgree(stack, 6);
  const swept = await ledgerRows(stack.databaseUrl);
  expect(swept.filter(({ outcome }) => outcome === 'abandoned')).toHaveLength(5);
  stack.gateway = await stack.another();
  await expect.poll(journals, { timeout: 20_000 }).toEqual([]);
  await expectBooksToAgree(stack, 6);
  // The rows from the disk are kept beside those that were first, and not counted.
  expect(await ledgerRows(stack.databaseUrl)).toEqual(swept);
  const verified = await runGwctl(['audit', 'verify', '--database-url', stack.databaseUrl]);
  expect(verified.out).toContain('5 rows of calls sealed twice, counted once');
});

test('two gateways in one folder: neither touches the journal of the other while it lives', async () => {
  stack = await startStack({ databaseUrl: await postgres.createDatabase(), env: { GW_DATA_DIR: dataDir } });
  await serve(1);
  await postgres.kill();
  await serve(5);
  await spilled();
  const before = await journals();
  // It waits for PostgreSQL, as a restarted one would.
  const second = stack.another();
  stack.gateway.signal('SIGSTOP');
  await postgres.restart();
  const other = await second;
  expect(await journals()).toEqual(before);
  stack.gateway.signal('SIGCONT');
  await expectBooksToAgree(stack, 6);
  await expect.poll(journals).toEqual([]);
  await other.stop();
  await expectIntact();
});

test('a folder that takes no journal: rows wait in memory, and the log says why', async () => {
  const long = join(dataDir, 'd'.repeat(100));
  stack = await startStack({ databaseUrl: await postgres.createDatabase(), env: { GW_DATA_DIR: long } });
  expect(stack.gateway.log.some((line) => line.includes('journal.fault'))).toBe(true);
  await serve(1);
  await postgres.kill();
  await serve(5);
  expect(await metric(stack.gateway, 'gw_pending_rows')).toBeGreaterThan(0);
  await postgres.restart();
  await expectBooksToAgree(stack, 6);
});
