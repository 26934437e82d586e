import { afterEach, expect, test } from 'vitest';
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
