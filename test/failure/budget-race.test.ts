import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, test } from 'vitest';
import { openPostgresCredit } from '../../src/adapters/postgres/credit.ts';
import { chat } from '../harness/answers.ts';
import { ledgerRows } from '../harness/ledger-rows.ts';
import { countersOf, expectBooksToAgree, startStack, type Stack } from './stack.ts';

/** 200 calls at once against limits for 100. */

let stack: Stack | undefined;
afterEach(async () => {
  await stack?.[Symbol.asyncDispose]();
  stack = undefined;
});

const PER_CALL = { prices: [{ model: 'upstream/*', unit: 'Call', input: '0.01' }] };

/** Which of several limits is the last to give way. */
const LIMITS = [
  ['the budget', { workload: { budget: { amount: '1', period: 'Total' } } }, undefined],
  [
    'the budget of a month, with a higher cap and more credit',
    {
      workload: { budget: { amount: '1', period: 'Monthly' } },
      organization: { cap: { amount: '1.005', period: 'Daily' }, plan: { type: 'Prepaid' } },
    },
    1_009_000_000n,
  ],
  [
    'the credit, below cap and budget',
    {
      workload: { budget: { amount: '1.2', period: 'Daily' } },
      organization: { cap: { amount: '1.1', period: 'Monthly' }, plan: { type: 'Prepaid' } },
    },
    1_009_999_999n,
  ],
] as const;

/** Asks until nothing is held and nothing more is served, over longer than a refusal is remembered. Returns how many were. */
async function serveRest({ ask, redis }: Stack): Promise<number> {
  let served = 0;
  for (let refused = 0; refused < 2;) {
    const answer = await ask();
    await answer.text();
    if (answer.status === 200) served++;
    const over = answer.status === 402 && (await countersOf(redis)).holds.length === 0;
    refused = over ? refused + 1 : 0;
    if (answer.status !== 200) await sleep(1100);
  }
  return served;
}

describe.each(LIMITS)('%s for 100 calls', (_, limits, paid) => {
  test.each([2, 3, 4])(
    'serves exactly 100, of 200 concurrent calls and whatever comes after, over %d gateways',
    async (processes) => {
      stack = await startStack({ ...PER_CALL, ...limits });
      const { upstream, databaseUrl } = stack;
      if (paid !== undefined) {
        const credit = await openPostgresCredit({ connectionString: databaseUrl });
        await credit.add({ organization: 'default/acme', amount: paid, reference: '1', note: '', actor: 'test' });
        await credit.close();
      }
      const gateways = [stack.gateway];
      while (gateways.length < processes) gateways.push(await stack.another());
      const answers = await Promise.all(
        Array.from({ length: 200 }, (_unused, index) => {
          stack!.gateway = gateways[index % processes]!;
          return stack!.ask();
        }),
      );
      const statuses = answers.map((answer) => answer.status);
      await Promise.all(answers.map((answer) => answer.text()));
      const served = statuses.filter((status) => status === 200).length;
      // A machine that is slow enough has calls answered 503: their holds, if any, are given back.
      for (const status of statuses) expect(status).toBeOneOf([200, 402, 503]);
      expect(served).toBeLessThanOrEqual(100);
      // The last euro is not left lying either: what is not held any more can be spent, and then nothing.
      expect(served + (await serveRest(stack))).toBe(100);
      expect(upstream.requests).toHaveLength(100);
      expect(await expectBooksToAgree(stack, 100)).toBe(1_000_000_000n);
    },
    180_000,
  );
});

describe('a budget', () => {
  test('when a third of the clients hang up at random points, nothing is served beyond it and the books agree', async () => {
    stack = await startStack({
      prices: [{ model: 'upstream/*', input: '1000', output: '1000' }],
      workload: { budget: { amount: '1000', period: 'Total' } },
    });
    const { ask, upstream } = stack;
    upstream.respond(
      chat({
        content: Array.from({ length: 30 }, (_, index) => `word ${index} `),
        usage: { prompt_tokens: 11, completion_tokens: 60, total_tokens: 71 },
      }),
    );
    let random = 42;
    const next = (below: number): number => (random = (random * 1_103_515_245 + 12_345) % 2_147_483_648) % below;
    const outcomes = await Promise.all(
      Array.from({ length: 200 }, async (_, index) => {
        const hangUp = new AbortController();
        const stop = index % 3 === 0 ? next(12) : Infinity;
        try {
          const answer = await ask({ stream: true, max_tokens: 100 }, { signal: hangUp.signal });
          if (answer.status !== 200) return answer.status;
          let reads = 0;
          for await (const _chunk of answer.body!) if (reads++ >= stop) hangUp.abort();
          return 200;
        } catch {
          return 'hung up';
        }
      }),
    );
    expect(outcomes.filter((outcome) => outcome === 200).length).toBeGreaterThan(0);
    const spent = await expectBooksToAgree(stack, 200);
    expect(spent).toBeGreaterThan(0n);
    expect(spent).toBeLessThanOrEqual(1000n * 1_000_000_000n);
    const rows = await ledgerRows(stack.databaseUrl, 200);
    expect(rows).toHaveLength(200);
    // One row for every call that reached the provider, and every served one is billed as the provider reported.
    expect(rows.filter((row) => row.attempts.length > 0 || row.outcome === 'hung_up').length).toBeGreaterThanOrEqual(
      upstream.requests.length,
    );
    for (const row of rows.filter(({ outcome }) => outcome === 'served')) expect(row.cost_nano_eur).toBe('71000000');
  }, 60_000);
});
