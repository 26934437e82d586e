import { afterAll, afterEach, beforeAll, describe, expect, inject, test } from 'vitest';
import { openNoNeighbours } from '#/adapters/memory/neighbours.ts';
import { openRedisNeighbours } from '#/adapters/redis/neighbours.ts';
import type { Neighbours } from '#/ports/neighbours.ts';
import { startRedis, type RedisServer } from '../harness/redis.ts';

let cluster: RedisServer;
beforeAll(async () => {
  cluster = await startRedis({ cluster: true });
});
afterAll(() => cluster.stop());

const opened: Neighbours[] = [];
afterEach(() => {
  for (const one of opened.splice(0)) one.close();
});

/** One process of several, and what it has heard. */
function start(url: string, isCluster: boolean): { readonly own: Neighbours; readonly heard: string[] } {
  const own = openRedisNeighbours({ url, cluster: isCluster });
  opened.push(own);
  const heard: string[] = [];
  own.hear((message) => heard.push(message));
  return { own, heard };
}

describe.each([
  { name: 'Redis', url: () => inject('redisUrl'), isCluster: false },
  { name: 'Redis Cluster', url: () => cluster.url, isCluster: true },
])('neighbours: $name', ({ url, isCluster }) => {
  test('a message reaches one process, or all but its sender', async () => {
    const [one, two, three] = [0, 1, 2].map(() => start(url(), isCluster)) as [
      ReturnType<typeof start>,
      ReturnType<typeof start>,
      ReturnType<typeof start>,
    ];
    expect(new Set([one, two, three].map(({ own }) => own.name)).size).toBe(3);
    // Subscriptions take a moment.
    await expect
      .poll(async () => {
        await one.own.send('hello').catch(() => undefined);
        return [two, three].every(({ heard }) => heard.includes('hello'));
      })
      .toBe(true);
    await one.own.send('line\nline', two.own.name);
    await two.own.send('', one.own.name);
    await expect.poll(() => two.heard.at(-1)).toBe('line\nline');
    await expect.poll(() => one.heard).toEqual(['']);
    expect(three.heard).not.toContain('line\nline');
    await one.own.send('to no process', 'ffffffff-ffff-4fff-8fff-ffffffffffff');
  });

  test('what cannot be sent is a fault that does not quote it', async () => {
    const { own } = start('redis://127.0.0.1:9', false);
    await expect(own.send('secret')).rejects.toThrow(/cannot be reached/);
    await expect(own.send('secret')).rejects.not.toThrow(/secret/);
  });
});

test('a process without neighbours sends to none', async () => {
  const own = openNoNeighbours();
  const heard: string[] = [];
  own.hear((message) => heard.push(message));
  await own.send('x');
  await own.send('x', own.name);
  own.close();
  expect(heard).toEqual([]);
});
