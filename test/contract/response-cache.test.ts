import { randomBytes, randomUUID } from 'node:crypto';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { openMemoryCache } from '#/adapters/memory/response-cache.ts';
import { openRedisCache } from '#/adapters/redis/response-cache.ts';
import type { ResponseCache } from '#/ports/response-cache.ts';
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

  const put = async (organization: string, name: string, encrypted: Uint8Array, ttlSeconds = 60): Promise<void> =>
    cache.put(organization, name, encrypted, ttlSeconds, await cache.epoch(organization));
  const find = async (organization: string, names: readonly string[]) => (await cache.get(organization, names)).entry;

  test('gives back what was put, byte for byte, under the first name that is there', async () => {
    const encrypted = Buffer.concat([Buffer.from([0, 255, 13, 10]), randomBytes(1000)]);
    await put('a/{x}%', 'one', encrypted);
    expect(await find('a/{x}%', ['none', 'one'])).toMatchObject({ name: 'one', encrypted });
    await put('a/{x}%', 'two', Buffer.from('2'));
    expect((await find('a/{x}%', ['two', 'one']))?.name).toBe('two');
    expect(await find('a/{x}%', ['none'])).toBeUndefined();
  });

  test('keeps organizations apart', async () => {
    await put('a/apart', 'name', Buffer.from('a'));
    expect(await find('b/apart', ['name'])).toBeUndefined();
    await put('b/apart', 'name', Buffer.from('b'));
    expect((await find('a/apart', ['name']))?.encrypted).toEqual(Buffer.from('a'));
    const epoch = await cache.epoch('b/apart');
    expect(await cache.erase('a/apart')).toBe(1);
    expect(await find('a/apart', ['name'])).toBeUndefined();
    expect((await find('b/apart', ['name']))?.encrypted).toEqual(Buffer.from('b'));
    expect(await cache.epoch('b/apart')).toBe(epoch);
  });

  test('replaces an entry of the same name', async () => {
    await put('a/again', 'name', Buffer.from('old'));
    await put('a/again', 'name', Buffer.from('new'));
    expect((await find('a/again', ['name']))?.encrypted).toEqual(Buffer.from('new'));
    expect(await cache.erase('a/again')).toBe(1);
    expect(await cache.erase('a/again')).toBe(0);
  });

  test('forgets when it is time, and says when that is', async () => {
    await put('a/late', 'name', Buffer.from('x'), 1);
    const ttlMs = (await find('a/late', ['name']))?.ttlMs;
    // A clock that is read once in a while may be a little behind.
    if (ttlMs !== undefined) expect(ttlMs).toBeLessThanOrEqual(2000);
    await expect.poll(() => find('a/late', ['name']), { interval: 50 }).toBeUndefined();
    await put('a/late', 'name', Buffer.from('x'), 3600);
    expect((await find('a/late', ['name']))?.ttlMs).toBeGreaterThan(3_000_000);
  });

  test('makes room, and takes nothing larger than that', async () => {
    for (let at = 0; at < 12; at++) await put('a/full', `n${at}`, randomBytes(8 * KIB), 600 + at);
    const found = await Promise.all(Array.from({ length: 12 }, (_, at) => find('a/full', [`n${at}`])));
    const left = found.map((entry) => entry !== undefined);
    expect(left.filter(Boolean).length).toBeGreaterThanOrEqual(7);
    expect(left.filter(Boolean).length).toBeLessThanOrEqual(8);
    expect(left.at(-1)).toBe(true);
    expect(left[0]).toBe(false);
    await put('a/full', 'huge', randomBytes(65 * KIB), 600);
    expect(await find('a/full', ['huge'])).toBeUndefined();
  });

  test('erases any number', async () => {
    for (let at = 0; at < 20; at++) await put('a/many', `n${at}`, Buffer.from('x'));
    expect(await cache.erase('a/many')).toBe(20);
    expect(await find('a/many', ['n0', 'n19'])).toBeUndefined();
  });

  test('an epoch ends with an erasure, of nothing too, and what comes from it later is not kept', async () => {
    const before = await cache.epoch('a/epochs');
    expect(await cache.epoch('a/epochs')).toBe(before);
    expect((await cache.get('a/epochs', ['name'])).epoch).toBe(before);
    await cache.erase('a/epochs');
    const after = await cache.epoch('a/epochs');
    expect(after).not.toBe(before);
    await cache.put('a/epochs', 'name', Buffer.from('old'), 60, before);
    expect(await cache.get('a/epochs', ['name'])).toEqual({ entry: undefined, epoch: after });
    await cache.put('a/epochs', 'name', Buffer.from('new'), 60, after);
    expect((await find('a/epochs', ['name']))?.encrypted).toEqual(Buffer.from('new'));
  });
});

test('Redis holds nothing beside entries that are there and an epoch, even over a thousand', async () => {
  const keyPrefix = `test-${randomUUID()}:`;
  const cache = openRedisCache({ url: inject('redisUrl'), keyPrefix, commandTimeoutMs: 20_000 });
  const client = new Redis(inject('redisUrl'));
  try {
    await cache.ping();
    const epoch = await cache.epoch('a/b');
    await Promise.all(Array.from({ length: 2500 }, (_, at) => cache.put('a/b', `n${at}`, Buffer.from('x'), 60, epoch)));
    expect((await client.hget(`${keyPrefix}{a/b}:answers:sizes`, '*')) ?? '').toBe('2500');
    expect(await client.pttl(`${keyPrefix}{a/b}:answers`)).toBeGreaterThan(60_000);
    expect(await cache.erase('a/b')).toBe(2500);
    expect(await client.keys(`${keyPrefix}*`)).toEqual([`${keyPrefix}{a/b}:answers:epoch`]);
    expect(await client.ttl(`${keyPrefix}{a/b}:answers:epoch`)).toBeGreaterThan(80_000);
    // Evicted, it is followed by one that never was.
    const erased = await cache.epoch('a/b');
    await client.del(`${keyPrefix}{a/b}:answers:epoch`);
    await cache.put('a/b', 'late', Buffer.from('x'), 60, erased);
    expect((await cache.get('a/b', ['late'])).entry).toBeUndefined();
    expect([epoch, erased]).not.toContain(await cache.epoch('a/b'));
  } finally {
    client.disconnect();
    await cache.close();
  }
});

test('a store that cannot be reached rejects at once, without saying what was asked', async () => {
  const cache = openRedisCache({ url: 'redis://:hunter2@127.0.0.1:1' });
  try {
    const failure = cache.put('secret/organization', 'name', Buffer.from('x'), 60, 'epoch');
    await expect(failure).rejects.toThrow(/^the response cache cannot be reached: [\w ]+$/);
  } finally {
    await cache.close();
  }
});
