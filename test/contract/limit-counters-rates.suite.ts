import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { HoldDecision, HoldRequest } from '#/ports/limit-counters.ts';
import { forward, type Store, type Subject } from './limit-counters-subjects.ts';
import { ORGANIZATION, request, spent } from './limit-counters-world.ts';

/** Requests and tokens per minute. A second's uses leave 61 s after it began; stores open a quarter into a second. */
export function ratesSuite(subject: Subject): void {
  let store: Store;
  const { hold, settle } = forward(() => store);
  let calls = 0;
  const ask = (requestsPerMinute: number, workload = 'default/w1'): Promise<HoldDecision> =>
    hold(request(`r${++calls}`, { requestsPerMinute, workload }));
  const askTokens = (tokens: number, tokensPerMinute: number, callId = `t${++calls}`): Promise<HoldDecision> =>
    hold(request(callId, { tokens, tokensPerMinute }));
  const used = (callId: string, tokens: number) => settle([{ callId, organization: ORGANIZATION, cost: 0n, tokens }]);

  beforeEach(async () => {
    store = await subject.open();
  });
  afterEach(() => store.close());

  describe('requests per minute', () => {
    test('admits the limit at once, then refuses until the first leaves', async () => {
      const decisions = await Promise.all(Array.from({ length: 50 }, () => ask(20)));
      expect(decisions.filter((decision) => decision.kind === 'granted')).toHaveLength(20);
      expect(await ask(20)).toEqual({
        kind: 'refused',
        by: 'requests',
        retryAfterMs: 60_750,
        requests: { limit: 20, remaining: 0, resetMs: 60_750 },
      });
      store.advance(60_749);
      expect((await ask(20)).kind).toBe('refused');
      store.advance(1);
      expect(await ask(20)).toEqual({ kind: 'granted', requests: { limit: 20, remaining: 19, resetMs: 61_000 } });
    });

    test('says what is left, and when the oldest use leaves', async () => {
      expect(await ask(3)).toMatchObject({ requests: { limit: 3, remaining: 2, resetMs: 60_750 } });
      store.advance(10_000);
      expect(await ask(3)).toMatchObject({ requests: { remaining: 1, resetMs: 50_750 } });
      store.advance(50_750);
      expect(await ask(3)).toMatchObject({ requests: { remaining: 1, resetMs: 10_000 } });
    });

    test('a refused request uses nothing', async () => {
      await ask(2);
      store.advance(30_000);
      await ask(2);
      for (let i = 0; i < 5; i++) expect(await ask(2)).toMatchObject({ kind: 'refused', retryAfterMs: 30_750 });
      store.advance(30_750);
      expect((await ask(2)).kind).toBe('granted');
    });

    test('counts each workload for itself', async () => {
      expect((await ask(1)).kind).toBe('granted');
      expect((await ask(1, 'default/w2')).kind).toBe('granted');
      expect((await ask(1)).kind).toBe('refused');
    });

    test('a limit of none never admits, and never says when', async () => {
      expect(await ask(0)).toEqual({
        kind: 'refused',
        by: 'requests',
        requests: { limit: 0, remaining: 0, resetMs: 0 },
      });
    });

    test('a raised or lowered limit holds at once', async () => {
      for (let i = 0; i < 4; i++) await ask(4);
      expect((await ask(4)).kind).toBe('refused');
      expect(await ask(5)).toMatchObject({ kind: 'granted', requests: { remaining: 0 } });
      expect(await ask(3)).toMatchObject({ kind: 'refused', requests: { limit: 3, remaining: 0 } });
    });

    test('a clock set back a little still counts; far back, it starts anew', async () => {
      await ask(2);
      store.advance(-5_000);
      expect(await ask(2)).toMatchObject({ kind: 'granted', requests: { remaining: 0 } });
      expect((await ask(2)).kind).toBe('refused');
      store.advance(-3_600_000);
      expect((await ask(2)).kind).toBe('granted');
    });

    test('no 60 seconds see more than the limit, whatever the arrivals', async () => {
      const gaps = fc.array(fc.oneof(fc.constant(0), fc.nat({ max: 400 }), fc.nat({ max: 40_000 })), { maxLength: 60 });
      let run = 0;
      await fc.assert(
        fc.asyncProperty(gaps, fc.integer({ min: 1, max: 6 }), async (arrivals, limit) => {
          const workload = `default/run-${run++}`;
          const admitted: number[] = [];
          for (const gap of arrivals) {
            store.advance(gap);
            const decision = await ask(limit, workload);
            if (decision.kind === 'granted') admitted.push(store.now());
            const recent = admitted.filter((at) => at > store.now() - 60_000).length;
            expect(recent).toBeLessThanOrEqual(limit);
            // Refused only for uses of the last 61 seconds, and with a time to come back.
            const counted = admitted.filter((at) => at > store.now() - 61_000).length;
            const retryAfterMs = decision.kind === 'refused' ? (decision.retryAfterMs ?? 0) : 1;
            expect(retryAfterMs).toBeGreaterThan(0);
            expect(decision.kind === 'granted' || counted >= limit).toBe(true);
          }
        }),
        { numRuns: 30 },
      );
    });
  });

  describe('tokens per minute', () => {
    test('reserves what a call may use, and corrects it by what it used', async () => {
      expect(await askTokens(800, 1000, 'c1')).toMatchObject({ tokens: { limit: 1000, remaining: 200 } });
      expect(await askTokens(300, 1000)).toMatchObject({ kind: 'refused', by: 'tokens', retryAfterMs: 60_750 });
      await used('c1', 500);
      expect(await askTokens(300, 1000)).toMatchObject({ kind: 'granted', tokens: { remaining: 200 } });
    });

    test('more than was reserved counts too, also beyond the limit', async () => {
      await askTokens(100, 1000, 'c1');
      await askTokens(0, 1000, 'c2');
      await used('c1', 700);
      await used('c2', 250);
      expect(await askTokens(51, 1000)).toMatchObject({ kind: 'refused', tokens: { remaining: 50 } });
      await askTokens(50, 1000, 'c3');
      await used('c3', 400);
      expect(await askTokens(1, 1000)).toMatchObject({ kind: 'refused', tokens: { remaining: 0 } });
      store.advance(60_750);
      expect(await askTokens(1000, 1000)).toMatchObject({ kind: 'granted' });
    });

    test('a correction counts in the second of the reservation', async () => {
      await askTokens(400, 1000, 'c1');
      store.advance(20_000);
      await askTokens(600, 1000, 'c2');
      await used('c1', 100);
      expect(await askTokens(300, 1000)).toMatchObject({ kind: 'granted', tokens: { remaining: 0, resetMs: 40_750 } });
      expect(await askTokens(100, 1000)).toMatchObject({ retryAfterMs: 40_750 });
      expect(await askTokens(101, 1000)).toMatchObject({ retryAfterMs: 60_750 });
    });

    test('what a call did not use at all leaves no trace', async () => {
      await askTokens(400, 1000, 'c1');
      store.advance(20_000);
      await askTokens(100, 1000, 'c2');
      await used('c1', 0);
      expect(await askTokens(0, 1000)).toMatchObject({ tokens: { remaining: 900, resetMs: 60_750 } });
      await used('c2', 0);
      expect(await askTokens(0, 1000)).toMatchObject({ tokens: { remaining: 1000, resetMs: 0 } });
    });

    test('a correction of a reservation that has left changes nothing', async () => {
      await askTokens(400, 1000, 'c1');
      store.advance(61_000);
      await askTokens(500, 1000);
      await used('c1', 900);
      expect(await askTokens(500, 1000)).toMatchObject({ kind: 'granted' });
    });

    test('more than the whole limit is refused for good', async () => {
      expect(await askTokens(1001, 1000)).toEqual({
        kind: 'refused',
        by: 'tokens',
        tokens: { limit: 1000, remaining: 1000, resetMs: 0 },
      });
      await askTokens(10, 1000);
      expect(await askTokens(1001, 1000)).not.toHaveProperty('retryAfterMs');
    });

    test('waits until enough has left, over several seconds', async () => {
      for (let i = 0; i < 5; i++) {
        await askTokens(200, 1000);
        store.advance(1_000);
      }
      expect(await askTokens(200, 1000)).toMatchObject({ retryAfterMs: 55_750 });
      expect(await askTokens(201, 1000)).toMatchObject({ retryAfterMs: 56_750 });
      expect(await askTokens(1000, 1000)).toMatchObject({ retryAfterMs: 59_750 });
    });

    test('counts of tokens are exact where doubles are', async () => {
      const many = 2 ** 53 - 1;
      await askTokens(many - 1, many, 'c1');
      expect(await askTokens(2, many)).toMatchObject({ kind: 'refused', tokens: { remaining: 1 } });
      await used('c1', many - 3);
      expect(await askTokens(2, many)).toMatchObject({ kind: 'granted', tokens: { remaining: 1 } });
    });
  });

  describe('free calls', () => {
    const free = (limits: Partial<HoldRequest>) => hold(request(`f${++calls}`, { ...limits, amount: 0n, free: true }));

    test('are counted as requests, each told how the limits stand after it, and leave no hold', async () => {
      await ask(5);
      const decisions = await Promise.all(Array.from({ length: 6 }, () => free({ requestsPerMinute: 5 })));
      expect(decisions.map((decision) => ('requests' in decision ? decision.requests?.remaining : undefined))).toEqual([
        3, 2, 1, 0, 0, 0,
      ]);
      expect(decisions.map(({ kind }) => kind)).toEqual([...Array<string>(4).fill('granted'), 'refused', 'refused']);
      expect(decisions[5]).toMatchObject({ by: 'requests', retryAfterMs: 60_750 });
      expect((await store.counters.view(ORGANIZATION)).holds).toHaveLength(1);
      store.advance(60_750);
      expect(await ask(5)).toMatchObject({ kind: 'granted', requests: { remaining: 4 } });
    });

    test('of other limits are answered by theirs, at the same time', async () => {
      const [few, many, other] = await Promise.all([
        free({ requestsPerMinute: 1 }),
        free({ requestsPerMinute: 3 }),
        free({ requestsPerMinute: 1, workload: 'default/w2' }),
      ]);
      expect(few).toMatchObject({ kind: 'granted', requests: { limit: 1, remaining: 0 } });
      expect(many).toMatchObject({ kind: 'granted', requests: { limit: 3, remaining: 1 } });
      expect(other).toMatchObject({ kind: 'granted', requests: { limit: 1, remaining: 0 } });
    });

    test('take no tokens, and pass while no more than the limit were used', async () => {
      await askTokens(100, 100);
      expect(await free({ tokensPerMinute: 100 })).toMatchObject({ kind: 'granted', tokens: { remaining: 0 } });
      expect(await free({ tokensPerMinute: 99 })).toMatchObject({ kind: 'refused', by: 'tokens' });
    });

    test('are not let through where a budget is overspent, or not known', async () => {
      const limits = { organizationCap: { amount: 10n, period: 'total' } } as const;
      expect(await free(limits)).toEqual({ kind: 'cold' });
      await store.counters.restore(ORGANIZATION, [], async () => spent(10n));
      expect(await free(limits)).toMatchObject({ kind: 'granted' });
      await store.counters.restore(ORGANIZATION, [], async () => spent(11n));
      expect(await free(limits)).toMatchObject({ kind: 'refused', by: 'cap' });
    });

    test('that cost something are none', async () => {
      await expect(hold(request('f', { amount: 1n, free: true }))).rejects.toThrow(RangeError);
      await expect(hold(request('f', { amount: 0n, tokens: 1, free: true }))).rejects.toThrow(RangeError);
    });
  });

  describe('both', () => {
    test('what tokens refuse uses no request, and the other way round', async () => {
      const both = (tokens: number) =>
        hold(request(`b${++calls}`, { tokens, requestsPerMinute: 2, tokensPerMinute: 100 }));
      expect(await both(60)).toMatchObject({ requests: { remaining: 1 }, tokens: { remaining: 40 } });
      expect(await both(60)).toMatchObject({ kind: 'refused', by: 'tokens', requests: { remaining: 1 } });
      expect(await both(10)).toMatchObject({ kind: 'granted', requests: { remaining: 0 }, tokens: { remaining: 30 } });
      expect(await both(10)).toMatchObject({ kind: 'refused', by: 'requests', tokens: { remaining: 30 } });
    });
  });
}
