import { randomUUID } from 'node:crypto';
import { inspect } from 'node:util';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { openRedisCounters } from '#/adapters/redis/limit-counters.ts';
import { encodeOwner } from '#/adapters/redis/open-hold.ts';
import { loadScripts } from '#/adapters/redis/scripts.ts';
import type { LimitCounters } from '#/ports/limit-counters.ts';
import { startRedis, type RedisServer } from '../harness/redis.ts';
import { openHold, ORGANIZATION, request, spendOf, spent } from './limit-counters-world.ts';
import { budget, cleanUp, connect, rawClient, fault, everyVerb } from './limit-counters-redis-world.ts';

afterEach(async () => {
  for (const step of cleanUp.splice(0).toReversed()) await step();
});

describe('a server that forgets, or refuses', () => {
  let server: RedisServer;
  beforeAll(async () => {
    server = await startRedis({ control: true });
  });
  afterAll(() => server.stop());

  test('FLUSHALL: cold, and every process puts its own holds back', async () => {
    const keyPrefix = `t-${randomUUID()}:`;
    const first = await connect(server.url, { keyPrefix });
    const second = await connect(server.url, { keyPrefix });
    await first.restore(ORGANIZATION, [], async () => spent(0n));
    await first.hold(request('c1', { ...budget, amount: 40n, owner: 'gateway-1' }));
    await second.hold(request('c2', { ...budget, amount: 50n, owner: 'gateway-2' }));
    await rawClient(server.url).flushall();
    const third = request('c3', { ...budget, amount: 20n, owner: 'gateway-1' });
    expect(await first.hold(third)).toEqual({ kind: 'cold' });
    await first.restore(ORGANIZATION, [openHold('c1', { amount: 40n })], async () => spent(0n));
    // The second process never saw a cold counter, but its call in flight is not there.
    const fourth = request('c4', { ...budget, amount: 20n, owner: 'gateway-2' });
    expect(await second.hold(fourth)).toEqual({ kind: 'cold' });
    await second.restore(ORGANIZATION, [openHold('c2', { amount: 50n, owner: 'gateway-2' })], async () => spent(0n));
    expect(await second.hold(fourth)).toEqual({ kind: 'refused', by: 'budget' });
    expect(await first.hold(third)).toEqual({ kind: 'refused', by: 'budget' });
    expect(spendOf(await first.view(ORGANIZATION))['organization total']).toBe(90n);
  });

  test('FLUSHALL: what this process knows to be settled is not put back', async () => {
    const counters = await connect(server.url);
    await counters.hold(request('c1'));
    await counters.hold(request('c2'));
    await counters.settle([{ callId: 'c1', organization: ORGANIZATION, cost: 1n, tokens: 0 }]);
    await rawClient(server.url).flushall();
    await counters.restore(ORGANIZATION, [openHold('c1'), openHold('c2')], async (open) => {
      expect(open).toEqual([openHold('c2')]);
      return spent(1n);
    });
    // Nor is it missed afterwards.
    expect((await counters.hold(request('c3', budget))).kind).toBe('granted');
  });

  test('tokens lost with a window are not given back twice', async () => {
    const keyPrefix = `t-${randomUUID()}:`;
    const counters = await connect(server.url, { keyPrefix, clock: () => 1_763_726_400_250 });
    const ask = (callId: string, tokens: number) => counters.hold(request(callId, { tokens, tokensPerMinute: 100 }));
    await ask('c1', 50);
    await rawClient(server.url).del(`${keyPrefix}{${ORGANIZATION}}:tokens:default/w1`);
    await ask('c2', 10);
    await counters.settle([{ callId: 'c1', organization: ORGANIZATION, cost: 1n, tokens: 0 }]);
    expect(await ask('c3', 0)).toMatchObject({ tokens: { remaining: 100 } });
  });

  test('a dead owner is remembered until its last hold is taken', async () => {
    const keyPrefix = `t-${randomUUID()}:`;
    const counters = await connect(server.url, { keyPrefix });
    const raw = rawClient(server.url);
    await counters.hold(request('c1'));
    await counters.hold(request('c2'));
    const claim = (callId: string) =>
      raw.eval(
        loadScripts().claim.source,
        1,
        `${keyPrefix}{${ORGANIZATION}}:holds`,
        ...['gateway-2', encodeOwner('gateway-2'), '1', 'gateway-1', encodeOwner('gateway-1')],
        ...[callId, encodeOwner('gateway-1')],
      );
    const owners = async () => (await raw.smembers(`${keyPrefix}{${ORGANIZATION}}:owners`)).toSorted();
    await claim('c1');
    expect(await owners()).toEqual(['gateway-1', 'gateway-2']);
    expect(await claim('c1')).toEqual([null]);
    await claim('c2');
    expect(await owners()).toEqual(['gateway-2']);
  });

  test('SCRIPT FLUSH goes unnoticed', async () => {
    const counters = await connect(server.url);
    const raw = rawClient(server.url);
    for (const verb of everyVerb(counters)) {
      await raw.script('FLUSH');
      await verb();
    }
    await raw.script('FLUSH');
    const decisions = await Promise.all(Array.from({ length: 150 }, (_, i) => counters.hold(request(`c${i}`, budget))));
    expect(decisions.filter(({ kind }) => kind === 'granted')).toHaveLength(100);
  });

  test('a replica that refuses writes is as good as none, until it is promoted', async () => {
    const counters = await connect(server.url);
    const raw = rawClient(server.url);
    await counters.restore(ORGANIZATION, [], async () => spent(0n));
    await raw.replicaof('127.0.0.1', '1');
    const error = await fault(counters.hold(request('c1', budget)));
    expect(error.message).toContain('READONLY');
    await raw.replicaof('NO', 'ONE');
    await expect
      .poll(() =>
        counters.hold(request('c1', budget)).then(
          ({ kind }) => kind,
          () => 'away',
        ),
      )
      .toBe('granted');
  });

  test('errors say nothing of what was sent', async () => {
    const canary = 'canary-7f3a';
    const counters = await connect(server.url, { commandTimeoutMs: 100 });
    const asked = request(canary, { draft: canary, workload: canary, owner: canary });
    const raw = rawClient(server.url);
    await raw.replicaof('127.0.0.1', '1');
    const errors = [await fault(counters.hold(asked))];
    await raw.replicaof('NO', 'ONE');
    await expect
      .poll(() =>
        counters.ping().then(
          () => true,
          () => false,
        ),
      )
      .toBe(true);
    server.pause();
    errors.push(await fault(counters.hold(asked)));
    server.resume();
    await server.kill();
    errors.push(await fault(counters.hold(asked)));
    for (const error of errors) {
      expect(error.message).toMatch(/^the limit counters cannot be reached: [\w ]+$/);
      expect(inspect(error, { depth: 10, showHidden: true })).not.toContain(canary);
    }
    await server.restart({ empty: true });
  });

  test('nothing waits in a queue while there is no connection', async () => {
    await server.kill();
    const counters = openRedisCounters({ url: server.url, keyPrefix: 'queue:' });
    cleanUp.push(() => counters.close());
    await fault(counters.hold(request('queued')));
    await server.restart({ empty: true });
    await expect
      .poll(() =>
        counters.ping().then(
          () => true,
          () => false,
        ),
      )
      .toBe(true);
    expect((await counters.view(ORGANIZATION)).holds).toEqual([]);
  });

  test('a restore does not wait for ever for another', async () => {
    const keyPrefix = `t-${randomUUID()}:`;
    const patient = await connect(server.url, { keyPrefix });
    const hasty = await connect(server.url, { keyPrefix, pauseMs: 50 });
    await patient.restore(ORGANIZATION, [], async () => {
      await fault(hasty.restore(ORGANIZATION, [], async () => spent(1n)));
      return spent(2n);
    });
    expect(spendOf(await hasty.view(ORGANIZATION))['organization total']).toBe(2n);
  });
});

describe('data kept over a restart', () => {
  test('holds and counters are there; live owners keep their holds although all leases ran out', async () => {
    const server = await startRedis({ appendOnly: true });
    cleanUp.push(() => server.stop());
    let now = Date.now();
    const shared = { keyPrefix: 'kept:', clock: () => now };
    const first = await connect(server.url, shared);
    const second = await connect(server.url, shared);
    const lease = 30_000;
    const renew = async (counters: LimitCounters, owner: string) =>
      (await counters.takeOver([ORGANIZATION], owner, lease)).holds;
    for (let i = 0; i < 4; i++) {
      expect([...(await renew(first, 'gateway-1')), ...(await renew(second, 'gateway-2'))]).toEqual([]);
      now += lease / 3;
    }
    await first.restore(ORGANIZATION, [], async () => spent(7n));
    await first.hold(request('c1', { ...budget, owner: 'gateway-1' }));
    await server.restart({ empty: false });
    now += 10 * lease; // as long as nobody could renew
    for (const counters of [first, second])
      await expect
        .poll(() =>
          counters.ping().then(
            () => true,
            () => false,
          ),
        )
        .toBe(true);
    expect(await renew(second, 'gateway-2')).toEqual([]);
    for (let i = 0; i < 5; i++) {
      now += lease / 3;
      expect(await renew(first, 'gateway-1')).toEqual([]);
      expect(await renew(second, 'gateway-2')).toEqual([]);
    }
    // Its latest writes could be gone: what it says is spent does not count until it is restored.
    expect(spendOf(await first.view(ORGANIZATION))['organization total']).toBeUndefined();
    await first.restore(ORGANIZATION, [], async () => spent(7n));
    expect(spendOf(await first.view(ORGANIZATION))['organization total']).toBe(8n);
  });
});

describe('data lost', () => {
  test('nobody restores before the others had the time to put back what they have in flight', async () => {
    const server = await startRedis({ control: true });
    cleanUp.push(() => server.stop());
    let now = Date.now();
    const shared = { keyPrefix: 'lost:', clock: () => now };
    const first = await connect(server.url, shared);
    const second = await connect(server.url, shared);
    const held = openHold('c1', { owner: 'gateway-1' });
    const renewFirst = () => first.takeOver([ORGANIZATION], 'gateway-1', 30_000, () => [held]);
    const renewSecond = () => second.takeOver([ORGANIZATION], 'gateway-2', 30_000);
    await renewFirst();
    await renewSecond();
    await first.restore(ORGANIZATION, [], async () => spent(0n));
    await first.hold(request('c1', { ...budget, owner: 'gateway-1' }));
    await rawClient(server.url).flushall();
    let reads = 0;
    const restore = () => second.restore(ORGANIZATION, [], async () => (reads++, spent(0n)));
    await fault(restore());
    now += 3000;
    await renewFirst();
    await fault(restore());
    expect(reads).toBe(0);
    now += 3001;
    await restore();
    expect(spendOf(await second.view(ORGANIZATION))['organization total']).toBe(held.amount);
    expect((await first.settle([{ callId: 'c1', organization: ORGANIZATION, cost: 0n, tokens: 0 }]))[0]).toBe(
      'settled',
    );
    expect(spendOf(await second.view(ORGANIZATION))['organization total']).toBe(0n);
  });

  test('a clock that is set back meanwhile does not make them wait for longer', async () => {
    const server = await startRedis({ control: true });
    cleanUp.push(() => server.stop());
    let now = Date.now();
    const counters = await connect(server.url, { keyPrefix: 'back:', clock: () => now });
    await counters.takeOver([ORGANIZATION], 'gateway-1', 30_000);
    await rawClient(server.url).flushall();
    const restore = () => counters.restore(ORGANIZATION, [], async () => spent(0n));
    await fault(restore());
    now -= 3_600_000;
    await fault(restore());
    now += 5001;
    await restore();
    expect(spendOf(await counters.view(ORGANIZATION))['organization total']).toBe(0n);
  });

  test('what is put back too late makes the counters cold: they did not know of it', async () => {
    const server = await startRedis({ control: true });
    cleanUp.push(() => server.stop());
    let now = Date.now();
    const shared = { keyPrefix: 'late:', clock: () => now };
    const first = await connect(server.url, shared);
    const second = await connect(server.url, shared);
    const held = openHold('c1', { owner: 'gateway-1' });
    const renewFirst = () => first.takeOver([ORGANIZATION], 'gateway-1', 30_000, () => [held]);
    const renewSecond = () => second.takeOver([ORGANIZATION], 'gateway-2', 30_000);
    await renewFirst();
    await renewSecond();
    await first.restore(ORGANIZATION, [], async () => spent(0n));
    await first.hold(request('c1', { ...budget, owner: 'gateway-1' }));
    await rawClient(server.url).flushall();
    await renewSecond();
    now += 7000;
    await second.restore(ORGANIZATION, [], async () => spent(0n));
    expect((await second.hold(request('c2', { ...budget, owner: 'gateway-2' }))).kind).toBe('granted');
    await renewFirst();
    expect((await second.hold(request('c3', { ...budget, owner: 'gateway-2' }))).kind).toBe('cold');
    await renewFirst();
    expect((await second.view(ORGANIZATION)).holds.map(({ callId }) => callId).toSorted()).toEqual(['c1', 'c2']);
  });
});
