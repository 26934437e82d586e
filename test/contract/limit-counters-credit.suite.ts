import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Credit, Periods } from '#/ports/limit-counters.ts';
import { forward, type Store, type Subject } from './limit-counters-subjects.ts';
import { ORGANIZATION, openHold, PERIODS, request, spendOf, spent, TestLedger } from './limit-counters-world.ts';

const MOST = 2n ** 63n - 1n;
const BIG = 2n ** 62n;

/** Prepaid credit, days, marks, and what has closed. */
export function creditSuite(subject: Subject): void {
  let store: Store;
  const { hold, settle, restore, view } = forward(() => store);
  const prepaid = { prepaid: true } as const;
  const restoreWith = (amount: bigint, credit?: Credit): Promise<void> =>
    restore(ORGANIZATION, [], async () => spent(amount, credit && { credit }));
  const put = (number: number, sum: bigint): Promise<void> => store.counters.putCredit(ORGANIZATION, { number, sum });
  const kindOf = async (callId: string, overrides = {}): Promise<string> => {
    const decision = await hold(request(callId, { ...prepaid, ...overrides }));
    return decision.kind === 'refused' ? decision.by : decision.kind;
  };
  const total = async (): Promise<bigint | undefined> => spendOf(await view(ORGANIZATION))['organization total'];

  beforeEach(async () => {
    store = await subject.open();
  });
  afterEach(() => store.close());

  describe('prepaid credit', () => {
    test('without a counter, or without credit, a prepaid call is cold; a postpaid one is not', async () => {
      expect(await kindOf('c1')).toBe('cold');
      await put(1, 100n);
      expect(await kindOf('c1')).toBe('cold');
      await restoreWith(0n);
      expect(await kindOf('c1')).toBe('cold');
      expect((await hold(request('c2'))).kind).toBe('granted');
      await put(1, 100n);
      expect(await kindOf('c1')).toBe('granted');
      expect((await view(ORGANIZATION)).credit).toEqual({ number: 1, sum: 100n });
    });

    test.each([
      [100n, 0n, 100n],
      [100n, 30n, 70n],
      [BIG + 1n, BIG, 1n],
      [MOST, MOST - 5n, 5n],
      [0n, 0n, 0n],
    ])('of %d paid and %d spent, %d can be held and not one more', async (sum, before, fits) => {
      await restoreWith(before, { number: 3, sum });
      expect(await kindOf('more', { amount: fits + 1n })).toBe(sum === MOST ? 'budget' : 'credit');
      expect(await total()).toBe(before);
      expect(await kindOf('fits', { amount: fits })).toBe('granted');
      expect(await total()).toBe(sum);
      expect(await kindOf('late', { amount: 1n })).toBe(sum === MOST ? 'budget' : 'credit');
    });

    test('counts what other workloads spent and hold, and what a settlement gives back', async () => {
      await restoreWith(10n, { number: 1, sum: 100n });
      expect(await kindOf('a', { workload: 'default/w2', amount: 60n })).toBe('granted');
      expect(await kindOf('b', { amount: 31n })).toBe('credit');
      await settle([{ callId: 'a', organization: ORGANIZATION, cost: 59n, tokens: 0 }]);
      expect(await kindOf('b', { amount: 31n })).toBe('granted');
      expect(await total()).toBe(100n);
    });

    test('a refusal changes nothing, at any of the limits', async () => {
      await restoreWith(10n, { number: 1, sum: 100n });
      const before = await view(ORGANIZATION);
      const budget = { workloadBudget: { amount: 20n, period: 'total' } } as const;
      const cap = { organizationCap: { amount: 30n, period: 'daily' } } as const;
      expect(await kindOf('a', { amount: 95n, ...budget, ...cap })).toBe('budget');
      expect(await kindOf('a', { amount: 95n, ...cap })).toBe('cap');
      expect(await kindOf('a', { amount: 95n, requestsPerMinute: 1 })).toBe('credit');
      expect(await kindOf('a', { amount: 90n, requestsPerMinute: 1 })).toBe('granted');
      await settle([{ callId: 'a', organization: ORGANIZATION, cost: 0n, tokens: 0 }]);
      expect(spendOf(await view(ORGANIZATION))).toEqual(spendOf(before));
    });

    test('overdrawn credit, as after a correction, refuses calls that cost nothing too', async () => {
      await restoreWith(10n, { number: 1, sum: 100n });
      await put(2, 9n);
      expect(await kindOf('free', { amount: 0n })).toBe('credit');
      await put(3, -1n);
      expect(await kindOf('paid', { amount: 1n })).toBe('credit');
      await put(4, 10n);
      expect(await kindOf('free', { amount: 0n })).toBe('granted');
    });

    test('an older sum never takes the place of a newer one, whichever way it comes', async () => {
      await restoreWith(0n, { number: 2, sum: 50n });
      await put(1, 900n);
      expect((await view(ORGANIZATION)).credit).toEqual({ number: 2, sum: 50n });
      await put(10, 60n);
      await put(9, 900n);
      await restoreWith(0n, { number: 3, sum: 900n });
      expect((await view(ORGANIZATION)).credit).toEqual({ number: 10, sum: 60n });
      await restoreWith(0n);
      expect((await view(ORGANIZATION)).credit).toEqual({ number: 10, sum: 60n });
      await restoreWith(0n, { number: 11, sum: 70n });
      expect((await view(ORGANIZATION)).credit).toEqual({ number: 11, sum: 70n });
    });

    test('a sum that was wrong is put right by the entry it belongs to', async () => {
      await restoreWith(0n, { number: 2, sum: 50n });
      await put(2, 40n);
      expect((await view(ORGANIZATION)).credit).toEqual({ number: 2, sum: 40n });
    });

    test('is lost with the counters, and restored with them', async () => {
      await restoreWith(5n, { number: 2, sum: 50n });
      await store.lose();
      expect(await kindOf('a')).toBe('cold');
      await restoreWith(5n, { number: 2, sum: 50n });
      expect(await kindOf('a', { amount: 46n })).toBe('credit');
      expect(await kindOf('a', { amount: 45n })).toBe('granted');
    });

    test('the last of it is given away once, over two gateways', async () => {
      await restoreWith(0n, { number: 1, sum: 1000n });
      const other = await store.another();
      const decisions = await Promise.all(
        Array.from({ length: 60 }, (_, i) =>
          (i % 2 === 0 ? store.counters : other).hold(request(`c${i}`, { ...prepaid, amount: 33n })),
        ),
      );
      expect(decisions.filter((decision) => decision.kind === 'granted')).toHaveLength(30);
      expect(await total()).toBe(990n);
    });
  });

  describe('days', () => {
    test('gateways whose clocks disagree about the day keep both days to the nano-euro', async () => {
      const ledger = new TestLedger();
      const today = PERIODS;
      const tomorrow = { day: '2026-11-22', month: '2026-11' };
      const restoreOn = (periods: Periods): Promise<void> => {
        ledger.periods = periods;
        return restore(ORGANIZATION, [], async (open) => ledger.totals(open));
      };
      const daily = { workloadBudget: { amount: 50n, period: 'daily' } } as const;
      const close = async (callId: string, periods: Periods, cost: bigint): Promise<void> => {
        ledger.append(openHold(callId, { periods }), cost);
        await settle([{ callId, organization: ORGANIZATION, cost, tokens: 0 }]);
      };
      await restoreOn(today);
      expect((await hold(request('slow 1', { ...daily, amount: 40n }))).kind).toBe('granted');
      expect((await hold(request('fast 1', { ...daily, amount: 40n, periods: tomorrow }))).kind).toBe('cold');
      await restoreOn(tomorrow);
      expect((await hold(request('fast 1', { ...daily, amount: 40n, periods: tomorrow }))).kind).toBe('granted');
      // The slow one restores the day before while the fast one's call is open, and settles after midnight.
      await restoreOn(today);
      await close('slow 1', today, 35n);
      expect((await hold(request('slow 2', { ...daily, amount: 15n }))).kind).toBe('granted');
      expect((await hold(request('slow 3', { ...daily, amount: 1n }))).kind).toBe('refused');
      await close('fast 1', tomorrow, 30n);
      await close('slow 2', today, 15n);
      const after = await view(ORGANIZATION);
      expect(spendOf(after)).toEqual(ledger.expected(after));
      expect(spendOf(after)).toMatchObject({
        'organization total': 80n,
        'organization 2026-11-21': 50n,
        'organization 2026-11-22': 30n,
        'organization 2026-11': 80n,
      });
    });
  });

  describe('marks', () => {
    test('a name is claimed once until its time is over, by organization and name', async () => {
      const other = await store.another();
      expect(await store.counters.claim(ORGANIZATION, 'a {b} c', 60_000)).toBe(true);
      expect(await other.claim(ORGANIZATION, 'a {b} c', 60_000)).toBe(false);
      expect(await other.claim(ORGANIZATION, 'other', 60_000)).toBe(true);
      expect(await other.claim('default/other', 'a {b} c', 60_000)).toBe(true);
    });

    test('of many who claim at once, one has it', async () => {
      const claims = await Promise.all(
        Array.from({ length: 20 }, () => store.counters.claim(ORGANIZATION, 'x', 60_000)),
      );
      expect(claims.filter(Boolean)).toHaveLength(1);
    });

    test('what is kept stays claimed', async () => {
      expect(await store.counters.claim(ORGANIZATION, 'x', 60_000)).toBe(true);
      await store.counters.keep(ORGANIZATION, 'x', 120_000);
      expect(await store.counters.claim(ORGANIZATION, 'x', 60_000)).toBe(false);
      await store.lose();
      expect(await store.counters.claim(ORGANIZATION, 'x', 60_000)).toBe(true);
    });
  });

  describe('what has closed', () => {
    test('is told since the beginning of a minute, held or not, and not asked for is not told', async () => {
      await restoreWith(0n);
      for (const callId of ['a', 'b', 'c']) await hold(request(callId, { amount: 2n }));
      const close = (callId: string) => settle([{ callId, organization: ORGANIZATION, cost: 1n, tokens: 0 }]);
      await close('a');
      const first = await view(ORGANIZATION, Number.MAX_SAFE_INTEGER);
      expect(first.now).toBe(store.now());
      expect(first.closed).toEqual(['a']);
      store.advance(60_000);
      expect((await view(ORGANIZATION, Number.MAX_SAFE_INTEGER)).closed).toEqual([]);
      await close('b');
      await close('never held');
      const second = await view(ORGANIZATION, first.now);
      expect(new Set(second.closed)).toEqual(new Set(['a', 'b', 'never held']));
      expect(second.holds).toEqual([openHold('c', { amount: 2n })]);
      expect(await view(ORGANIZATION)).not.toHaveProperty('closed');
    });
  });
}
