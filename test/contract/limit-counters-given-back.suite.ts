import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { HoldRequest } from '#/ports/limit-counters.ts';
import { forward, type Store, type Subject } from './limit-counters-subjects.ts';
import { ORGANIZATION, openHold, request, spendOf, spent } from './limit-counters-world.ts';

const budget = (amount: bigint) => ({ workloadBudget: { amount, period: 'total' } }) as const;
const cap = (amount: bigint) => ({ organizationCap: { amount, period: 'total' } }) as const;

/** Holds of calls that are over, whose rows are not durable yet. */
export function givenBackSuite(subject: Subject): void {
  let store: Store;
  const { hold, settle, restore, view } = forward(() => store);
  const spend = async (): Promise<Record<string, bigint>> => spendOf(await view(ORGANIZATION));
  const restoreAt = (amount: bigint): Promise<void> => restore(ORGANIZATION, [], async () => spent(amount));

  beforeEach(async () => {
    store = await subject.open();
  });
  afterEach(() => store.close());

  describe('what is given back', () => {
    test('a call that is over gives back what it did not use, and stays held at its cost', async () => {
      await restoreAt(0n);
      const asked = request('c1', {
        amount: 70n,
        tokensPerMinute: 100,
        tokens: 90,
        workload: 'ünï/{code} %"\\',
        draft: '{"lines":\n\n"\u2028"}',
        ...budget(100n),
      });
      expect((await hold(asked)).kind).toBe('granted');
      const ended = { callId: 'c1', organization: ORGANIZATION, cost: 45n, tokens: 20 };
      expect(await settle([{ ...ended, stays: true }], asked.owner)).toEqual(['settled']);
      expect(new Set(Object.values(await spend()))).toEqual(new Set([45n]));
      expect((await view(ORGANIZATION)).holds).toEqual([openHold('c1', { ...asked, amount: 45n, tokens: 20 })]);
      const next = await hold({ ...asked, callId: 'c2', amount: 55n, tokens: 80 });
      expect(next).toMatchObject({ kind: 'granted', tokens: { remaining: 0 } });
      expect(await settle([{ ...ended, stays: true }, ended, { ...ended, stays: true }])).toEqual([
        'settled',
        'settled',
        'unknown',
      ]);
      expect(new Set(Object.values(await spend()))).toEqual(new Set([100n]));
      expect((await view(ORGANIZATION)).holds.map(({ callId }) => callId)).toEqual(['c2']);
    });

    test('what another process has taken over is not given back, and a row may say another cost than was told', async () => {
      await restoreAt(0n);
      await hold(request('c1', { amount: 70n, owner: 'here' }));
      const ended = { callId: 'c1', organization: ORGANIZATION, cost: 45n, tokens: 0, stays: true } as const;
      expect(await settle([ended], 'elsewhere')).toEqual(['unknown']);
      expect((await spend())['organization total']).toBe(70n);
      // A provider may bill more than was held.
      expect(await settle([{ ...ended, cost: 10n ** 18n }], 'here')).toEqual(['settled']);
      expect((await spend())['organization total']).toBe(10n ** 18n);
      expect(
        await settle([
          { ...ended, cost: 0n },
          { callId: 'c1', organization: ORGANIZATION, cost: 3n, tokens: 0 },
        ]),
      ).toEqual(['settled', 'settled']);
      expect((await spend())['organization total']).toBe(3n);
    });
  });

  describe('a limit is near that would refuse the sixteenth call after', () => {
    test.each<[string, Partial<HoldRequest>, boolean]>([
      ['a budget', budget(160n), true],
      ['a budget with room', budget(260n), false],
      ['a cap', cap(169n), true],
      ['a cap that just suffices', { ...cap(260n), ...budget(10_000n) }, false],
      ['tokens per minute', { tokens: 10, tokensPerMinute: 159 }, true],
      ['tokens per minute that suffice', { tokens: 10, tokensPerMinute: 160 }, false],
      ['requests per minute, of which nothing is given back', { requestsPerMinute: 1 }, false],
      ['no limit', {}, false],
    ])('%s', async (_, limits, near) => {
      await restoreAt(100n);
      const decision = await hold(request('c1', { amount: 10n, ...limits }));
      expect(decision).toMatchObject({ kind: 'granted' });
      expect('near' in decision).toBe(near);
    });
  });
}
