import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { openRedisCounters } from '#/adapters/redis/limit-counters.ts';
import { startRedis, type RedisServer } from '../harness/redis.ts';
import { openHold, ORGANIZATION, request, spendOf, spent } from './limit-counters-world.ts';
import { budget, cleanUp, connect, rawClient } from './limit-counters-redis-world.ts';

afterEach(async () => {
  for (const step of cleanUp.splice(0).toReversed()) await step();
});

describe('keys', () => {
  let server: RedisServer;
  beforeAll(async () => {
    server = await startRedis({ cluster: true });
  });
  afterAll(() => server.stop());

  test.each(['default/acme', '', '{}', 'a{b}c', '%7B', '}{'])(
    'all of organization %j share one slot',
    async (organization) => {
      const raw = rawClient(server.url);
      await raw.flushall();
      const counters = await connect(server.url, { keyPrefix: 'gw:' });
      await counters.restore(organization, [openHold('own', { organization })], async () => spent(5n));
      await counters.hold(
        request('c1', {
          organization,
          ...budget,
          tokens: 5,
          requestsPerMinute: 9,
          tokensPerMinute: 9,
          workload: 'a{b}',
        }),
      );
      await counters.settle([{ callId: 'own', organization, cost: 1n, tokens: 0 }]);
      let parts: readonly string[] = [];
      await counters.restore(organization, [], async () => {
        const keys = await raw.keys('*');
        const slots = await Promise.all(keys.map((key) => raw.cluster('KEYSLOT', key)));
        expect(new Set(slots).size).toBe(1);
        parts = keys.map((key) => key.slice(key.lastIndexOf('}:', key.length - 1) + 2)).toSorted();
        return spent(6n);
      });
      expect(parts).toContain('pause');
      expect(parts.length).toBeGreaterThanOrEqual(10);
    },
  );

  test('organizations whose ids look alike do not share counters', async () => {
    const counters = await connect(server.url);
    const look = ['', '%', '%25', '{', '%7B', '{}', 'a', 'a}'];
    for (const organization of look) await counters.restore(organization, [], async () => spent(0n));
    for (const organization of look) await counters.hold(request(`of ${organization}`, { organization }));
    for (const organization of look) {
      const view = await counters.view(organization);
      expect(view.holds.map((open) => open.callId)).toEqual([`of ${organization}`]);
      expect(spendOf(view)['organization total']).toBe(1n);
    }
  });

  test('days expire after three days, months after 40, totals and open holds never', async () => {
    const raw = rawClient(server.url);
    await raw.flushall();
    const counters = await connect(server.url, { keyPrefix: 'gw:' });
    await counters.restore(ORGANIZATION, [], async () => spent(5n));
    await counters.hold(request('c1', { ...budget, tokens: 5, requestsPerMinute: 9, tokensPerMinute: 9 }));
    await counters.settle([{ callId: 'c9', organization: ORGANIZATION, cost: 1n, tokens: 0 }]);
    const ttl = async (part: string): Promise<number> => raw.ttl(`gw:{${ORGANIZATION}}:${part}`);
    const day = 86_400;
    expect(await ttl('spend:2026-11-21')).toBeOneOf([3 * day, 3 * day - 1]);
    expect(await ttl('spend:2026-11')).toBeOneOf([40 * day, 40 * day - 1]);
    expect(await ttl('spend:total')).toBe(-1);
    expect(await ttl('holds')).toBe(-1);
    for (const part of ['requests:default/w1', 'tokens:default/w1']) expect(await ttl(part)).toBeGreaterThan(61);
    const keys = await raw.keys('*');
    const lasting = ['holds', 'owners', 'periods', 'spend:total'].map((part) => `gw:{${ORGANIZATION}}:${part}`);
    for (const key of keys.filter((name) => !lasting.includes(name))) expect(await raw.ttl(key)).toBeGreaterThan(0);
    // A period that expired is gone from the view.
    await raw.del(`gw:{${ORGANIZATION}}:spend:2026-11-21`);
    expect(spendOf(await counters.view(ORGANIZATION))).not.toHaveProperty(['organization 2026-11-21']);
  });

  test('a prefix that would hide the hash tag is refused', () => {
    expect(() => openRedisCounters({ url: server.url, keyPrefix: 'gw{1}:' })).toThrow(RangeError);
  });

  test("by default the clock is the store's", async () => {
    const counters = await connect(server.url);
    const decision = await counters.hold(request('c1', { requestsPerMinute: 5 }));
    expect(decision).toMatchObject({ requests: { remaining: 4 } });
    const { requests } = decision as { requests: { resetMs: number } };
    expect(requests.resetMs).toBeGreaterThan(60_000);
    expect(requests.resetMs).toBeLessThanOrEqual(61_000);
  });
});
