import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { chat, cutOff, echo, json, sse } from '../harness/answers.ts';
import { gate } from '../harness/gate.ts';
import { rowOf } from '../harness/ledger-rows.ts';
import { expectBooksToAgree, startStack, type Stack } from './stack.ts';
import { CACHED, USAGE, callsOf, from, newLine, organization, told } from './cached-calls.ts';

/** The exact cache with real processes and stores: what is shared, what never is, what is kept and what is not. */

/** Organizations without a call so far, each for one test. */
const fresh = Array.from({ length: 14 }, (_, number) => organization(`caller-${number}`));
const counted = organization('counted', CACHED, { limits: { requestsPerMinute: 3 } });
const uncached = organization('uncached', { contentRetention: 'Enabled' });
const draining = organization('draining', CACHED, { onHangUp: 'Drain' });
const blocking = organization('blocking', { ...CACHED, dlp: { mode: 'Block' } });

/** One gateway for all tests that change nothing of it. */
let shared: Stack;
let stack: Stack | undefined;
let cleanup = new AsyncDisposableStack();

beforeAll(async () => {
  const organizations = [...fresh, counted, uncached, draining, blocking];
  shared = await startStack({ more: () => organizations.flatMap(({ resources }) => resources) });
}, 60_000);
afterAll(() => shared?.[Symbol.asyncDispose]());
afterEach(async () => {
  await stack?.[Symbol.asyncDispose]();
  stack = undefined;
  await cleanup.disposeAsync();
  cleanup = new AsyncDisposableStack();
});

/** The calls of an organization for this test alone. */
const someone = () => callsOf(fresh.pop()!, shared);

/** A file with these content keys, the newest first. */
function keyFile(...lines: readonly string[]): string {
  const folder = mkdtempSync(join(tmpdir(), 'gatewarden-keys-'));
  cleanup.defer(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, 'keys');
  writeFileSync(file, `${lines.join('\n')}\n`);
  return file;
}

describe('an identical second request', () => {
  test('is answered without the provider, with the same bytes, and costs nothing', async () => {
    stack = await startStack({ policy: CACHED });
    const { ask, upstream, databaseUrl } = stack;
    upstream.respond(chat({ content: 'Good day.', usage: USAGE }));
    const first = await told(ask({ seed: 7 }));
    const second = await told(ask({ seed: 7 }));
    expect([first.cache, second.cache]).toEqual(['miss', 'hit']);
    expect(second.text).toBe(first.text);
    expect(upstream.requests).toHaveLength(1);
    expect(await rowOf(databaseUrl, first.id)).toMatchObject({ cache_hit: 'none', outcome: 'served' });
    expect(await rowOf(databaseUrl, second.id)).toMatchObject({
      cache_hit: 'exact',
      outcome: 'served',
      status: 200,
      provider: 'upstream',
      provider_model: 'm',
      jurisdiction: null,
      attempts: [],
      cost_nano_eur: '0',
      held_nano_eur: '0',
      price: null,
      usage: null,
      usage_source: null,
    });
    expect(await expectBooksToAgree(stack, 2)).toBe(10n * 2000n + 5n * 8000n);
    const metrics = await (await fetch(`${stack.gateway.adminUrl}/metrics`)).text();
    expect(metrics).toContain('gw_cache_lookups_total{result="hit"} 1');
    expect(metrics).toContain('gw_cache_lookups_total{result="miss"} 1');
  }, 60_000);

  test('is the same however it is spelt, and another one when it asks for something else', async () => {
    const { ask, sent } = someone();
    const raw = (body: string) => told(ask({}, { body }));
    const spelt = '{"model":"upstream/m","messages":[{"role":"user","content":"Hi"}],"temperature":0.5}';
    await raw(spelt);
    for (const same of [
      '{ "temperature": 5e-1, "messages": [ {"content":"\\u0048i","role":"user"} ], "model": "upstream/m" }',
      spelt.replace('0.5', '0.50'),
      spelt.replace('}],', '}],"user":"u-1","metadata":{"trace":"x"},"safety_identifier":"s",'),
    ]) {
      expect(await raw(same)).toMatchObject({ status: 200, cache: 'hit' });
    }
    for (const other of [
      spelt.replace('0.5', '0.6'),
      spelt.replace('Hi', 'hi'),
      spelt.replace('upstream/m', 'upstream/n'),
      spelt.replace('}],', '}],"n":2,'),
      spelt.replace('}],', '}],"seed":9007199254740993,'),
      spelt.replace('}],', '}],"seed":9007199254740992,'),
      spelt.replace('}],', '}],"stream":true,'),
    ]) {
      expect(await raw(other)).toMatchObject({ status: 200, cache: 'miss' });
    }
    expect(sent()).toBe(8);
  }, 60_000);

  test('is sent on where the client wants a fresh answer, and not kept where it says so', async () => {
    const { ask, upstream, key, sent } = someone();
    const asked = (control: string, content = 'Hi') => {
      const headers = { 'content-type': 'application/json', authorization: `Bearer ${key}`, 'cache-control': control };
      return told(ask({ messages: [{ role: 'user', content }] }, { headers }));
    };
    upstream.respond(chat({ content: 'One.' }));
    expect((await asked('no-store')).cache).toBeNull();
    expect((await asked('max-age=60')).cache).toBe('miss');
    expect((await asked('max-age=60')).cache).toBe('hit');
    upstream.respond(chat({ content: 'Two.' }));
    expect((await asked('No-Store, no-cache')).cache).toBeNull();
    expect((await asked('')).text).toContain('One.');
    const fresh = await asked('no-cache');
    expect([fresh.cache, fresh.text.includes('Two.')]).toEqual(['miss', true]);
    // It is kept once it was told, while nobody waits.
    await expect.poll(async () => (await asked('')).text).toContain('Two.');
    expect(sent()).toBe(4);
  }, 60_000);

  test('asks for the same with other personal data: each caller reads its own', async () => {
    const { ask, upstream, sent } = someone();
    upstream.respond(echo());
    for (const stream of [false, true]) {
      const ada = await told(ask({ ...from('ada@example.com'), stream }));
      const bob = await told(ask({ ...from('bob@example.org'), stream }));
      expect([ada.cache, bob.cache]).toEqual(['miss', 'hit']);
      expect(ada.text).toContain('Write to ada@example.com');
      expect(bob.text).toContain('Write to bob@example.org');
      expect(bob.text).not.toContain('ada@');
    }
    expect(sent()).toBe(2);
  }, 60_000);

  test('is a stream again when it was one, frame by frame, however the provider cut it', async () => {
    const { ask, upstream, sent } = someone();
    upstream.respond(echo({ cutAt: 'every-unit', splitAt: 'every-byte', usage: USAGE }));
    const asking = () => ask({ ...from('ada@example.com'), stream: true, stream_options: { include_usage: true } });
    const first = await told(asking());
    const second = await told(asking());
    expect(second).toMatchObject({ status: 200, cache: 'hit', text: first.text });
    expect(first.text.endsWith('data: [DONE]\n\n')).toBe(true);
    // Without the usage frame it is the same answer, told to somebody who did not ask for that frame.
    const third = await told(ask({ ...from('eve@example.net'), stream: true }));
    expect(third.cache).toBe('hit');
    expect(third.text).not.toContain('prompt_tokens');
    expect(sent()).toBe(1);
  }, 60_000);

  test('through another surface is translated as ever', async () => {
    const { upstream, gateway, key, sent } = someone();
    upstream.respond(chat({ content: 'Good day.', usage: USAGE }));
    const message = (stream: boolean) =>
      fetch(`${gateway.url}/v1/messages`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-api-key': key },
        body: JSON.stringify({
          model: 'upstream/m',
          max_tokens: 100,
          stream,
          messages: [{ role: 'user', content: 'Hello' }],
        }),
      });
    for (const stream of [false, true]) {
      const first = await (await message(stream)).text();
      const second = await message(stream);
      expect(second.headers.get('x-gw-cache')).toBe('hit');
      const words = (text: string) => text.replaceAll(/msg_[0-9A-Za-z_-]+/g, 'msg');
      expect(words(await second.text())).toBe(words(first));
    }
    expect(sent()).toBe(2);
  }, 60_000);

  test('counts as a request', async () => {
    const { ask } = callsOf(counted, shared);
    const statuses: number[] = [];
    for (let call = 0; call < 4; call++) statuses.push((await told(ask())).status);
    expect(statuses).toEqual([200, 200, 200, 429]);
  }, 60_000);

  test('without the opt-in goes to the provider, and nothing is kept', async () => {
    const { ask, sent } = callsOf(uncached, shared);
    expect([(await told(ask())).cache, (await told(ask())).cache]).toEqual([null, null]);
    expect(sent()).toBe(2);
  }, 60_000);
});

test('organizations never share, and what is stored says nothing', async () => {
  const rival = organization('rival');
  stack = await startStack({
    policy: CACHED,
    env: { GW_CONTENT_KEY_FILE: keyFile(newLine('shared')) },
    more: () => rival.resources,
  });
  const { ask, upstream, key, redis } = stack;
  upstream.respond(chat({ content: 'Unmistakable words.', usage: USAGE }));
  const headersOf = (secret: string) => ({ 'content-type': 'application/json', authorization: `Bearer ${secret}` });
  const as = (secret: string) => told(ask({}, { headers: headersOf(secret) }));
  expect((await as(key)).cache).toBe('miss');
  expect((await as(key)).cache).toBe('hit');
  expect((await as(rival.key)).cache).toBe('miss');
  expect((await as(rival.key)).cache).toBe('hit');
  expect(upstream.requests).toHaveLength(2);
  const client = new Redis(redis.url);
  cleanup.defer(() => client.disconnect());
  const answersOf = async (organization: string) => {
    const index = `gw:{default/${organization}}:answers`;
    const names = await client.zrange(index, '0', '-1');
    return { names, keys: names.map((name) => `${index}:${name}`) };
  };
  const [acme, other] = [await answersOf('acme'), await answersOf('rival')];
  expect([acme.names, other.names].map(({ length }) => length)).toEqual([1, 1]);
  expect(acme.names).not.toEqual(other.names);
  const sealed = await client.getBuffer(acme.keys[0]!);
  expect(sealed!.includes('Unmistakable')).toBe(false);
  // Put into the other's place by somebody who can write there, it does not open: the provider is asked. By another
  // gateway, which does not remember the call.
  await client.set(other.keys[0]!, sealed!, 'EX', 600);
  stack.gateway = await stack.another();
  expect((await as(rival.key)).cache).toBe('miss');
  expect(upstream.requests).toHaveLength(3);
}, 60_000);

test('survives a key rotation; a key that is taken out takes its answers with it', async () => {
  const [old, next] = [newLine('old'), newLine('next')];
  stack = await startStack({ policy: CACHED, env: { GW_CONTENT_KEY_FILE: keyFile(old) } });
  const { ask, upstream } = stack;
  expect((await told(ask())).cache).toBe('miss');
  stack.gateway = await stack.another({ GW_CONTENT_KEY_FILE: keyFile(next, old) });
  expect((await told(ask())).cache).toBe('hit');
  expect((await told(ask({ seed: 1 }))).cache).toBe('miss');
  stack.gateway = await stack.another({ GW_CONTENT_KEY_FILE: keyFile(next) });
  expect((await told(ask({ seed: 1 }))).cache).toBe('hit');
  expect((await told(ask())).cache).toBe('miss');
  expect(upstream.requests).toHaveLength(3);
}, 60_000);

describe('never kept:', () => {
  const stop = { usage: USAGE };
  test.each([
    ['an error of the provider', json({ error: { message: 'no' } }, 400), {}, 400],
    ['a failure', cutOff(), {}, 502],
    ['an answer that the provider filtered', chat({ content: 'no', finishReason: 'content_filter', ...stop }), {}, 200],
    ['an answer that ended in an error', chat({ content: 'no', finishReason: 'error', ...stop }), {}, 200],
    [
      'a stream that broke',
      chat({ content: ['a', 'b'], ending: 'reset', finishReason: null, done: false }),
      { stream: true },
      200,
    ],
    ['a stream that reports an error', sse([{ data: { error: { message: 'no capacity' } } }]), { stream: true }, 502],
    ['an answer too long', chat({ content: 'x'.repeat(1_100_000), ...stop }), {}, 200],
  ])(
    '%s',
    async (_name, answer, body, status) => {
      const { ask, upstream, sent } = someone();
      upstream.respond(answer);
      expect(await told(ask(body))).toMatchObject({ status, cache: 'miss' });
      const asked = sent();
      upstream.respond(chat({ content: 'fine', usage: USAGE }));
      const again = await told(ask(body));
      expect(again).toMatchObject({ status: 200, cache: 'miss' });
      expect(again.text).toContain('fine');
      expect(sent()).toBe(asked + 1);
    },
    60_000,
  );

  test.each([
    ['what a tool of the provider found', { tools: [{ type: 'web_search' }] }],
    ['what is to be stored at the provider', { store: true }],
  ])(
    '%s',
    async (_name, body) => {
      const { ask, sent } = someone();
      for (let call = 0; call < 2; call++) expect(await told(ask(body))).toMatchObject({ status: 200, cache: null });
      expect(sent()).toBe(2);
    },
    60_000,
  );

  test('an answer whose client hung up', async () => {
    const { ask, upstream, databaseUrl, gateway } = callsOf(draining, shared);
    const steps = gate();
    upstream.respond(chat({ content: ['a', 'b', 'c'], gate: steps, usage: USAGE }));
    const hangUp = new AbortController();
    const answering = ask({ stream: true }, { signal: hangUp.signal });
    await steps.step();
    await steps.step();
    const answer = await answering;
    hangUp.abort();
    for (let beat = 0; beat < 5; beat++) await (await fetch(`${gateway.adminUrl}/livez`)).text();
    steps.release();
    expect(await rowOf(databaseUrl, answer.headers.get('x-request-id'))).toMatchObject({ outcome: 'hung_up' });
    expect((await told(ask({ stream: true }))).cache).toBe('miss');
  }, 60_000);

  test('a call that was refused before it was sent', async () => {
    const { ask, sent } = callsOf(blocking, shared);
    for (let call = 0; call < 2; call++) {
      expect(await told(ask(from('ada@example.com')))).toMatchObject({ status: 422, cache: null });
    }
    expect(sent()).toBe(0);
  }, 60_000);
});
