import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { chat, cutOff, json } from '../harness/answers.ts';
import type { Answer } from '../harness/exchange.ts';
import { gate, type Gate } from '../harness/gate.ts';
import { resource } from '../harness/gateway.ts';
import { ledgerRows, rowOf } from '../harness/ledger-rows.ts';
import { startUpstream, type Upstream } from '../harness/upstream.ts';
import { expectBooksToAgree, startStack, type Stack } from './stack.ts';

let stack: Stack;
let second: Upstream;
const cleanup = new AsyncDisposableStack();
afterAll(() => cleanup.disposeAsync());

const OPEN_SECONDS = 2;
const PAIRS = ['pair-1', 'pair-2', 'pair-3', 'pair-4', 'pair-5'] as const;
const KEYS = {
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name: 'keys', namespace: 'default' },
  stringData: { one: 'sk-one', two: 'sk-two' },
};
const credential = (name: string): object => ({ name, type: 'APIKey', secretKeyRef: { name: 'keys', key: name } });

beforeAll(async () => {
  second = await startUpstream();
  cleanup.defer(() => second.close());
  const circuitBreaker = { openSeconds: OPEN_SECONDS, minRequests: 10, failureRatioPercent: 50 };
  const provider = (slug: string, url: string, spec: object): object =>
    resource('Provider', slug, {
      slug,
      vendor: 'custom',
      protocol: 'Custom',
      jurisdiction: 'EU',
      endpoint: { url, allowInsecure: true },
      circuitBreaker,
      ...spec,
    });
  stack = await startStack({
    provider: { retry: { attempts: 1 }, circuitBreaker },
    prices: ['upstream', 'second', 'keyed'].map((slug) => ({ model: `${slug}/*`, unit: 'Call', input: '0.01' })),
    more: (url) => [
      KEYS,
      provider('second', second.url, { retry: { attempts: 1 } }),
      provider('keyed', url, { credentials: [credential('one'), credential('two')], retry: { attempts: 2 } }),
      ...PAIRS.map((name) =>
        resource('ModelAlias', name, {
          alias: `gw/${name}`,
          strategy: 'Failover',
          targets: [
            { model: `upstream/${name}`, priority: 0 },
            { model: `second/${name}`, priority: 1 },
          ],
        }),
      ),
    ],
  });
  cleanup.defer(() => stack[Symbol.asyncDispose]());
}, 60_000);

/** Every test has a model of its own: what one endpoint went through says nothing of the next. */
let model: string;
let calls = 0;
let before = 0;
let tests = 0;
beforeEach(() => {
  model = `m-${++tests}`;
  before = stack.upstream.requests.length;
  stack.upstream.respond(good);
  second.respond(good);
});

const asked = () => stack.upstream.requests.slice(before);

function ask(body: object = {}, headers: Readonly<Record<string, string>> = {}): Promise<Response> {
  calls++;
  return stack.ask(
    { model: `upstream/${model}`, ...body },
    { headers: { 'content-type': 'application/json', authorization: `Bearer ${stack.key}`, ...headers } },
  );
}

const good = chat({ content: 'ok' });
const broken = json({ error: { message: 'on fire' } }, 503);

interface Failure {
  readonly error: {
    readonly code: string;
    readonly gw: { readonly cause: string; readonly attempts: readonly object[] };
  };
}

/** Breaks the endpoint `upstream/m` as this gateway sees it. */
async function open(): Promise<void> {
  stack.upstream.respond(broken);
  for (let call = 0; call < 5; call++) expect((await ask()).status).toBe(503);
}

async function metric(name: string): Promise<number> {
  const text = await (await fetch(`${stack.gateway.adminUrl}/metrics`)).text();
  return Number(new RegExp(`^${name} (\\d+)$`, 'm').exec(text)?.[1] ?? Number.NaN);
}

/** Asks until an answer is something else than a circuit that is open. */
async function untilAsked(): Promise<Response> {
  const sent = asked().length;
  for (;;) {
    const answer = await ask();
    if (asked().length > sent) return answer;
    expect(answer.status).toBe(503);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

describe('an endpoint that fails', () => {
  test('is left alone: 503 at once with the time to come back, sealed, and nothing is billed', async () => {
    await open();
    expect(await metric('gw_open_circuits')).toBe(1);
    for (const stream of [false, true]) {
      const answer = await ask({ stream });
      expect(answer.status).toBe(503);
      const { error } = (await answer.json()) as Failure;
      expect(error).toMatchObject({ code: 'upstream_overloaded', gw: { cause: 'circuit_open', attempts: [] } });
      expect(Number(answer.headers.get('retry-after'))).toBeLessThanOrEqual(OPEN_SECONDS + 1);
      // Nothing was tried: a client's library may come back then.
      expect(answer.headers.get('x-should-retry')).toBeNull();
      expect(await rowOf(stack.databaseUrl, answer.headers.get('x-request-id'))).toMatchObject({
        outcome: 'failed',
        code: 'upstream_overloaded',
        reason: 'circuit_open',
        attempts: [],
        provider: null,
        cost_nano_eur: '0',
        held_nano_eur: '10000000',
      });
    }
    expect(asked()).toHaveLength(5);
    // Other models of the provider, and other gateways, have not seen it fail.
    stack.upstream.respond(good);
    expect((await ask({ model: `upstream/${model}-other` })).status).toBe(200);
    const first = stack.gateway;
    stack.gateway = await stack.another();
    expect((await ask()).status).toBe(200);
    stack.gateway = first;
  });

  test('is asked again by one call at a time, and taken up when it answers', async () => {
    const openBefore = await metric('gw_open_circuits');
    await open();
    const step: Gate = gate();
    stack.upstream.respond(chat({ content: 'ok', gate: step }));
    const probe = untilAsked();
    await step.waiting();
    const sent = asked().length;
    const others = await Promise.all(Array.from({ length: 5 }, () => ask()));
    expect(others.map(({ status }) => status)).toEqual([503, 503, 503, 503, 503]);
    expect(asked()).toHaveLength(sent);
    step.release();
    expect((await probe).status).toBe(200);
    const after = await Promise.all(Array.from({ length: 5 }, () => ask()));
    expect(after.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
    await expect.poll(() => metric('gw_open_circuits')).toBe(openBefore);
  });

  test('stays alone where it fails again, and says so in the log without content', async () => {
    await open();
    expect((await untilAsked()).status).toBe(503);
    const sent = asked().length;
    expect((await ask()).status).toBe(503);
    expect(asked()).toHaveLength(sent);
    const states = (): object[] =>
      stack.gateway.log
        .filter((line) => line.includes('circuit.changed') && line.includes(`"${model}"`))
        .map((line) => JSON.parse(line) as object);
    // The log comes through a pipe.
    await expect.poll(() => states().length).toBe(3);
    expect(states()).toMatchObject([
      { provider: 'default/upstream', model, state: 'open' },
      { state: 'half-open' },
      { state: 'open' },
    ]);
  });

  test.each<readonly [string, Answer, Readonly<Record<string, string>>]>([
    ['rejects requests', json({ error: { message: 'no' } }, 400), {}],
    ['is at its limit', json({ error: { message: 'no' } }, 429), {}],
    ['is given less time by the client than by the workload', () => {}, { 'x-gw-upstream-timeout': '1' }],
  ])('is not one that %s', async (_name, answer, headers) => {
    stack.upstream.respond(answer);
    const answers = await Promise.all(Array.from({ length: 12 }, () => ask({}, headers)));
    for (const one of answers) await one.text();
    stack.upstream.respond(good);
    expect((await ask()).status).toBe(200);
  });

  test('is one whose answers break off, by their share', async () => {
    stack.upstream.respond(
      chat({ content: ['a', 'b'], ending: 'fin', finishReason: null, done: false, usageFrame: 'never' }),
    );
    for (let call = 0; call < 5; call++) {
      const answer = await ask({ stream: true });
      expect(answer.status).toBe(200);
      await answer.text();
    }
    expect((await ask({ stream: true })).status).toBe(503);
  });
});

test('what is passed on is kept away from it too', async () => {
  stack.upstream.respond(broken);
  const speak = () => {
    calls++;
    return fetch(`${stack.gateway.url}/v1/audio/speech`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${stack.key}` },
      body: JSON.stringify({ model: `upstream/${model}`, input: 'Hello', voice: 'alloy' }),
    });
  };
  for (let call = 0; call < 5; call++) expect((await speak()).status).toBe(503);
  const answer = await speak();
  expect(((await answer.json()) as Failure).error.gw).toEqual({ cause: 'circuit_open', attempts: [] });
  expect(asked()).toHaveLength(5);
  expect(await rowOf(stack.databaseUrl, answer.headers.get('x-request-id'))).toMatchObject({
    surface: 'audio',
    reason: 'circuit_open',
    cost_nano_eur: '0',
  });
});

describe('an alias', () => {
  test('goes to the next one within the call, and passes over the one that fails from then on', async () => {
    stack.upstream.respond(cutOff('reset'));
    for (let call = 0; call < 5; call++) {
      const answer = await ask({ model: 'gw/pair-1' });
      expect(answer.status).toBe(200);
      const row = await rowOf(stack.databaseUrl, answer.headers.get('x-request-id'));
      expect(row.attempts).toMatchObject([
        { provider: 'upstream', error: 'reset' },
        { provider: 'second', status: 200 },
      ]);
      expect(row).toMatchObject({ provider: 'second', cost_nano_eur: '10000000' });
    }
    const answer = await ask({ model: 'gw/pair-1' });
    const row = await rowOf(stack.databaseUrl, answer.headers.get('x-request-id'));
    expect(row.attempts).toMatchObject([{ provider: 'second', status: 200 }]);
    expect(row.route).toContain('upstream/pair-1: skipped: its circuit breaker is open');
    expect(asked()).toHaveLength(5);
    // A pinned model has no other.
    expect((await ask({ model: 'upstream/pair-1' })).status).toBe(503);
  });

  test('does not wait for one that asks for a wait, nor stop at one whose key is refused', async () => {
    stack.upstream.respond(json({ error: { message: 'slow down' } }, 429, { 'retry-after': '4' }));
    const limited = await ask({ model: 'gw/pair-2' });
    expect(limited.status).toBe(200);
    const [first] = (await rowOf(stack.databaseUrl, limited.headers.get('x-request-id'))).attempts;
    expect(first).toMatchObject({ provider: 'upstream', status: 429 });
    // While it is to be left alone it is not asked.
    expect((await ask({ model: 'gw/pair-2' })).status).toBe(200);
    expect(asked()).toHaveLength(1);
    stack.upstream.respond(json({ error: { message: 'Incorrect API key' } }, 401));
    const refused = await ask({ model: 'gw/pair-4' });
    expect(refused.status).toBe(200);
    const { attempts } = await rowOf(stack.databaseUrl, refused.headers.get('x-request-id'));
    expect(attempts).toMatchObject([{ status: 401 }, { provider: 'second', status: 200 }]);
  });

  test('asks nobody else about a request that was rejected', async () => {
    const refuses = (name: string) => json({ error: { message: `Unsupported parameter: '${name}'` } }, 400);
    stack.upstream.respond([refuses('seed'), refuses('top_p')]);
    const sent = second.requests.length;
    const answer = await ask({ model: 'gw/pair-5', seed: 7, top_p: 0.5 });
    expect([answer.status, asked().length]).toEqual([400, 2]);
    expect(second.requests).toHaveLength(sent);
  });

  test('fails at once where all fail', async () => {
    stack.upstream.respond(broken);
    second.respond(broken);
    for (let call = 0; call < 5; call++) expect((await ask({ model: 'gw/pair-3' })).status).toBe(503);
    const answer = await ask({ model: 'gw/pair-3' });
    expect(answer.status).toBe(503);
    expect(((await answer.json()) as Failure).error.gw).toEqual({ cause: 'circuit_open', attempts: [] });
  });
});

describe('several credentials of one provider', () => {
  const byKey =
    (answers: Readonly<Record<string, Answer>>): Answer =>
    (exchange) =>
      answers[exchange.request.headers.authorization ?? '']?.(exchange);
  const keys = () => asked().map(({ headers }) => headers.authorization);

  test.each([
    ['refused', json({ error: { message: 'Incorrect API key' } }, 401)],
    ['not allowed', json({ error: { message: 'no' } }, 403)],
    ['without money', json({ error: { message: 'no', code: 'insufficient_quota' } }, 429)],
    ['at its limit for long', json({ error: { message: 'no' } }, 429, { 'retry-after': '30' })],
  ])('one that is %s is left for the other, within the call and afterwards', async (_name, answer) => {
    stack.upstream.respond(byKey({ 'Bearer sk-one': answer, 'Bearer sk-two': good }));
    for (let call = 0; call < 20; call++) expect((await ask({ model: `keyed/${model}` })).status).toBe(200);
    expect(keys().filter((key) => key === 'Bearer sk-one').length).toBeLessThanOrEqual(1);
    expect(keys().filter((key) => key === 'Bearer sk-two')).toHaveLength(20);
  });

  test('are both used while both work', async () => {
    for (let call = 0; call < 40; call++) expect((await ask({ model: `keyed/${model}` })).status).toBe(200);
    expect(new Set(keys())).toEqual(new Set(['Bearer sk-one', 'Bearer sk-two']));
  });

  test('where every one is refused, the client is told, call by call', async () => {
    stack.upstream.respond(json({ error: { message: 'Incorrect API key' } }, 401));
    for (const attempts of [2, 1]) {
      const answer = await ask({ model: `keyed/${model}` });
      expect(answer.status).toBe(502);
      const { error } = (await answer.json()) as Failure;
      expect(error.gw).toMatchObject({ cause: 'credentials' });
      expect(error.gw.attempts).toHaveLength(attempts);
    }
  });
});

test('afterwards the books agree: nothing is held, and every call is billed once, if it was served', async () => {
  const spent = await expectBooksToAgree(stack, calls);
  const rows = await ledgerRows(stack.databaseUrl, calls);
  const served = rows.filter(({ outcome }) => outcome === 'served');
  for (const row of served) expect(row.cost_nano_eur).toBe('10000000');
  expect(rows).toHaveLength(calls);
  expect(spent).toBeGreaterThanOrEqual(BigInt(served.length) * 10_000_000n);
});
