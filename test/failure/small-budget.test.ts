import { afterEach, describe, expect, test } from 'vitest';
import { chat } from '../harness/answers.ts';
import { gate } from '../harness/gate.ts';
import { expectBooksToAgree, startStack, type Stack } from './stack.ts';

/** Budgets that hold the worst case of one call, but not of two: calls that follow each other all fit. */

let stack: Stack | undefined;
afterEach(async () => {
  await stack?.[Symbol.asyncDispose]();
  stack = undefined;
});

const PRICES = { prices: [{ model: 'upstream/*', input: '2', output: '8' }] };
/** 1,000 tokens may cost 0.008 EUR, and 20 do cost 0.0001. */
const USED = { usage: { prompt_tokens: 10, completion_tokens: 10, total_tokens: 20 } };
const CALL = { max_tokens: 1000 };

const LIMITS = [
  ['a budget', { workload: { budget: { amount: '0.012', period: 'Total' } } }],
  ['a cap', { organization: { cap: { amount: '0.012', period: 'Monthly' } } }],
  ['tokens per minute', { workload: { limits: { tokensPerMinute: 2000 } } }],
] as const;

describe.each(LIMITS)('%s', (_what, limits) => {
  test.each([false, true])('serves one call after the other (streamed: %s)', async (stream) => {
    stack = await startStack({ ...PRICES, ...limits });
    stack.upstream.respond(chat({ content: 'Hello.', ...USED }));
    const statuses: number[] = [];
    for (let index = 0; index < 12; index++) {
      const answer = await stack.ask({ ...CALL, stream });
      statuses.push(answer.status);
      await answer.text();
    }
    expect(statuses).toEqual(Array.from({ length: 12 }, () => 200));
    expect(await expectBooksToAgree(stack, 12)).toBe(12n * 100_000n);
  });
});

test('a call that is refused while another runs is served as soon as that one is over', async () => {
  stack = await startStack({ ...PRICES, workload: { budget: { amount: '0.012', period: 'Total' } } });
  const held = gate();
  stack.upstream.respond(chat({ content: 'Hello.', ...USED, gate: held }));
  const first = stack.ask(CALL);
  await stack.upstream.request(0);
  expect((await stack.ask(CALL)).status).toBe(402);
  held.release();
  expect((await first).status).toBe(200);
  await (await first).text();
  expect((await stack.ask(CALL)).status).toBe(200);
  expect(await expectBooksToAgree(stack, 3)).toBe(2n * 100_000n);
});
