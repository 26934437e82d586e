import { hash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { afterEach, describe, expect, test } from 'vitest';
import { openRedisCache } from '#/adapters/redis/response-cache.ts';
import { chat, echo } from '../harness/answers.ts';
import { newKey, resource, tenant } from '../harness/gateway.ts';
import { gate } from '../harness/gate.ts';
import { ledgerRows, rowOf } from '../harness/ledger-rows.ts';
import { startRedis } from '../harness/redis.ts';
import { expectBooksToAgree, startStack, type Stack } from './stack.ts';
import { CACHED, USAGE, from, told, untilHit, newLine } from './cached-calls.ts';

/** The exact cache in the memory of a gateway: an answer that was just served is served again without being read. */

let stack: Stack | undefined;
let cleanup = new AsyncDisposableStack();

afterEach(async () => {
  await stack?.[Symbol.asyncDispose]();
  stack = undefined;
  await cleanup.disposeAsync();
  cleanup = new AsyncDisposableStack();
});

/** A file with these content keys, the newest first. */
function keyFile(...lines: readonly string[]): string {
  const folder = mkdtempSync(join(tmpdir(), 'gatewarden-keys-'));
  cleanup.defer(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, 'keys');
  writeFileSync(file, `${lines.join('\n')}\n`);
  return file;
}

/** Rows, headers and texts, less what every call has of its own. */
const ofItsOwn = { call_id: '', at: '', duration_ms: 0, sequence: 0 };

describe('a call that was just answered from the cache', () => {
  /** Asks once more, so that the gateway knows the call: from then on it is answered from its memory. */
  async function known(client: Redis, ask: () => Promise<Response>): Promise<void> {
    const index = 'gw:{default/acme}:answers';
    await expect.poll(() => client.zcard(index), { interval: 20 }).toBe(1);
    expect((await told(ask())).cache).toBe('hit');
    // The store has nothing more to say.
    for (const name of await client.zrange(index, '0', '-1')) await client.del(`${index}:${name}`);
  }

  async function start(options: Parameters<typeof startStack>[0] = {}) {
    stack = await startStack({ policy: CACHED, ...options });
    const client = new Redis(stack.redis.url);
    cleanup.defer(() => client.disconnect());
    return { ...stack, client };
  }

  test.each([false, true])(
    'is answered again without being read, and sealed and told like before (stream: %s)',
    async (stream) => {
      const limits = { requestsPerMinute: 100, tokensPerMinute: 100_000 };
      const { ask, upstream, databaseUrl, client, gateway } = await start({ workload: { limits } });
      upstream.respond(echo({ usage: USAGE }));
      const asking = () => ask({ ...from('ada@example.com'), stream });
      const calls: { id: string | null; text: string; headers: Record<string, string> }[] = [];
      const call = async () => {
        const answer = await asking();
        const headers = Object.fromEntries(answer.headers);
        calls.push({ id: answer.headers.get('x-request-id'), text: await answer.text(), headers });
      };
      await call();
      await known(client, asking);
      await call();
      await call();
      expect(upstream.requests).toHaveLength(1);
      const rows = await ledgerRows(databaseUrl, 4);
      const [fresh, ...again] = rows.map((row) => ({ ...row, ...ofItsOwn }));
      expect(fresh?.cache_hit).toBe('none');
      expect(again).toHaveLength(3);
      for (const row of again) expect(row).toEqual(again[0]);
      expect(again[0]).toMatchObject({ cache_hit: 'exact', dlp: { findings: { EMAIL: 1 } }, cost_nano_eur: '0' });
      expect(rows.map((row) => row.call_id)).toContain(calls[2]!.id);
      for (const { text, headers } of calls.slice(1)) {
        expect(text).toBe(calls[0]!.text);
        expect(headers['x-gw-cache']).toBe('hit');
        expect(headers['content-type']).toBe(calls[0]!.headers['content-type']);
      }
      expect(calls.map(({ headers }) => headers['x-ratelimit-remaining-requests'])).toEqual(['99', '97', '96']);
      // Looked up at each of four calls, three times found.
      const metrics = await (await fetch(`${gateway.adminUrl}/metrics`)).text();
      expect(metrics).toContain('gw_cache_lookups_total{result="hit"} 3');
      expect(await expectBooksToAgree(stack!, 4)).toBe(10n * 2000n + 5n * 8000n);
    },
    60_000,
  );

  test('is another one with other bytes, headers or another key', async () => {
    const otherKey = newKey();
    const { ask, upstream, client, key } = await start({
      more: () => [
        resource('VirtualKey', 'other-key', {
          workloadRef: { name: 'app' },
          hash: { algorithm: 'SHA256', value: hash('sha256', otherKey, 'hex') },
        }),
      ],
    });
    await told(ask());
    await known(client, () => ask());
    const withHeaders = (more: Record<string, string>, secret = key) => {
      const headers = { 'content-type': 'application/json', authorization: `Bearer ${secret}`, ...more };
      return told(ask({}, { headers }));
    };
    expect((await withHeaders({})).cache).toBe('hit');
    expect((await withHeaders({ 'user-agent': 'somebody/2', traceparent: '00-1-2-01' })).cache).toBe('hit');
    expect((await withHeaders({ 'x-gw-dlp': 'off' })).status).toBe(400);
    expect((await withHeaders({ 'x-gw-upstream-timeout': 'soon' })).status).toBe(400);
    expect(upstream.requests).toHaveLength(1);
    // The store has forgotten it: who asks for the first time reaches the provider.
    expect((await withHeaders({}, otherKey)).cache).toBe('miss');
    expect((await told(ask({ seed: 1 }))).cache).toBe('miss');
    expect(upstream.requests).toHaveLength(3);
  }, 60_000);

  test('counts as a request', async () => {
    const { ask, client, databaseUrl } = await start({ workload: { limits: { requestsPerMinute: 6 } } });
    await told(ask());
    await known(client, () => ask());
    const answers = await Promise.all(Array.from({ length: 8 }, () => told(ask())));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(4);
    const refused = answers.filter(({ status }) => status === 429);
    expect(refused).toHaveLength(4);
    // What was refused was not answered from anywhere.
    for (const { id } of refused)
      expect(await rowOf(databaseUrl, id)).toMatchObject({ outcome: 'refused', cache_hit: 'none', provider: null });
  }, 60_000);

  test('is read again when the configuration has changed', async () => {
    const { ask, client, gateway, upstream, key } = await start();
    const asking = () => ask(from('ada@example.com'));
    await told(asking());
    await known(client, asking);
    expect((await told(asking())).cache).toBe('hit');
    const policy = { ...CACHED, dlp: { mode: 'Block' } };
    gateway.configure(tenant({ upstreamUrl: upstream.url, key, policy }));
    await expect.poll(async () => (await told(asking())).status, { timeout: 20_000 }).toBe(422);
    expect(upstream.requests).toHaveLength(1);
  }, 60_000);

  test('is forgotten by every gateway once the organization is erased', async () => {
    const keys = keyFile(newLine('shared'));
    const { ask, client, gateway: first } = await start({ env: { GW_CONTENT_KEY_FILE: keys } });
    await told(ask());
    await untilHit(() => ask());
    const second = await stack!.another();
    stack!.gateway = second;
    await known(client, () => ask());
    const store = openRedisCache({ url: stack!.redis.url });
    cleanup.defer(() => store.close());
    await store.ping();
    for (const gateway of [first, second]) {
      stack!.gateway = gateway;
      expect((await told(ask())).cache).toBe('hit');
    }
    await store.erase('default/acme');
    // The longest that an erasure goes unnoticed, and what a busy machine adds.
    await new Promise((resolve) => setTimeout(resolve, 1500));
    const index = 'gw:{default/acme}:answers';
    for (const gateway of [first, second]) {
      stack!.gateway = gateway;
      expect((await told(ask())).cache).toBe('miss');
      await expect.poll(() => client.zcard(index)).toBe(1);
      await store.erase('default/acme');
    }
  }, 60_000);

  test('is asked of the provider when nobody can say whether it was erased', async () => {
    const cache = await startRedis({ control: true });
    cleanup.defer(() => cache.stop());
    const { ask, upstream } = await start({ env: { GW_CACHE_REDIS_URL: cache.url } });
    await told(ask());
    await untilHit(() => ask());
    expect((await told(ask())).cache).toBe('hit');
    await cache.kill();
    await new Promise((resolve) => setTimeout(resolve, 1100));
    expect(await told(ask())).toMatchObject({ status: 200, cache: 'miss' });
    expect(upstream.requests).toHaveLength(2);
  }, 60_000);
});

test('an erasure reaches the answers of calls in progress: they are not kept', async () => {
  stack = await startStack({ policy: CACHED });
  const { ask, upstream, redis } = stack;
  const held = gate();
  upstream.respond([chat({ content: 'before', usage: USAGE, gate: held }), chat({ content: 'after', usage: USAGE })]);
  const asking = told(ask());
  await upstream.request(0);
  await held.waiting();
  const store = openRedisCache({ url: redis.url });
  cleanup.defer(() => store.close());
  await store.ping();
  await store.erase('default/acme');
  held.release();
  expect((await asking).text).toContain('before');
  // Its answer is put, if it is, before this one is asked for and put.
  const next = await told(ask());
  expect(next.cache).toBe('miss');
  expect(next.text).toContain('after');
  expect((await untilHit(() => ask())).text).toContain('after');
}, 60_000);
