import { randomBytes } from 'node:crypto';
import { Redis } from 'ioredis';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { Publication } from '../../operators/publish/publication.ts';
import { Sealer } from '../../operators/publish/sealer.ts';
import { openPublishedConfig } from '../../src/adapters/redis/published-config.ts';
import { createConfigKeys } from '../../src/config/published/config-keys.ts';
import { readHead, signHead } from '../../src/config/published/manifest.ts';
import { openPublishedSource } from '../../src/config/published/published-source.ts';
import { startRedis } from '../harness/redis.ts';

const master = (id: string) => ({ id, secret: randomBytes(32) });
const [old, next] = [master('old'), master('new')];
const place = { namespace: 'default', name: 'keys', key: 'main' };

describe('configuration keys', () => {
  test('what is sealed opens in its place alone, with its key, unchanged', () => {
    const keys = createConfigKeys([old]);
    const sealed = keys.seal(place, 'sk-1');
    expect(sealed).not.toContain('sk-1');
    expect(keys.open(place, sealed)).toBe('sk-1');
    expect(keys.open({ ...place, namespace: 'other' }, sealed)).toBeUndefined();
    expect(keys.open({ ...place, key: 'other' }, sealed)).toBeUndefined();
    expect(createConfigKeys([next]).open(place, sealed)).toBeUndefined();
    expect(createConfigKeys([{ ...next, id: 'old' }]).open(place, sealed)).toBeUndefined();
    for (const broken of ['', 'old:', 'old:AAAA', `${sealed.slice(0, -6)}AAAA==`])
      expect(keys.open(place, broken)).toBeUndefined();
  });

  test('after a rotation the older key still opens, and what it sealed is sealed anew', () => {
    const before = new Sealer(createConfigKeys([old]));
    const [row] = before.rows([[place, 'sk-1']]);
    expect(before.rows([[place, 'sk-1']])[0]).toBe(row);
    const rotated = new Sealer(createConfigKeys([next, old]));
    rotated.adopt([row!]);
    const [again] = rotated.rows([[place, 'sk-1']]);
    expect(again![3]).toMatch(/^new:/);
    expect(createConfigKeys([next]).open(place, again![3])).toBe('sk-1');
  });

  test('a head is signed for its position, with its manifest', () => {
    const keys = createConfigKeys([old]);
    const head = signHead(3, 7, new Map([['orgs', 'a'.repeat(64)]]), keys);
    expect(readHead(head, keys)).toEqual(new Map([['orgs', 'a'.repeat(64)]]));
    for (const forged of [
      { seq: 8 },
      { epoch: 4 },
      { manifest: head.manifest.replace('aaa', 'bbb') },
      { signature: '' },
    ])
      expect(readHead({ ...head, ...forged }, keys)).toBeUndefined();
    expect(readHead(head, createConfigKeys([next]))).toBeUndefined();
  });
});

describe.each([{ cluster: false }, { cluster: true }])('the store, %j', (options) => {
  test('publishes in one step, fences, keeps what is named, and hears gateways', async () => {
    const redis = await startRedis({ control: true, ...options });
    const store = openPublishedConfig({ url: redis.url, ...options });
    const client = new Redis(redis.url);
    try {
      await store.ping();
      const changes: number[] = [];
      store.follow(() => changes.push(changes.length));
      const keys = createConfigKeys([old]);
      const publication = new Publication(store, keys);
      publication.set(
        new Map([
          ['orgs', '[1]'],
          ['providers', '[2]'],
        ]),
      );
      const [replaced] = readHead(await publication.publish(2), keys)!.values();
      const heard = changes.length;
      publication.set(
        new Map([
          ['orgs', '[3]'],
          ['providers', '[]'],
        ]),
      );
      const head = await publication.publish(2);
      expect(head).toMatchObject({ epoch: 2, seq: 2 });
      expect(await store.head()).toEqual(head);
      await expect.poll(() => changes.length).toBeGreaterThan(heard);
      const [digest] = readHead(head, keys)!.values();
      expect((await store.segments([digest!, 'f'.repeat(64)])).size).toBe(1);
      // What nothing names any more is soon gone.
      const ttl = (name: string | undefined) => client.ttl(`{gwcfg}:seg:${name}`);
      expect(await ttl(digest)).toBe(-1);
      expect(await ttl(replaced)).toSatisfy((seconds: number) => seconds > 0 && seconds <= 60);
      expect(await store.publish({ ...head, epoch: 1, seq: 99 })).toEqual({ kind: 'fenced', at: { epoch: 2, seq: 2 } });
      expect(await store.publish(head)).toEqual({ kind: 'stale', at: { epoch: 2, seq: 2 } });
      const lacking = signHead(2, 3, new Map([['orgs', 'e'.repeat(64)]]), keys);
      expect(await store.publish(lacking)).toEqual({ kind: 'missing', digests: ['e'.repeat(64)] });
      expect(await store.head()).toEqual(head);
      await store.report('gateway-0', { epoch: 2, seq: 2, broken: [] });
      expect(await store.gateways()).toEqual(new Map([['gateway-0', { epoch: 2, seq: 2, broken: [] }]]));
      await store.leave('gateway-0');
      expect((await store.gateways()).size).toBe(0);
    } finally {
      client.disconnect();
      await store.close();
      await redis.stop();
    }
  });
});

describe('how sure a gateway is of its keys', () => {
  afterEach(() => void vi.useRealTimers());

  test('for a minute after the store was last heard of', async () => {
    vi.useFakeTimers({ toFake: ['Date', 'setTimeout', 'clearTimeout'] });
    const keys = createConfigKeys([old]);
    const head = signHead(1, 1, new Map(), keys);
    let reachable = true;
    const feed = {
      head: async () => (reachable ? head : Promise.reject(new Error('away'))),
      segments: async () => new Map(),
      follow: () => {},
      report: async () => {},
      leave: async () => {},
    };
    const copy = { head: async () => undefined, segments: async () => new Map(), keep: async () => {} };
    const source = await openPublishedSource({ feed, copy, keys, gateway: 'g', usdToEur: '0.9' });
    expect([source.readable(), source.mayHold('x')]).toEqual([true, false]);
    reachable = false;
    vi.setSystemTime(Date.now() + 59_000);
    await source.reload();
    expect(source.mayHold('x')).toBe(false);
    vi.setSystemTime(Date.now() + 2000);
    expect([source.readable(), source.mayHold('x'), source.age()]).toEqual([false, true, 61_000]);
    expect(source.current()).toBeDefined();
    reachable = true;
    await source.reload();
    expect([source.readable(), source.mayHold('x'), source.age()]).toEqual([true, false, 0]);
    source.close();
  });
});
