import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { afterEach, describe, expect, test } from 'vitest';
import { chat } from '../harness/answers.ts';
import { gate } from '../harness/gate.ts';
import { ledgerRows } from '../harness/ledger-rows.ts';
import { startRedis } from '../harness/redis.ts';
import { expectBooksToAgree, startStack, type Stack } from './stack.ts';
import { CACHED, USAGE, told, untilHit, newLine } from './cached-calls.ts';

/** The exact cache when identical calls come at the same time, and when a store is gone. */

let stack: Stack | undefined;
let cleanup = new AsyncDisposableStack();

afterEach(async () => {
  await stack?.[Symbol.asyncDispose]();
  stack = undefined;
  await cleanup.disposeAsync();
  cleanup = new AsyncDisposableStack();
});

/** Waits until the gateway has this many calls in progress. */
async function untilOpen({ gateway }: Stack, calls: number): Promise<void> {
  await expect
    .poll(async () => (await fetch(`${gateway.adminUrl}/metrics`)).text(), { interval: 20 })
    .toContain(`gw_open_calls ${calls}\n`);
}

/** A file with these content keys, the newest first. */
function keyFile(...lines: readonly string[]): string {
  const folder = mkdtempSync(join(tmpdir(), 'gatewarden-keys-'));
  cleanup.defer(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, 'keys');
  writeFileSync(file, `${lines.join('\n')}\n`);
  return file;
}

describe('identical calls at the same time', () => {
  test.each([false, true])(
    'reach the provider once, and are sealed one by one (stream: %s)',
    async (stream) => {
      stack = await startStack({ policy: CACHED });
      const { ask, upstream, databaseUrl } = stack;
      const held = gate();
      upstream.respond(chat({ content: 'Good day.', usage: USAGE, gate: held }));
      const asking = Array.from({ length: 20 }, () => told(ask({ stream })));
      await upstream.request(0);
      await held.waiting();
      await untilOpen(stack, 20);
      held.release();
      const answers = await Promise.all(asking);
      expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
      expect(answers.every(({ status }) => status === 200)).toBe(true);
      expect(upstream.requests).toHaveLength(1);
      const rows = await ledgerRows(databaseUrl, 20);
      expect(rows.map((row) => row.cache_hit).sort()).toEqual([...Array<string>(19).fill('exact'), 'none']);
      expect(await expectBooksToAgree(stack, 20)).toBe(10n * 2000n + 5n * 8000n);
    },
    60_000,
  );

  test('send another when the one they wait for hangs up', async () => {
    stack = await startStack({ policy: CACHED });
    const { ask, upstream } = stack;
    const held = gate();
    upstream.respond([chat({ content: 'never', gate: held }), chat({ content: 'Good day.', usage: USAGE })]);
    const hangUp = new AbortController();
    const leading = ask({}, { signal: hangUp.signal }).catch(() => 'gone');
    await upstream.request(0);
    const following = Array.from({ length: 3 }, () => told(ask()));
    await untilOpen(stack, 4);
    hangUp.abort();
    expect(await leading).toBe('gone');
    for (const answer of await Promise.all(following)) {
      expect(answer.status).toBe(200);
      expect(answer.text).toContain('Good day.');
    }
    // One of them went in its place, for all.
    expect(upstream.requests).toHaveLength(2);
    held.release();
  }, 60_000);
});

test.each(['kill', 'pause'] as const)(
  'without the cache (%s) calls are served, each by the provider',
  async (how) => {
    const cache = await startRedis({ control: true });
    cleanup.defer(() => cache.stop());
    stack = await startStack({ policy: CACHED, env: { GW_CACHE_REDIS_URL: cache.url } });
    const { ask, upstream } = stack;
    expect([(await told(ask())).cache, (await told(ask())).cache]).toEqual(['miss', 'hit']);
    await cache[how]();
    for (let call = 0; call < 3; call++) expect(await told(ask())).toMatchObject({ status: 200, cache: 'miss' });
    expect(upstream.requests).toHaveLength(4);
    const metrics = await (await fetch(`${stack.gateway.adminUrl}/metrics`)).text();
    expect(metrics).toMatch(/gw_store_faults_total\{what="cache.fault"\} [1-9]/);
    await cache.restart({ empty: true });
    await untilHit(() => ask());
  },
  60_000,
);

test('what was stored is read by another gateway, and by no further one once it is gone', async () => {
  const keys = keyFile(newLine('shared'));
  stack = await startStack({ policy: CACHED, env: { GW_CONTENT_KEY_FILE: keys } });
  const { ask, upstream, redis } = stack;
  await told(ask());
  stack.gateway = await stack.another();
  expect((await untilHit(() => ask())).status).toBe(200);
  expect(upstream.requests).toHaveLength(1);
  const client = new Redis(redis.url);
  cleanup.defer(() => client.disconnect());
  const index = 'gw:{default/acme}:answers';
  const [name] = await client.zrange(index, '0', '-1');
  expect(await client.ttl(`${index}:${name}`)).toBeGreaterThan(500);
  await client.del(`${index}:${name}`);
  stack.gateway = await stack.another();
  expect((await told(ask())).cache).toBe('miss');
}, 60_000);
