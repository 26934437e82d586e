import pg from 'pg';
import { afterEach, expect, test } from 'vitest';
import { ledgerRows } from '../harness/ledger-rows.ts';
import { startPostgres, type PostgresServer } from '../harness/postgres.ts';
import { expectBooksToAgree, startStack, type Stack } from './stack.ts';

let stack: Stack | undefined;
let postgres: PostgresServer | undefined;
afterEach(async () => {
  await stack?.[Symbol.asyncDispose]();
  await postgres?.stop();
  stack = postgres = undefined;
});

test('PostgreSQL killed: known keys are still served, rows wait, and are durable when it is back', async () => {
  postgres = await startPostgres({ control: true });
  stack = await startStack({ databaseUrl: await postgres.createDatabase() });
  expect((await stack.ask()).status).toBe(200);
  await expectBooksToAgree(stack, 1);
  await postgres.kill();
  for (let call = 0; call < 5; call++) expect((await stack.ask()).status).toBe(200);
  await postgres.restart();
  await expectBooksToAgree(stack, 6);
}, 120_000);

test('PostgreSQL is asked far less often than calls are made', async () => {
  postgres = await startPostgres({ control: true });
  const admin = new pg.Client({ connectionString: postgres.url });
  await admin.connect();
  await admin.query("ALTER SYSTEM SET shared_preload_libraries = 'pg_stat_statements'");
  await admin.end();
  await postgres.restart();
  const watch = new pg.Client({ connectionString: postgres.url });
  await watch.connect();
  try {
    await watch.query('CREATE EXTENSION pg_stat_statements');
    stack = await startStack({ databaseUrl: await postgres.createDatabase() });
    const { ask, databaseUrl } = stack;
    expect((await ask()).status).toBe(200);
    await expectBooksToAgree(stack, 1);
    await watch.query('SELECT pg_stat_statements_reset()');
    const calls = 600;
    const one = async (): Promise<void> => expect((await ask()).status).toBe(200);
    await Promise.all(
      Array.from({ length: 60 }, async () => {
        for (let call = 0; call < calls / 60; call++) await one();
      }),
    );
    await expect.poll(async () => (await ledgerRows(databaseUrl)).length, { timeout: 20_000 }).toBe(calls + 1);
    const { rows } = await watch.query<{ statements: number }>(
      `SELECT sum(calls)::int AS statements FROM pg_stat_statements AS each JOIN pg_database ON pg_database.oid = dbid
       WHERE datname = $1 AND query NOT LIKE 'SELECT row_text%' AND toplevel`,
      [new URL(databaseUrl).pathname.slice(1)],
    );
    expect(rows[0]!.statements).toBeGreaterThan(0);
    expect(rows[0]!.statements).toBeLessThan(calls / 4);
  } finally {
    await watch.end();
  }
}, 120_000);
