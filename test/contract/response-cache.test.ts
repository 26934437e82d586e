import { randomBytes, randomUUID } from 'node:crypto';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { openMemoryCache } from '#adapters/memory/response-cache.ts';
import { openRedisCache } from '#adapters/redis/response-cache.ts';
import type { ResponseCache } from '#ports/response-cache.ts';
import { startRedis, type RedisServer } from '../harness/redis.ts';

let cluster: RedisServer;
beforeAll(async () => {
  cluster = await startRedis({ cluster: true });
});
afterAll(() => cluster.stop());

const KIB = 1024;
/** A cache that holds 64 KiB an organization, or in all. */
interface Subject {
  readonly name: string;
  open(): Promise<ResponseCache & { close?(): Promise<void> }>;
}

const redis = (name: string, url: () => string, isCluster = false): Subject => ({
  name,
  async open() {
    const keyPrefix = `test-${randomUUID()}:`;
    const cache = openRedisCache({ url: url(), keyPrefix, cluster: isCluster, maxBytesPerOrganization: 64 * KIB });
    await cache.ping();
    return cache;
  },
});

const subjects: readonly Subject[] = [
  { name: 'memory', open: async () => openMemoryCache({ maxBytes: 64 * KIB }) },
  redis('Redis', () => inject('redisUrl')),
  redis('Redis Cluster', () => cluster.url, true),
];

describe.each(subjects)('response cache: $name', (subject) => {
  let cache: Awaited<ReturnType<Subject['open']>>;
  beforeAll(async () => {
    cache = await subject.open();
  });
  afterAll(() => cache.close?.());

  test('gives back what was put, byte for byte, under the first name that is there', async () => {
    const sealed = Buffer.concat([Buffer.from([0, 255, 13, 10]), randomBytes(1000)]);
    await cache.put('a/{x}%', 'one', sealed, 60);
    expect(await cache.get('a/{x}%', ['none', 'one'])).toEqual({ name: 'one', sealed });
    await cache.put('a/{x}%', 'two', Buffer.from('2'), 60);
    expect((await cache.get('a/{x}%', ['two', 'one']))?.name).toBe('two');
    expect(await cache.get('a/{x}%', ['none'])).toBeUndefined();
  });

  test('keeps organizations apart', async () => {
    await cache.put('a/apart', 'name', Buffer.from('a'), 60);
    expect(await cache.get('b/apart', ['name'])).toBeUndefined();
    await cache.put('b/apart', 'name', Buffer.from('b'), 60);
    expect((await cache.get('a/apart', ['name']))?.sealed).toEqual(Buffer.from('a'));
    expect(await cache.erase('a/apart')).toBe(1);
    expect(await cache.get('a/apart', ['name'])).toBeUndefined();
    expect((await cache.get('b/apart', ['name']))?.sealed).toEqual(Buffer.from('b'));
  });

  test('replaces an entry of the same name', async () => {
    await cache.put('a/again', 'name', Buffer.from('old'), 60);
    await cache.put('a/again', 'name', Buffer.from('new'), 60);
    expect((await cache.get('a/again', ['name']))?.sealed).toEqual(Buffer.from('new'));
    expect(await cache.erase('a/again')).toBe(1);
    expect(await cache.erase('a/again')).toBe(0);
  });

  test('forgets when it is time', async () => {
    await cache.put('a/late', 'name', Buffer.from('x'), 1);
    await expect.poll(() => cache.get('a/late', ['name']), { interval: 50 }).toBeUndefined();
  });

  test('makes room, and takes nothing larger than that', async () => {
    for (let at = 0; at < 12; at++) await cache.put('a/full', `n${at}`, randomBytes(8 * KIB), 600 + at);
    const found = await Promise.all(Array.from({ length: 12 }, (_, at) => cache.get('a/full', [`n${at}`])));
    const left = found.map((entry) => entry !== undefined);
    expect(left.filter(Boolean).length).toBeGreaterThanOrEqual(7);
    expect(left.filter(Boolean).length).toBeLessThanOrEqual(8);
    expect(left.at(-1)).toBe(true);
    expect(left[0]).toBe(false);
    await cache.put('a/full', 'huge', randomBytes(65 * KIB), 600);
    expect(await cache.get('a/full', ['huge'])).toBeUndefined();
  });

  test('erases any number', async () => {
    for (let at = 0; at < 20; at++) await cache.put('a/many', `n${at}`, Buffer.from('x'), 60);
    expect(await cache.erase('a/many')).toBe(20);
    expect(await cache.get('a/many', ['n0', 'n19'])).toBeUndefined();
  });
});

test('Redis holds nothing beside entries that are there, even over a thousand', async () => {
  const keyPrefix = `test-${randomUUID()}:`;
  const cache = openRedisCache({ url: inject('redisUrl'), keyPrefix, commandTimeoutMs: 20_000 });
  const client = new Redis(inject('redisUrl'));
  try {
    await cache.ping();
    await Promise.all(Array.from({ length: 2500 }, (_, at) => cache.put('a/b', `n${at}`, Buffer.from('x'), 60)));
    expect((await client.hget(`${keyPrefix}{a/b}:answers:sizes`, '*')) ?? '').toBe('2500');
    expect(await client.pttl(`${keyPrefix}{a/b}:answers`)).toBeGreaterThan(60_000);
    expect(await cache.erase('a/b')).toBe(2500);
    expect(await client.keys(`${keyPrefix}*`)).toEqual([]);
  } finally {
    client.disconnect();
    await cache.close();
  }
});

test('a store that cannot be reached rejects at once, without saying what was asked', async () => {
  const cache = openRedisCache({ url: 'redis://:hunter2@127.0.0.1:1' });
  try {
    const failure = cache.put('secret/organization', 'name', Buffer.from('x'), 60);
    await expect(failure).rejects.toThrow(/^the response cache cannot be reached: [\w ]+$/);
  } finally {
    await cache.close();
  }
});
