import { afterEach, expect, test } from 'vitest';
import { chat } from '../harness/answers.ts';
import { runGwctl } from '../harness/gwctl.ts';
import { ledgerRows } from '../harness/ledger-rows.ts';
import { expectBooksToAgree, startStack, type Stack } from './stack.ts';

let stack: Stack | undefined;
afterEach(async () => {
  await stack?.[Symbol.asyncDispose]();
  stack = undefined;
});

test('kill -9 under load, then a restart: one row for every dispatched call, every hold settled, the chain verifies', async () => {
  stack = await startStack({
    prices: [{ model: 'upstream/*', input: '3', output: '15' }],
    workload: { budget: { amount: '500', period: 'Daily' } },
  });
  const { ask, upstream, databaseUrl } = stack;
  upstream.respond(
    chat({
      content: Array.from({ length: 20 }, () => 'word '),
      usage: { prompt_tokens: 10, completion_tokens: 20, total_tokens: 30 },
    }),
  );
  for (let round = 0; round < 3; round++) {
    const before = upstream.requests.length;
    const load = Array.from({ length: 60 }, async (_, index) => {
      const answer = await ask({ stream: index % 2 === 0, max_tokens: 64 });
      await answer.text();
    });
    const over = Promise.allSettled(load);
    // Dead in the middle of it: some calls answered, some dispatched, some not begun.
    await upstream.request(before + 20);
    await stack.gateway.kill();
    await over;
    stack.gateway = await stack.another();
    expect((await ask()).status).toBe(200);
  }
  const spent = await expectBooksToAgree(stack, upstream.requests.length);
  expect(spent).toBeGreaterThan(0n);
  const rows = await ledgerRows(databaseUrl);
  const dispatched = rows.filter(
    (row) => row.outcome === 'abandoned' || row.attempts.length > 0 || row.provider !== null,
  );
  expect(dispatched.length).toBeGreaterThanOrEqual(upstream.requests.length);
  expect(rows.some((row) => row.outcome === 'abandoned')).toBe(true);
  for (const row of rows.filter(({ outcome }) => outcome === 'abandoned'))
    expect(row.cost_nano_eur).toBe(row.held_nano_eur);
  expect((await runGwctl(['audit', 'verify', '--database-url', databaseUrl])).out).toMatch(/intact/i);
}, 120_000);
