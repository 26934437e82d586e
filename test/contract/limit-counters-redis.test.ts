import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { CountersUnavailable } from '#/ports/limit-counters.ts';
import { startRedis, type RedisServer } from '../harness/redis.ts';
import { openHold, ORGANIZATION, request, spendOf, spent } from './limit-counters-world.ts';
import { budget, cleanUp, connect, rawClient, fault, everyVerb } from './limit-counters-redis-world.ts';

afterEach(async () => {
  for (const step of cleanUp.splice(0).toReversed()) await step();
});

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
});
