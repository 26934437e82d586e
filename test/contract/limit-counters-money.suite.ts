import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { HoldDecision, SpendLimit } from '#/ports/limit-counters.ts';
import { forward, type Store, type Subject } from './limit-counters-subjects.ts';
import { ORGANIZATION, openHold, request, spendOf, spent } from './limit-counters-world.ts';

const MOST = 2n ** 63n - 1n;
const budget = (amount: bigint, period: SpendLimit['period'] = 'total') => ({ workloadBudget: { amount, period } });
const cap = (amount: bigint, period: SpendLimit['period'] = 'total') => ({ organizationCap: { amount, period } });
const kinds = (decisions: readonly HoldDecision[]): string[] => decisions.map((decision) => decision.kind);
const count = (words: readonly string[], word: string): number => words.filter((other) => other === word).length;

/** Holds, settlements, budgets and caps. */
export function moneySuite(subject: Subject): void {
  let store: Store;
  const { hold, settle, restore, view } = forward(() => store);
  const spend = async (): Promise<Record<string, bigint>> => spendOf(await view(ORGANIZATION));
  const restoreAt = (amount: bigint): Promise<void> => restore(ORGANIZATION, [], async () => spent(amount));

  beforeEach(async () => {
    store = await subject.open();
  });
  afterEach(() => store.close());

  describe('holds and settlements', () => {
    test('a hold adds its amount to all six counters, its settlement leaves the cost', async () => {
      await restoreAt(0n);
      await hold(request('c1', { amount: 70n }));
      const six = (amount: bigint): Record<string, bigint> => ({
        'organization total': amount,
        'organization 2026-11-21': amount,
        'organization 2026-11': amount,
        'default/w1 total': amount,
        'default/w1 2026-11-21': amount,
        'default/w1 2026-11': amount,
      });
      expect(await spend()).toEqual(six(70n));
      expect(await settle([{ callId: 'c1', organization: ORGANIZATION, cost: 45n, tokens: 0 }])).toEqual(['settled']);
      expect(await spend()).toEqual(six(45n));
      expect((await view(ORGANIZATION)).holds).toEqual([]);
    });

    test.each([0n, 69n, 70n, 71n, 10n ** 18n])('a call held at 70 that cost %d leaves its cost', async (cost) => {
      await restoreAt(5n);
      await hold(request('c1', { amount: 70n }));
      await settle([{ callId: 'c1', organization: ORGANIZATION, cost, tokens: 0 }]);
      expect(new Set(Object.values(await spend()))).toEqual(new Set([5n + cost]));
    });

    test('an open hold is kept as it was asked, limits aside', async () => {
      const asked = request('c1', {
        workload: 'ünï/{code} %"\\',
        draft: '{"lines":\n\n"\u2028"}',
        amount: 2n ** 62n + 1n,
        tokens: 17,
        ...budget(MOST),
        requestsPerMinute: 5,
      });
      await restoreAt(0n);
      expect((await hold(asked)).kind).toBe('granted');
      expect((await view(ORGANIZATION)).holds).toEqual([openHold('c1', asked)]);
    });

    test('the same call twice is debited once', async () => {
      await restoreAt(0n);
      const asked = request('c1', {
        ...budget(100n),
        amount: 60n,
        requestsPerMinute: 1,
        tokensPerMinute: 9,
        tokens: 9,
      });
      const decisions = [await hold(asked), await hold(asked)];
      expect(kinds(decisions)).toEqual(['granted', 'granted']);
      expect(decisions[1]).toEqual(decisions[0]);
      expect((await spend())['organization total']).toBe(60n);
    });

    test('a settlement of a call that is not held is unknown and changes nothing', async () => {
      await restoreAt(8n);
      const settlement = { callId: 'c1', organization: ORGANIZATION, cost: 3n, tokens: 0 };
      expect(await settle([settlement])).toEqual(['unknown']);
      await hold(request('c1'));
      expect(await settle([settlement, settlement])).toEqual(['settled', 'unknown']);
      expect(await settle([settlement])).toEqual(['unknown']);
      expect((await spend())['organization total']).toBe(11n);
    });

    test('one batch settles calls of several organizations, each answered in its place', async () => {
      const other = 'default/other';
      await restoreAt(0n);
      await restore(other, [], async () => spent(0n));
      for (const i of [1, 2, 3]) {
        await hold(request(`a${i}`, { amount: 10n }));
        await hold(request(`b${i}`, { organization: other, amount: 10n }));
      }
      const of = (callId: string, organization: string) => ({ callId, organization, cost: 1n, tokens: 0 });
      const batch = [of('a1', ORGANIZATION), of('b1', other), of('x', other), of('a2', ORGANIZATION), of('a1', other)];
      expect(await settle(batch)).toEqual(['settled', 'settled', 'unknown', 'settled', 'unknown']);
      expect((await spend())['organization total']).toBe(12n);
      expect(spendOf(await view(other))['organization total']).toBe(21n);
    });

    test('a batch of thousands is settled', async () => {
      await restoreAt(0n);
      const ids = Array.from({ length: 1700 }, (_, i) => `c${i}`);
      await Promise.all(ids.map((id) => hold(request(id, { amount: 3n }))));
      const results = await settle(ids.map((callId) => ({ callId, organization: ORGANIZATION, cost: 2n, tokens: 0 })));
      expect(new Set(results)).toEqual(new Set(['settled']));
      expect((await spend())['organization total']).toBe(3400n);
      expect(await settle([])).toEqual([]);
    });

    test('a hold is settled in the periods it was held in', async () => {
      await restoreAt(0n);
      await hold(request('late', { amount: 10n }));
      const tomorrow = { day: '2026-11-22', month: '2026-11' };
      await restore(ORGANIZATION, [], async () => spent(0n, { periods: tomorrow }));
      await hold(request('early', { amount: 5n, periods: tomorrow }));
      await settle([{ callId: 'late', organization: ORGANIZATION, cost: 7n, tokens: 0 }]);
      expect(await spend()).toMatchObject({
        'organization total': 12n,
        'organization 2026-11': 12n,
        'organization 2026-11-21': 7n,
        'organization 2026-11-22': 5n,
      });
    });

    test.each([
      ['a negative amount', { amount: -1n }],
      ['an amount beyond 64 bits', { amount: 2n ** 63n }],
      ['a part of a token', { tokens: 0.5 }],
      ['a negative limit', { requestsPerMinute: -1 }],
      ['a limit that is no number', { tokensPerMinute: Number.NaN }],
    ])('refuses %s', async (_, overrides) => {
      await expect(hold(request('c1', overrides))).rejects.toThrow(RangeError);
      await expect(settle([{ callId: 'c1', organization: ORGANIZATION, cost: -1n, tokens: 0 }])).rejects.toThrow(
        RangeError,
      );
    });
  });

  describe('budgets and caps', () => {
    test.each(['total', 'daily', 'monthly'] as const)(
      '200 calls at once: a %s budget for 100 admits 100',
      async (period) => {
        await restoreAt(0n);
        const another = await store.another();
        const decisions = await Promise.all(
          Array.from({ length: 200 }, (_, i) =>
            (i % 2 ? store.counters : another).hold(request(`c${i}`, budget(100n, period))),
          ),
        );
        expect(count(kinds(decisions), 'granted')).toBe(100);
        expect(decisions.filter((decision) => decision.kind === 'refused' && decision.by === 'budget')).toHaveLength(
          100,
        );
        expect((await spend())['default/w1 total']).toBe(100n);
      },
    );

    test.each(['total', 'daily', 'monthly'] as const)('a %s cap is shared by the workloads', async (period) => {
      await restoreAt(0n);
      const decisions = await Promise.all(
        Array.from({ length: 60 }, (_, i) =>
          hold(request(`c${i}`, { workload: `default/w${i % 3}`, ...cap(20n, period) })),
        ),
      );
      expect(count(kinds(decisions), 'granted')).toBe(20);
      expect(decisions.at(-1)).toEqual({ kind: 'refused', by: 'cap' });
    });

    test('a budget is of one workload', async () => {
      await restoreAt(0n);
      const ask = (id: string, workload: string) => hold(request(id, { workload, ...budget(1n) }));
      expect(kinds([await ask('a', 'default/w1'), await ask('b', 'default/w2'), await ask('c', 'default/w1')])).toEqual(
        ['granted', 'granted', 'refused'],
      );
    });

    test.each([
      ['small', 100n],
      ['just above 2^53', 2n ** 53n + 1n],
      ['near 2^63', MOST - 3n],
    ])('the last nano-euro of a limit can be spent, not one more: %s', async (_, limit) => {
      await restoreAt(limit - 2n);
      expect(await hold(request('over', { amount: 3n, ...budget(limit) }))).toEqual({ kind: 'refused', by: 'budget' });
      expect(await hold(request('over', { amount: 3n, ...cap(limit) }))).toEqual({ kind: 'refused', by: 'cap' });
      expect((await hold(request('exact', { amount: 2n, ...budget(limit), ...cap(limit) }))).kind).toBe('granted');
      expect((await hold(request('free', { amount: 0n, ...budget(limit) }))).kind).toBe('granted');
      expect((await hold(request('one', { amount: 1n, ...budget(limit) }))).kind).toBe('refused');
    });

    test('amounts that a double cannot tell apart are told apart', async () => {
      await restoreAt(2n ** 60n);
      await hold(request('c1', { amount: 2n ** 60n + 1n }));
      await settle([{ callId: 'c1', organization: ORGANIZATION, cost: 2n ** 60n + 3n, tokens: 0 }]);
      expect((await spend())['organization total']).toBe(2n ** 61n + 3n);
      expect((await hold(request('c2', { amount: 1n, ...budget(2n ** 61n + 3n) }))).kind).toBe('refused');
      expect((await hold(request('c2', { amount: 1n, ...budget(2n ** 61n + 4n) }))).kind).toBe('granted');
    });

    test('amounts of different length are compared as numbers, not as text', async () => {
      await restoreAt(9n);
      expect((await hold(request('c1', { amount: 1n, ...budget(100n) }))).kind).toBe('granted');
      await restoreAt(1000n);
      expect((await hold(request('c2', { amount: 1n, ...budget(999n) }))).kind).toBe('refused');
      expect((await hold(request('c3', { amount: 1000n, ...budget(1n) }))).kind).toBe('refused');
    });

    test('a limit beyond 64 bits admits what counters can hold', async () => {
      await restoreAt(MOST - 10n);
      const limit = { ...budget(10n ** 30n), ...cap(10n ** 30n) };
      expect((await hold(request('c1', { amount: 11n, ...limit }))).kind).toBe('refused');
      expect((await hold(request('c1', { amount: 10n, ...limit }))).kind).toBe('granted');
    });

    test('without a limit, counters still never overflow', async () => {
      await restoreAt(MOST - 10n);
      expect((await hold(request('c1', { amount: 11n }))).kind).toBe('refused');
      expect((await hold(request('c1', { amount: 10n }))).kind).toBe('granted');
      expect(await settle([{ callId: 'c1', organization: ORGANIZATION, cost: MOST, tokens: 0 }])).toEqual(['settled']);
      expect((await spend())['organization total']).toBe(MOST);
    });

    test.each([
      ['budget', { ...budget(5n), ...cap(1000n) }],
      ['cap', { ...budget(1000n), ...cap(5n) }],
    ] as const)('what the %s refuses uses nothing of the other limits', async (by, limits) => {
      await restoreAt(0n);
      const rates = { requestsPerMinute: 2, tokensPerMinute: 100, tokens: 40 };
      await hold(request('c1', { ...rates, amount: 4n, ...limits }));
      const before = await view(ORGANIZATION);
      const refused = await hold(request('c2', { ...rates, amount: 2n, ...limits }));
      expect(refused).toMatchObject({ kind: 'refused', by, requests: { remaining: 1 }, tokens: { remaining: 60 } });
      expect(await view(ORGANIZATION)).toEqual(before);
      const next = await hold(request('c3', { ...rates, amount: 1n, ...limits }));
      expect(next).toMatchObject({ kind: 'granted', requests: { remaining: 0 }, tokens: { remaining: 20 } });
    });
  });

  describe('cold counters', () => {
    test('a limit whose counter was never restored is cold, and nothing is changed', async () => {
      for (const limit of [budget(9n), budget(9n, 'daily'), budget(9n, 'monthly'), cap(9n), cap(9n, 'daily')]) {
        expect(await hold(request('c1', { ...limit, requestsPerMinute: 1 }))).toEqual({ kind: 'cold' });
      }
      expect(await view(ORGANIZATION)).toMatchObject({ holds: [], spend: [] });
      expect((await hold(request('c1', { requestsPerMinute: 1 }))).kind).toBe('granted');
    });

    test('without spend limits nothing has to be restored; the hold counts once something is', async () => {
      expect((await hold(request('c1', { amount: 30n }))).kind).toBe('granted');
      expect(await spend()).toEqual({});
      await restoreAt(5n);
      expect((await spend())['default/w1 total']).toBe(35n);
    });

    test('after a restore a workload that nobody knows has spent nothing', async () => {
      await restoreAt(50n);
      const ask = (id: string) =>
        hold(request(id, { workload: 'default/new', amount: 6n, ...budget(10n), ...cap(100n) }));
      expect((await ask('c1')).kind).toBe('granted');
      expect(await ask('c2')).toEqual({ kind: 'refused', by: 'budget' });
      expect(await spend()).toMatchObject({ 'default/new total': 6n, 'organization total': 56n });
    });

    test('a new day and a new month are cold once; the total goes on', async () => {
      await restoreAt(50n);
      const nextDay = { day: '2026-11-22', month: '2026-11' };
      const nextMonth = { day: '2026-12-01', month: '2026-12' };
      const daily = (id: string, periods: typeof nextDay) => hold(request(id, { periods, ...budget(10n, 'daily') }));
      expect(await daily('c1', nextDay)).toEqual({ kind: 'cold' });
      expect(await hold(request('c2', { periods: nextMonth, ...cap(10n, 'monthly') }))).toEqual({ kind: 'cold' });
      expect((await hold(request('c3', { periods: nextMonth, ...budget(100n) }))).kind).toBe('granted');
      const today = { total: 51n, day: 9n, month: 51n };
      await restore(ORGANIZATION, [], async () => ({
        periods: nextDay,
        organization: today,
        workloads: new Map([['default/w1', today]]),
      }));
      expect((await daily('c1', nextDay)).kind).toBe('granted');
      expect((await daily('c4', nextDay)).kind).toBe('refused');
    });

    test('counters that are lost are cold, never at nothing', async () => {
      await restoreAt(99n);
      expect((await hold(request('c1', budget(100n)))).kind).toBe('granted');
      await store.lose();
      const decision = await hold(request('c2', budget(100n)));
      expect(decision).toEqual({ kind: 'cold' });
      expect((await view(ORGANIZATION)).spend).toEqual([]);
    });
  });
}
