import fc from 'fast-check';
import { expect, inject, test } from 'vitest';
import type { LimitCounters, OpenHold } from '#/ports/limit-counters.ts';
import { memory, redis, type Store } from './limit-counters-subjects.ts';
import { ORGANIZATION, request, spent, TestLedger } from './limit-counters-world.ts';

/** What one step did, as plain data. */
type Act = (store: Store, ledger: TestLedger, index: number) => Promise<unknown>;

const BIG = [0n, 1n, 2n ** 53n - 1n, 2n ** 53n, 2n ** 62n, 2n ** 63n - 1n];
const amount = fc.oneof(fc.bigInt({ min: 0n, max: 30n }), fc.constantFrom(...BIG));
const limit = fc.record({
  amount: fc.oneof(fc.bigInt({ min: 0n, max: 200n }), fc.constantFrom(...BIG, 2n ** 70n)),
  period: fc.constantFrom('total', 'daily', 'monthly'),
});
const periods = fc.constantFrom(
  { day: '2026-11-21', month: '2026-11' },
  { day: '2026-11-22', month: '2026-11' },
  { day: '2026-12-01', month: '2026-12' },
);
const optional = <T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> =>
  fc.option(arbitrary, { nil: undefined });

const holding: fc.Arbitrary<Act> = fc
  .record({
    id: fc.nat({ max: 12 }),
    workload: fc.constantFrom('default/w1', 'default/w2'),
    periods,
    amount,
    tokens: fc.nat({ max: 60 }),
    requestsPerMinute: optional(fc.nat({ max: 6 })),
    tokensPerMinute: optional(fc.nat({ max: 150 })),
    workloadBudget: optional(limit),
    organizationCap: optional(limit),
    prepaid: optional(fc.constant(true as const)),
  })
  .map(({ id, ...asked }) => {
    const given = Object.fromEntries(Object.entries(asked).filter(([, value]) => value !== undefined));
    return ({ counters }) => counters.hold(request(`c${id}`, given));
  });

/** Several free calls at once, of which some may not fit. */
const passing: fc.Arbitrary<Act> = fc
  .record({
    calls: fc.integer({ min: 1, max: 5 }),
    periods,
    requestsPerMinute: optional(fc.nat({ max: 6 })),
    tokensPerMinute: optional(fc.nat({ max: 150 })),
    workloadBudget: optional(limit),
    organizationCap: optional(limit),
  })
  .map(({ calls, ...asked }) => {
    const given = Object.fromEntries(Object.entries(asked).filter(([, value]) => value !== undefined));
    const free = { ...given, amount: 0n, draft: '', free: true };
    return ({ counters }) =>
      Promise.all(Array.from({ length: calls }, (_, at) => counters.hold(request(`free${at}`, free))));
  });

const settling: fc.Arbitrary<Act> = fc
  .record({
    ids: fc.array(fc.nat({ max: 12 }), { minLength: 1, maxLength: 3 }),
    cost: amount,
    tokens: fc.nat({ max: 90 }),
  })
  .map(({ ids, cost, tokens }) => async ({ counters }, ledger) => {
    const open = new Map((await counters.view(ORGANIZATION)).holds.map((hold) => [hold.callId, hold]));
    const settlements = ids.map((id) => ({ callId: `c${id}`, organization: ORGANIZATION, cost, tokens }));
    for (const { callId } of settlements) {
      const hold = open.get(callId);
      if (hold) ledger.append(hold, cost);
    }
    return counters.settle(settlements);
  });

const waiting: fc.Arbitrary<Act> = fc
  .oneof(fc.nat({ max: 2_000 }), fc.nat({ max: 70_000 }), fc.integer({ min: -90_000, max: 0 }))
  .map((ms) => async (store) => store.advance(ms));

const restoring: fc.Arbitrary<Act> = fc
  .record({
    now: periods,
    lowers: fc.constantFrom('nothing', 'periods', 'everything'),
    /** Less than the counters know: as if rows had been lost. */
    without: fc.boolean(),
  })
  .map(({ now, lowers, without }) => async ({ counters }, ledger) => {
    ledger.periods = now;
    const read = async (open: readonly OpenHold[]) => (without ? spent(3n, { periods: now }) : ledger.totals(open));
    return counters.restore(ORGANIZATION, [], read, lowers);
  });

const paying: fc.Arbitrary<Act> = fc
  .record({ number: fc.nat({ max: 5 }), sum: fc.oneof(fc.bigInt({ min: -20n, max: 300n }), fc.constantFrom(...BIG)) })
  .map(
    (credit) =>
      ({ counters }) =>
        counters.putCredit(ORGANIZATION, credit),
  );

const losing: fc.Arbitrary<Act> = fc.constant(async (store, ledger) => {
  await store.lose();
  return store.counters.restore(ORGANIZATION, [], async (open) => ledger.totals(open));
});

const steps = fc.array(
  fc.oneof(
    { arbitrary: holding, weight: 12 },
    { arbitrary: passing, weight: 4 },
    { arbitrary: settling, weight: 5 },
    { arbitrary: waiting, weight: 4 },
    { arbitrary: restoring, weight: 2 },
    { arbitrary: paying, weight: 3 },
    { arbitrary: losing, weight: 1 },
  ),
  { minLength: 10, maxLength: 60, size: 'max' },
);

async function sorted(counters: LimitCounters): Promise<unknown> {
  const { holds, spend, credit } = await counters.view(ORGANIZATION);
  return {
    credit,
    holds: holds.toSorted((a, b) => a.callId.localeCompare(b.callId)),
    spend: spend.map(({ scope, period, amount: spent }) => `${scope} ${period} ${spent}`).toSorted(),
  };
}

test('in memory and in Redis, the same steps have the same outcomes', async () => {
  const inRedis = redis('Redis', () => inject('redisUrl'));
  await fc.assert(
    fc.asyncProperty(steps, async (acts) => {
      const stores = [await memory.open(), await inRedis.open()] as const;
      const ledgers = [new TestLedger(), new TestLedger()] as const;
      try {
        for (const [index, act] of acts.entries()) {
          const [here, there] = [await act(stores[0], ledgers[0], index), await act(stores[1], ledgers[1], index)];
          expect(there).toEqual(here);
          expect(await sorted(stores[1].counters)).toEqual(await sorted(stores[0].counters));
        }
      } finally {
        await Promise.all(stores.map((store) => store.close()));
      }
    }),
    { numRuns: 80 },
  );
});
