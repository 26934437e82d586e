import { afterEach, describe, expect, test } from 'vitest';
import { chat } from '../harness/answers.ts';
import { gate } from '../harness/gate.ts';
import { rowOf } from '../harness/ledger-rows.ts';
import { countersOf, expectBooksToAgree, startStack, type Stack } from './stack.ts';

let stack: Stack | undefined;
afterEach(async () => {
  await stack?.[Symbol.asyncDispose]();
  stack = undefined;
});

const PER_CALL = { prices: [{ model: 'upstream/*', unit: 'Call', input: '0.25' }] };

/** Asks until the gateway can check limits again. */
async function untilServed({ ask }: Stack): Promise<Response> {
  for (let tries = 0; tries < 600; tries++) {
    const answer = await ask();
    if (answer.status !== 503) return answer;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error('the gateway did not come back');
}

describe.each(['killed', 'stopped'] as const)('Redis %s', (how) => {
  test('refuses with 503 and dispatches nothing; started again empty, spend is rebuilt before the first call', async () => {
    stack = await startStack({ ...PER_CALL, workload: { budget: { amount: '1', period: 'Monthly' } } });
    const { ask, redis, upstream, databaseUrl } = stack;
    for (let call = 0; call < 3; call++) expect((await ask()).status).toBe(200);
    await expectBooksToAgree(stack, 3);
    if (how === 'killed') await redis.kill();
    else redis.pause();
    const refused = await ask();
    expect(refused.status).toBe(503);
    expect(refused.headers.get('retry-after')).toBe('2');
    expect(await refused.json()).toMatchObject({ error: { type: 'api_error', code: 'limits_unavailable' } });
    expect(upstream.requests).toHaveLength(3);
    expect(await rowOf(databaseUrl, refused.headers.get('x-request-id'))).toMatchObject({
      outcome: 'refused',
      step: 'meter',
      cost_nano_eur: '0',
    });
    if (how === 'stopped') redis.resume();
    await redis.restart({ empty: true });
    // 0.75 of 1 is spent: one more call fits, not four.
    expect((await untilServed(stack)).status).toBe(200);
    expect((await ask()).status).toBe(402);
    expect(upstream.requests).toHaveLength(4);
    expect(await expectBooksToAgree(stack, 4)).toBe(1_000_000_000n);
  }, 120_000);
});

test('a call in flight while Redis loses its data is billed once', async () => {
  stack = await startStack({ ...PER_CALL, workload: { budget: { amount: '10', period: 'Total' } } });
  const { ask, redis, upstream } = stack;
  const held = gate();
  upstream.respond(chat({ content: 'late', gate: held }));
  const inFlight = ask();
  await upstream.request(0);
  expect((await countersOf(redis)).holds).toHaveLength(1);
  await redis.kill();
  await redis.restart({ empty: true });
  held.release();
  expect((await inFlight).status).toBe(200);
  expect((await untilServed(stack)).status).toBe(200);
  expect(await expectBooksToAgree(stack, 2)).toBe(500_000_000n);
}, 120_000);

test('what another gateway has in flight still counts after Redis lost its data', async () => {
  stack = await startStack({ ...PER_CALL, workload: { budget: { amount: '0.5', period: 'Total' } } });
  const { ask, redis, upstream } = stack;
  expect((await ask()).status).toBe(200);
  await expectBooksToAgree(stack, 1);
  const held = gate();
  upstream.respond(chat({ content: 'late', gate: held }));
  const inFlight = ask();
  await upstream.request(1);
  upstream.respond(chat({ content: 'too much' }));
  stack.gateway = await stack.another();
  await redis.kill();
  await redis.restart({ empty: true });
  // 0.25 is spent and 0.25 held by the other one: nothing is left.
  expect((await untilServed(stack)).status).toBe(402);
  expect(upstream.requests).toHaveLength(2);
  held.release();
  expect((await inFlight).status).toBe(200);
  expect(await expectBooksToAgree(stack, 2)).toBe(500_000_000n);
}, 120_000);

test('the bound: of a gateway that died just before Redis lost its data, what it had in flight may be spent again', async () => {
  stack = await startStack({ ...PER_CALL, workload: { budget: { amount: '0.5', period: 'Total' } } });
  const { ask, redis, upstream, gateway } = stack;
  expect((await ask()).status).toBe(200);
  await expectBooksToAgree(stack, 1);
  upstream.respond(chat({ content: 'never', gate: gate() }));
  const lost = ask().catch(() => undefined);
  await upstream.request(1);
  upstream.respond(chat({ content: 'again' }));
  stack.gateway = await stack.another();
  await Promise.all([gateway.kill(), redis.kill()]);
  await lost;
  await redis.restart({ empty: true });
  // Nobody is left who knows of the hold: 0.25 of 0.5 seems to be there still. Not a call more.
  expect((await untilServed(stack)).status).toBe(200);
  expect((await ask()).status).toBe(402);
  expect(upstream.requests).toHaveLength(3);
  expect(await expectBooksToAgree(stack, 2)).toBe(500_000_000n);
}, 120_000);

test('writes that a crash of Redis took with it are known again from the ledger before the next call', async () => {
  stack = await startStack({
    ...PER_CALL,
    workload: { budget: { amount: '0.5', period: 'Total' } },
    redis: { appendOnly: true },
  });
  const { ask, redis, upstream } = stack;
  expect((await ask()).status).toBe(200);
  await expectBooksToAgree(stack, 1);
  const before = redis.written();
  expect((await ask()).status).toBe(200);
  await expectBooksToAgree(stack, 2);
  // Debit and settlement of the second call are gone, and its gateway has long forgotten it.
  await redis.restart({ empty: false, keep: before });
  expect((await untilServed(stack)).status).toBe(402);
  expect(upstream.requests).toHaveLength(2);
  expect(await expectBooksToAgree(stack, 2)).toBe(500_000_000n);
}, 120_000);
