import { afterEach, beforeEach, expect, test } from 'vitest';
import type { SpendLimit } from '#/ports/limit-counters.ts';
import { forward, type Store, type Subject } from './limit-counters-subjects.ts';
import { ORGANIZATION, request, spendOf, spent } from './limit-counters-world.ts';

const budget = (amount: bigint) => ({ workloadBudget: total(amount) });
const cap = (amount: bigint) => ({ organizationCap: total(amount) });
const total = (amount: bigint): SpendLimit => ({ amount, period: 'total' });

/** Holds that are asked for in one turn of the event loop. */
export function turnSuite(subject: Subject): void {
  let store: Store;
  const { hold, restore, view } = forward(() => store);

  beforeEach(async () => {
    store = await subject.open();
  });
  afterEach(() => store.close());

  test('holds asked for at once are decided one after the other, each by its own limits', async () => {
    await restore(ORGANIZATION, [], async () => spent(0n));
    const one = { workload: 'default/w1', amount: 10n, ...budget(35n), ...cap(1000n) };
    const other = { workload: 'default/w2', amount: 7n, requestsPerMinute: 2, ...cap(1000n) };
    const asked = Array.from({ length: 12 }, (_, index) =>
      request(`c${index}`, { ...(index % 2 === 0 ? one : other), owner: `gateway-${index % 3}` }),
    );
    // One that is asked for twice, and one that has no room of its own.
    const all = [...asked, asked[0]!, request('huge', { ...one, amount: 36n })];
    const decided = await Promise.all(all.map((each) => hold(each)));
    const granted = all.filter((_, index) => decided[index]?.kind === 'granted').map(({ callId }) => callId);
    expect(granted.toSorted()).toEqual(['c0', 'c0', 'c1', 'c2', 'c3', 'c4']);
    expect(decided[11]).toMatchObject({ kind: 'refused', by: 'requests', requests: { limit: 2, remaining: 0 } });
    expect(decided[13]).toMatchObject({ kind: 'refused', by: 'budget' });
    const seen = await view(ORGANIZATION);
    expect(seen.holds.map(({ callId, owner }) => `${callId} ${owner}`).toSorted()).toEqual([
      'c0 gateway-0',
      'c1 gateway-1',
      'c2 gateway-2',
      'c3 gateway-0',
      'c4 gateway-1',
    ]);
    expect(spendOf(seen)).toMatchObject({
      'default/w1 total': 30n,
      'default/w2 total': 14n,
      'organization total': 44n,
    });
  });
}
