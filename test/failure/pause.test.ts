import { afterEach, expect, test } from 'vitest';
import { chat } from '../harness/answers.ts';
import { gate } from '../harness/gate.ts';
import { rowOf } from '../harness/ledger-rows.ts';
import { expectBooksToAgree, startStack, type Stack } from './stack.ts';

let stack: Stack | undefined;
afterEach(async () => {
  await stack?.[Symbol.asyncDispose]();
  stack = undefined;
});

test('a process that stood still while another took over its call does not seal it twice', async () => {
  stack = await startStack();
  const { ask, upstream, databaseUrl, gateway } = stack;
  const held = gate();
  upstream.respond(chat({ content: 'late', gate: held }));
  const inFlight = ask();
  await upstream.request(0);
  await stack.another();
  gateway.signal('SIGSTOP');
  // The other one finds the lease run out, and seals the call as abandoned.
  const { ledgerRows } = await import('../harness/ledger-rows.ts');
  const deadline = Date.now() + 60_000;
  while ((await ledgerRows(databaseUrl)).length === 0 && Date.now() < deadline)
    await new Promise((resolve) => setTimeout(resolve, 250));
  held.release();
  gateway.signal('SIGCONT');
  const answer = await inFlight;
  expect(answer.status).toBe(200);
  const row = await rowOf(databaseUrl, answer.headers.get('x-request-id'));
  expect(row).toMatchObject({ outcome: 'abandoned', usage_source: 'held' });
  await gateway.stop();
  await expectBooksToAgree(stack, 1);
}, 120_000);
