import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { CountersUnavailable, type OpenHold } from '#/ports/limit-counters.ts';
import { forward, type Store, type Subject } from './limit-counters-subjects.ts';
import {
  NOTHING,
  openHold,
  ORGANIZATION,
  PERIODS,
  request,
  spendOf,
  spent,
  TestGateway,
  TestLedger,
} from './limit-counters-world.ts';

const unlimited = { workloadBudget: { amount: 10n ** 15n, period: 'total' } } as const;
const turns = async (count: number): Promise<void> => {
  for (let i = 0; i < count; i++) await new Promise((resolve) => setImmediate(resolve));
};

/** Restoring spend counters from the ledger. */
export function restoreSuite(subject: Subject): void {
  let store: Store;
  const { hold, settle, restore, view } = forward(() => store);
  const spend = async (): Promise<Record<string, bigint>> => spendOf(await view(ORGANIZATION));
  const ids = (holds: readonly OpenHold[]): string[] => holds.map((open) => open.callId).toSorted();
  const settlement = (callId: string, cost = 1n) => ({ callId, organization: ORGANIZATION, cost, tokens: 0 });

  beforeEach(async () => {
    store = await subject.open();
  });
  afterEach(() => store.close());

  describe('restore', () => {
    test('sets counters to the ledger plus the open holds, and forgets workloads that have neither', async () => {
      await restore(ORGANIZATION, [], async () => spent(1000n));
      await hold(request('c1', { amount: 7n }));
      await hold(request('c2', { amount: 9n, workload: 'default/w2' }));
      await hold(request('c3', { amount: 4n, workload: 'default/w3' }));
      await settle([settlement('c3')]);
      await restore(ORGANIZATION, [], async (open) => {
        expect(ids(open)).toEqual(['c1', 'c2']);
        return spent(2n ** 60n + 1n);
      });
      const first = 2n ** 60n + 8n;
      const all = 2n ** 60n + 17n;
      expect(await spend()).toEqual({
        'organization total': all,
        'organization 2026-11-21': all,
        'organization 2026-11': all,
        'default/w1 total': first,
        'default/w1 2026-11-21': first,
        'default/w1 2026-11': first,
        'default/w2 total': 9n,
        'default/w2 2026-11-21': 9n,
        'default/w2 2026-11': 9n,
      });
    });

    test('a hold of an earlier period counts only where it belongs', async () => {
      await hold(request('yesterday', { amount: 10n, periods: { day: '2026-11-20', month: '2026-11' } }));
      await hold(request('last-month', { amount: 100n, periods: { day: '2026-10-31', month: '2026-10' } }));
      await restore(ORGANIZATION, [], async () => spent(1n));
      expect(await spend()).toMatchObject({
        'organization total': 111n,
        'organization 2026-11-21': 1n,
        'organization 2026-11': 11n,
        'default/w1 2026-11-21': 1n,
      });
    });

    test('while it reads, holds and settlements are busy and change nothing', async () => {
      await hold(request('c1', { amount: 5n }));
      await restore(ORGANIZATION, [], async () => {
        expect(await hold(request('c2'))).toEqual({ kind: 'busy' });
        expect(await hold(request('c1'))).toEqual({ kind: 'busy' });
        expect(await settle([settlement('c1'), settlement('c9')])).toEqual(['busy', 'busy']);
        expect(await hold(request('c3', { organization: 'default/other' }))).toMatchObject({ kind: 'granted' });
        return spent(0n);
      });
      expect((await spend())['organization total']).toBe(5n);
      expect(await settle([settlement('c1')])).toEqual(['settled']);
      expect((await hold(request('c2'))).kind).toBe('granted');
    });

    test('puts back those of the caller that are missing, and only those', async () => {
      await hold(request('c1', { amount: 5n, draft: 'as stored' }));
      const own = [openHold('c1', { amount: 500n }), openHold('c2', { amount: 30n, owner: 'gateway-2' })];
      await restore(ORGANIZATION, own, async (open) => {
        expect(open.toSorted((a, b) => a.callId.localeCompare(b.callId))).toEqual([
          openHold('c1', { amount: 5n, draft: 'as stored' }),
          own[1],
        ]);
        return spent(0n);
      });
      expect((await spend())['organization total']).toBe(35n);
      expect(await settle([settlement('c2', 1n)])).toEqual(['settled']);
      expect((await spend())['organization total']).toBe(6n);
    });

    test('does not put back what was settled a moment before, nor what a settlement did not find', async () => {
      await hold(request('c1', { amount: 5n }));
      const own = [openHold('c1', { amount: 5n }), openHold('c2')];
      await settle([settlement('c1'), settlement('c2')]);
      store.advance(59_000);
      await restore(ORGANIZATION, own, async (open) => {
        expect(open).toEqual([]);
        return spent(1n);
      });
      expect((await view(ORGANIZATION)).holds).toEqual([]);
    });

    test('does not put back what another process took over and settled', async () => {
      await hold(request('c1', { amount: 5n }));
      await (await store.another()).settle([settlement('c1')]);
      await restore(ORGANIZATION, [openHold('c1', { amount: 5n })], async () => spent(1n));
      expect((await view(ORGANIZATION)).holds).toEqual([]);
    });

    test('what was put back reserves no tokens', async () => {
      await restore(ORGANIZATION, [openHold('c1', { tokens: 900 })], async () => spent(0n));
      await hold(request('c2', { tokens: 100, tokensPerMinute: 1000 }));
      await settle([{ ...settlement('c1'), tokens: 0 }]);
      expect(await hold(request('c3', { tokens: 0, tokensPerMinute: 1000 }))).toMatchObject({
        tokens: { remaining: 900 },
      });
    });

    test('a read that fails ends the pause and changes nothing', async () => {
      await restore(ORGANIZATION, [], async () => spent(8n));
      const before = await spend();
      const failing = restore(ORGANIZATION, [], () => Promise.reject(new Error('ledger away')));
      await expect(failing).rejects.toThrow('ledger away');
      expect(await spend()).toEqual(before);
      expect((await hold(request('c1'))).kind).toBe('granted');
    });

    test('restores of one organization come one after the other', async () => {
      let reading = 0;
      const another = await store.another();
      const read = async () => {
        expect(++reading).toBe(1);
        await turns(5);
        reading--;
        return spent(3n);
      };
      await Promise.all(
        Array.from({ length: 6 }, (_, i) => (i % 2 ? another : store.counters).restore(ORGANIZATION, [], read)),
      );
      expect((await spend())['organization total']).toBe(3n);
    });

    test('one that outlasts its pause fails, changes nothing, and leaves a later one alone', async () => {
      const hasty = await subject.open({ pauseMs: 30 });
      try {
        await hasty.counters.restore(ORGANIZATION, [], async () => spent(8n));
        const slow = hasty.counters.restore(ORGANIZATION, [], async () => {
          await expect.poll(() => hasty.counters.hold(request('c1')).then(({ kind }) => kind)).toBe('granted');
          await hasty.counters.restore(ORGANIZATION, [], async () => spent(20n));
          return spent(999n);
        });
        await expect(slow).rejects.toBeInstanceOf(CountersUnavailable);
        expect(spendOf(await hasty.counters.view(ORGANIZATION))['organization total']).toBe(21n);
      } finally {
        await hasty.close();
      }
    });

    test('totals that nobody can hold are cut, not wrapped', async () => {
      await restore(ORGANIZATION, [openHold('c1')], async () =>
        spent(0n, { organization: { ...NOTHING, total: 2n ** 70n }, periods: PERIODS }),
      );
      expect((await spend())['organization total']).toBe(2n ** 63n - 1n);
    });

    test('lost data: what the caller has in flight is back after the restore', async () => {
      await restore(ORGANIZATION, [], async () => spent(40n));
      const asked = request('c1', { amount: 30n, ...unlimited });
      await hold(asked);
      await store.lose();
      expect(await hold(request('c2', unlimited))).toEqual({ kind: 'cold' });
      await restore(ORGANIZATION, [openHold('c1', asked)], async (open) => {
        expect(ids(open)).toEqual(['c1']);
        return spent(40n);
      });
      expect((await spend())['organization total']).toBe(70n);
    });
  });

  describe('restores among holds and settlements', () => {
    interface Step {
      readonly gateway: number;
      readonly kind: 'call' | 'leave open' | 'restore' | 'lose';
      readonly amount: number;
      readonly cost: number;
      readonly patience: number;
      readonly times: number;
      readonly workload: number;
    }
    const step = (kinds: readonly Step['kind'][]): fc.Arbitrary<Step> =>
      fc.record({
        gateway: fc.nat({ max: 1 }),
        kind: fc.constantFrom(...kinds),
        amount: fc.integer({ min: 1, max: 1000 }),
        cost: fc.nat({ max: 1000 }),
        patience: fc.nat({ max: 4 }),
        times: fc.integer({ min: 1, max: 3 }),
        workload: fc.nat({ max: 2 }),
      });
    const usual = ['call', 'call', 'call', 'leave open', 'restore'] as const;

    async function play(steps: readonly Step[]): Promise<void> {
      const world = await subject.open();
      try {
        const ledger = new TestLedger();
        const second = await world.another();
        const gateways = [world.counters, second].map((counters) => new TestGateway(counters, ledger, () => turns(1)));
        const playStep = async (one: Step, index: number): Promise<void> => {
          const gateway = gateways[one.gateway]!;
          await turns(one.patience * 3);
          if (one.kind === 'lose') return world.lose();
          if (one.kind === 'restore') return gateway.restore();
          const callId = `c${index}`;
          const held = await gateway.hold(
            request(callId, {
              owner: `gateway-${one.gateway}`,
              workload: `default/w${one.workload}`,
              amount: BigInt(one.amount),
              ...unlimited,
            }),
          );
          await turns(one.patience);
          if (held === 'granted' && one.kind === 'call') await gateway.finish(callId, BigInt(one.cost), one.times);
        };
        await Promise.all(steps.map(playStep));
        // After a loss each process puts its own back; without one, nothing may need mending.
        if (steps.some((one) => one.kind === 'lose')) for (const gateway of gateways) await gateway.restore();
        await gateways[0]!.hold(request('last', unlimited));
        const seen = await world.counters.view(ORGANIZATION);
        const left = steps.filter((one) => one.kind === 'leave open').length;
        expect(seen.holds).toHaveLength(left + 1);
        expect(seen.spend).toEqual(expect.arrayContaining([expect.objectContaining({ scope: 'organization' })]));
        expect(spendOf(seen)).toEqual(ledger.expected(seen));
      } finally {
        await world.close();
      }
    }

    test('counters are the ledger plus the open holds, whatever the order', async () => {
      await fc.assert(fc.asyncProperty(fc.array(step(usual), { minLength: 3, maxLength: 25 }), play), { numRuns: 40 });
    });

    test('also when the store loses its data in between', async () => {
      const steps = fc.array(step([...usual, 'lose']), { minLength: 3, maxLength: 25 });
      await fc.assert(fc.asyncProperty(steps, play), { numRuns: 40 });
    });

    test('a budget is never overspent by worst cases', async () => {
      const calls = fc.array(step(['call', 'leave open', 'restore']), { minLength: 20, maxLength: 40 });
      await fc.assert(
        fc.asyncProperty(calls, async (steps) => {
          const world = await subject.open();
          try {
            const ledger = new TestLedger();
            const gateway = new TestGateway(world.counters, ledger, () => turns(1));
            const budget = { workloadBudget: { amount: 3000n, period: 'daily' } } as const;
            const playStep = async (one: Step, index: number): Promise<void> => {
              if (one.kind === 'restore') return gateway.restore();
              const held = await gateway.hold(request(`c${index}`, { amount: BigInt(one.amount), ...budget }));
              const cost = BigInt(Math.min(one.cost, one.amount));
              if (held === 'granted' && one.kind === 'call') await gateway.finish(`c${index}`, cost);
            };
            await Promise.all(steps.map(playStep));
            const seen = await world.counters.view(ORGANIZATION);
            for (const sum of Object.values(ledger.expected(seen))) expect(sum).toBeLessThanOrEqual(3000n);
          } finally {
            await world.close();
          }
        }),
        { numRuns: 15 },
      );
    });
  });
}
