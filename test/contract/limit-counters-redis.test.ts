import { randomUUID } from 'node:crypto';
import { inspect } from 'node:util';
import { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import {
  openRedisCounters,
  type RedisCountersOptions,
  type RedisLimitCounters,
} from '#/adapters/redis/limit-counters.ts';
import { encodeOwner } from '#/adapters/redis/open-hold.ts';
import { loadScripts } from '#/adapters/redis/scripts.ts';
import { CountersUnavailable, type LimitCounters } from '#/ports/limit-counters.ts';
import { startRedis, type RedisServer } from '../harness/redis.ts';
import { openHold, ORGANIZATION, request, spendOf, spent } from './limit-counters-world.ts';

const budget = { workloadBudget: { amount: 100n, period: 'total' } } as const;
const cleanUp: (() => unknown)[] = [];

afterEach(async () => {
  for (const step of cleanUp.splice(0).toReversed()) await step();
});

async function connect(url: string, options: Partial<RedisCountersOptions> = {}): Promise<RedisLimitCounters> {
  const counters = openRedisCounters({ url, keyPrefix: `t-${randomUUID()}:`, ...options });
  cleanUp.push(() => counters.close());
  await counters.ping();
  return counters;
}

function rawClient(url: string): Redis {
  const client = new Redis(url);
  cleanUp.push(() => client.disconnect());
  return client;
}

async function fault(attempt: Promise<unknown>): Promise<Error> {
  const error: unknown = await attempt.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(CountersUnavailable);
  return error as Error;
}

const everyVerb = (counters: LimitCounters): readonly (() => Promise<unknown>)[] => [
  () => counters.hold(request('verb', budget)),
  () => counters.settle([{ callId: 'verb', organization: ORGANIZATION, cost: 1n, tokens: 0 }]),
  () => counters.restore(ORGANIZATION, [openHold('verb')], async () => spent(0n)),
  () => counters.view(ORGANIZATION),
  () => counters.takeOver([ORGANIZATION], 'gateway-1', 1000),
];

describe('a server that fails', () => {
  let server: RedisServer;
  beforeAll(async () => {
    server = await startRedis({ control: true });
  });
  afterAll(() => server.stop());

  test('that stands still: every verb rejects after the command timeout, and works again when it goes on', async () => {
    const counters = await connect(server.url, { commandTimeoutMs: 100 });
    await counters.restore(ORGANIZATION, [], async () => spent(0n));
    server.pause();
    try {
      await Promise.all([...everyVerb(counters), () => counters.ping()].map((verb) => fault(verb())));
    } finally {
      server.resume();
    }
    await expect
      .poll(() =>
        counters.ping().then(
          () => true,
          () => false,
        ),
      )
      .toBe(true);
    await expect
      .poll(() =>
        counters.hold(request('after', budget)).then(
          ({ kind }) => kind,
          () => 'away',
        ),
      )
      .toBe('granted');
  });

  test('holds whose answers were lost are given back, but not one that was asked for again', async () => {
    const counters = await connect(server.url, { commandTimeoutMs: 200 });
    await counters.restore(ORGANIZATION, [], async () => spent(0n));
    server.pause();
    await Promise.all([1, 2, 3].map((i) => fault(counters.hold(request(`lost-${i}`, { ...budget, amount: 10n })))));
    server.resume();
    const again = request('lost-2', { ...budget, amount: 10n });
    await expect
      .poll(() =>
        counters.hold(again).then(
          ({ kind }) => kind,
          () => 'away',
        ),
      )
      .toBe('granted');
    // The other two stay until the counters give them back, in one go.
    await expect
      .poll(() => counters.view(ORGANIZATION).then((view) => view.holds.map((open) => open.callId)))
      .toEqual(['lost-2']);
    expect(spendOf(await counters.view(ORGANIZATION))['default/w1 total']).toBe(10n);
  });

  test('holds of one turn are placed by few scripts, and none more than the budget has room for', async () => {
    const counters = await connect(server.url);
    await counters.restore(ORGANIZATION, [], async () => spent(0n));
    const raw = rawClient(server.url);
    await raw.config('RESETSTAT');
    const decided = await Promise.all(Array.from({ length: 120 }, (_, i) => counters.hold(request(`c${i}`, budget))));
    const [, scripts] = /cmdstat_evalsha:calls=(\d+)/.exec(await raw.info('commandstats')) ?? [];
    expect(Number(scripts)).toBeLessThanOrEqual(3);
    const kinds = decided.map(({ kind }) => kind);
    expect(kinds).toEqual(decided.map((_, index) => (index < 100 ? 'granted' : 'refused')));
    expect((await counters.view(ORGANIZATION)).holds).toHaveLength(100);
  });

  test('a script that fails at one hold leaves none of its turn', async () => {
    const prefix = `t-${randomUUID()}:`;
    const counters = await connect(server.url, { keyPrefix: prefix });
    await counters.restore(ORGANIZATION, [], async () => spent(0n));
    const raw = rawClient(server.url);
    await raw.set(`${prefix}{${ORGANIZATION}}:requests:default/bad`, 'no hash');
    const bad = request('bad', { ...budget, workload: 'default/bad', requestsPerMinute: 5 });
    await Promise.all([request('good', budget), bad].map((each) => fault(counters.hold(each))));
    // The first was debited before the second failed. Both were told that they could not be: it is given back.
    await expect.poll(() => counters.view(ORGANIZATION).then(({ holds }) => holds), { timeout: 10_000 }).toEqual([]);
    expect(spendOf(await counters.view(ORGANIZATION))['default/w1 total']).toBe(0n);
    expect((await counters.hold(request('later', budget))).kind).toBe('granted');
  });

  test('commands that are answered do not keep others from running out of time', async () => {
    const counters = await connect(server.url, { commandTimeoutMs: 300 });
    await counters.restore(ORGANIZATION, [], async () => spent(0n));
    for (let i = 0; i < 300; i++) await counters.hold(request(`c${i}`));
    server.pause();
    try {
      expect((await fault(counters.hold(request('unanswered')))).message).toContain('timeout');
      expect((await fault(counters.view(ORGANIZATION))).message).toContain('timeout');
    } finally {
      server.resume();
    }
  });

  test('that is gone: calls reject at once; it comes back empty: cold, never at nothing', async () => {
    const counters = await connect(server.url);
    await counters.restore(ORGANIZATION, [], async () => spent(99n));
    await server.kill();
    for (const verb of everyVerb(counters)) await fault(verb());
    await server.restart({ empty: true });
    await expect
      .poll(() =>
        counters.ping().then(
          () => true,
          () => false,
        ),
      )
      .toBe(true);
    expect(await counters.hold(request('c1', budget))).toEqual({ kind: 'cold' });
    await counters.restore(ORGANIZATION, [], async () => spent(99n));
    expect((await counters.hold(request('c1', budget))).kind).toBe('granted');
    expect(await counters.hold(request('c2', budget))).toEqual({ kind: 'refused', by: 'budget' });
  });

  test('more holds than a page: all are restored and taken over, and looked through once', async () => {
    const keyPrefix = `t-${randomUUID()}:`;
    let now = Date.UTC(2026, 10, 21);
    const clock = () => now;
    const [first, second] = [
      await connect(server.url, { keyPrefix, clock }),
      await connect(server.url, { keyPrefix, clock }),
    ];
    await first.takeOver([ORGANIZATION], 'gateway-1', 9000);
    await first.restore(ORGANIZATION, [], async () => spent(0n));
    const ids = Array.from({ length: 2600 }, (_, index) => `c${index}`);
    for (let from = 0; from < ids.length; from += 250)
      await Promise.all(ids.slice(from, from + 250).map((id) => first.hold(request(id, { owner: 'gateway-1' }))));
    const raw = rawClient(server.url);
    await raw.config('RESETSTAT');
    let open = 0;
    await second.restore(
      ORGANIZATION,
      ids.map((id) => openHold(id, { owner: 'gateway-1' })),
      async (holds) => {
        open = new Set(holds.map(({ callId }) => callId)).size;
        return spent(0n);
      },
    );
    expect(open).toBe(ids.length);
    const taken: string[] = [];
    for (let renewals = 0; renewals < 8; renewals++, now += 3000)
      for (const { callId } of (await second.takeOver([ORGANIZATION], 'gateway-2', 9000)).holds) taken.push(callId);
    expect(taken.toSorted()).toEqual(ids.toSorted());
    const stats = await raw.info('commandstats');
    expect(/cmdstat_hvals:calls=(\d+)/.exec(stats)?.[1]).toBe('1');
    const { holds } = await second.view(ORGANIZATION);
    expect(holds.every(({ owner }) => owner === 'gateway-2')).toBe(true);
  });

  test('more holds than one script tells are viewed by pages, as of one instant, while calls begin and end', async () => {
    const keyPrefix = `t-${randomUUID()}:`;
    const counters = await connect(server.url, { keyPrefix });
    await counters.restore(ORGANIZATION, [], async () => spent(0n));
    const hold = async (id: string): Promise<void> => {
      while ((await counters.hold(request(id, { amount: 5n }))).kind === 'busy')
        await new Promise((resolve) => setTimeout(resolve, 5));
    };
    const settle = async (callId: string): Promise<void> => {
      const settlement = { callId, organization: ORGANIZATION, cost: 2n, tokens: 0 };
      while ((await counters.settle([settlement]))[0] === 'busy')
        await new Promise((resolve) => setTimeout(resolve, 5));
    };
    for (let from = 0; from < 4000; from += 250)
      await Promise.all(Array.from({ length: 250 }, (_, index) => hold(`c${from + index}`)));
    const raw = rawClient(server.url);
    await raw.config('RESETSTAT');
    let settled = 0;
    let over = false;
    const churn = (async () => {
      for (let index = 0; !over; index++) {
        await Promise.all([settle(`c${index}`), hold(`n${index}`)]);
        settled++;
      }
    })();
    for (let looks = 0; looks < 5; looks++) {
      const before = settled;
      const { holds, spend, closed } = await counters.view(ORGANIZATION, Date.now() + 1e6);
      const total = spend.find(({ scope, period }) => scope === 'organization' && period === 'total')?.amount;
      // Each settled call has cost 2: whatever the instant, counters and holds are of the same.
      const gone = total! - 5n * BigInt(holds.length);
      expect(gone % 2n).toBe(0n);
      expect(Number(gone / 2n)).toBe(new Set(closed).size);
      expect(Number(gone / 2n)).toBeGreaterThanOrEqual(before);
      expect(new Set(holds.map(({ callId }) => callId)).size).toBe(holds.length);
    }
    over = true;
    await churn;
    const stats = await raw.info('commandstats');
    expect(Number(/cmdstat_hscan:calls=(\d+)/.exec(stats)?.[1])).toBeGreaterThanOrEqual(5 * 3);
    expect(/cmdstat_hvals/.test(stats)).toBe(false);
  });

  test('an organization that cannot be reached keeps no lease from being renewed, and nobody from the others', async () => {
    const keyPrefix = `t-${randomUUID()}:`;
    const OTHER = 'default/other';
    const both = [OTHER, ORGANIZATION];
    let now = Date.UTC(2026, 10, 21);
    const clock = () => now;
    const [first, second] = [
      await connect(server.url, { keyPrefix, clock }),
      await connect(server.url, { keyPrefix, clock }),
    ];
    await first.takeOver(both, 'gateway-1', 9000);
    for (const organization of both) {
      await first.restore(organization, [], async () => spent(0n));
      await first.hold(request(`of ${organization}`, { organization, owner: 'gateway-1' }));
    }
    const raw = rawClient(server.url);
    const broken = `${keyPrefix}{${OTHER}}:owners`;
    await raw.set(broken, 'of another kind');
    const taken: string[] = [];
    for (let renewals = 0; renewals < 6; renewals++, now += 3000) {
      const { holds, missed } = await second.takeOver(both, 'gateway-2', 9000);
      taken.push(...holds.map(({ callId }) => callId));
      if (renewals > 3) expect([...missed.keys()]).toEqual([OTHER]);
    }
    expect(taken).toEqual([`of ${ORGANIZATION}`]);
    await raw.del(broken);
    await raw.sadd(broken, 'gateway-1');
    const { holds, missed } = await second.takeOver(both, 'gateway-2', 9000);
    expect([holds.map(({ callId }) => callId), missed.size]).toEqual([[`of ${OTHER}`], 0]);
  });

  test('what cannot be put back in one organization keeps that one waiting, and no other', async () => {
    const keyPrefix = `t-${randomUUID()}:`;
    const OTHER = 'default/other';
    const both = [OTHER, ORGANIZATION];
    const counters = await connect(server.url, { keyPrefix });
    const held = both.map((organization) => openHold(`of ${organization}`, { organization }));
    const renew = () => counters.takeOver(both, 'gateway-1', 30_000, () => held);
    await renew();
    for (const hold of held) {
      await counters.restore(hold.organization, [], async () => spent(0n));
      await counters.hold(hold);
    }
    const raw = rawClient(server.url);
    for await (const keys of raw.scanStream({ match: `${keyPrefix}*` })) await raw.del(...(keys as string[]), 'none');
    const broken = `${keyPrefix}{${OTHER}}:holds`;
    await raw.set(broken, 'of another kind');
    expect([...(await renew()).missed.keys()]).toEqual([OTHER]);
    expect((await counters.allHolds(ORGANIZATION)).map(({ callId }) => callId)).toEqual([`of ${ORGANIZATION}`]);
    expect((await counters.hold(request('next', budget))).kind).toBe('cold');
    await expect(counters.hold(request('next of other', { ...budget, organization: OTHER }))).rejects.toThrow(
      CountersUnavailable,
    );
    await raw.del(broken);
    expect((await counters.hold(request('next of other', { ...budget, organization: OTHER }))).kind).toBe('cold');
    expect((await counters.allHolds(OTHER)).map(({ callId }) => callId)).toEqual([`of ${OTHER}`]);
    expect((await renew()).missed.size).toBe(0);
  });

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
