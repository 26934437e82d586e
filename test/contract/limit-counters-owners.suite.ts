import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { LimitCounters, OpenHold } from '#/ports/limit-counters.ts';
import { forward, type Store, type Subject } from './limit-counters-subjects.ts';
import { openHold, ORGANIZATION, request, spent } from './limit-counters-world.ts';

const LEASE = 30_000;
const OTHER = 'default/other';

/** Leases, and taking over the holds of processes that died. */
export function ownersSuite(subject: Subject): void {
  let store: Store;
  const { hold, settle, view } = forward(() => store);
  const renew = async (owner: string, counters: LimitCounters = store.counters): Promise<readonly OpenHold[]> => {
    const { holds, missed } = await counters.takeOver([ORGANIZATION, OTHER], owner, LEASE);
    expect(missed).toEqual(new Map());
    return holds;
  };
  const ids = (holds: readonly OpenHold[]): string[] => holds.map((open) => open.callId).toSorted();

  /** `owner` renews for as long as it takes until the leases of dead owners have run out and count as such. */
  const outlive = async (owner: string, counters?: LimitCounters): Promise<OpenHold[]> => {
    const taken: OpenHold[] = [];
    for (let passed = 0; passed <= 3 * LEASE; passed += LEASE / 3) {
      taken.push(...(await renew(owner, counters)));
      store.advance(LEASE / 3);
    }
    return taken;
  };

  beforeEach(async () => {
    store = await subject.open();
  });
  afterEach(() => store.close());

  test('open holds are found by call, and listed', async () => {
    const { counters } = store;
    expect(await counters.findHolds(ORGANIZATION, [])).toEqual([]);
    for (const id of ['c1', 'c2', 'c3']) await hold(request(id));
    await hold(request('o1', { organization: OTHER }));
    await settle([{ callId: 'c2', organization: ORGANIZATION, cost: 0n, tokens: 0 }]);
    expect(await counters.findHolds(ORGANIZATION, ['c3', 'c2', 'o1', 'c1'])).toEqual([openHold('c3'), openHold('c1')]);
    expect(ids(await counters.allHolds(ORGANIZATION))).toEqual(['c1', 'c3']);
    expect(await counters.allHolds('default/none')).toEqual([]);
  });

  describe('takeOver', () => {
    test('takes the holds of an owner whose lease ran out, as they were', async () => {
      await renew('gateway-1');
      await hold(request('c1', { amount: 2n ** 60n + 1n, tokens: 12 }));
      await hold(request('c2', { organization: OTHER }));
      const taken = await outlive('gateway-2');
      expect(taken.toSorted((a, b) => a.callId.localeCompare(b.callId))).toEqual([
        openHold('c1', { amount: 2n ** 60n + 1n, tokens: 12, owner: 'gateway-2' }),
        openHold('c2', { organization: OTHER, owner: 'gateway-2' }),
      ]);
      expect((await view(ORGANIZATION)).holds[0]?.owner).toBe('gateway-2');
      expect(await renew('gateway-2')).toEqual([]);
    });

    test('never takes from an owner that renews', async () => {
      await renew('gateway-1');
      await hold(request('c1'));
      for (let passed = 0; passed < 4 * LEASE; passed += LEASE / 3) {
        store.advance(LEASE / 3);
        expect(await renew('gateway-2')).toEqual([]);
        expect(await renew('gateway-1')).toEqual([]);
      }
    });

    test('takes nothing of organizations that are not named', async () => {
      await renew('gateway-1');
      await hold(request('c1', { organization: 'default/unnamed' }));
      expect(await outlive('gateway-2')).toEqual([]);
    });

    test('each hold goes to exactly one of several takers', async () => {
      await renew('gateway-1');
      const all = Array.from({ length: 60 }, (_, i) => `c${i}`);
      await Promise.all(all.map((id, i) => hold(request(id, { organization: i % 2 ? ORGANIZATION : OTHER }))));
      const names = ['gateway-2', 'gateway-3', 'gateway-4'];
      const takers = await Promise.all(names.map(async (owner) => ({ owner, counters: await store.another() })));
      const taken: OpenHold[] = [];
      for (let passed = 0; passed <= 3 * LEASE; passed += LEASE / 3) {
        const rounds = await Promise.all(takers.map(({ owner, counters }) => renew(owner, counters)));
        for (const [i, holds] of rounds.entries()) for (const open of holds) expect(open.owner).toBe(names[i]);
        taken.push(...rounds.flat());
        store.advance(LEASE / 3);
      }
      expect(ids(taken)).toEqual(all.toSorted());
    });

    test('what was settled is not taken over, what was taken over can be settled', async () => {
      await renew('gateway-1');
      await hold(request('c1'));
      await hold(request('c2'));
      await settle([{ callId: 'c1', organization: ORGANIZATION, cost: 1n, tokens: 0 }]);
      expect(ids(await outlive('gateway-2'))).toEqual(['c2']);
      expect(await settle([{ callId: 'c2', organization: ORGANIZATION, cost: 1n, tokens: 0 }])).toEqual(['settled']);
    });

    test('a taker that dies is taken over from', async () => {
      await renew('gateway-1');
      await hold(request('c1'));
      expect(ids(await outlive('gateway-2'))).toEqual(['c1']);
      expect(ids(await outlive('gateway-3'))).toEqual(['c1']);
      expect((await view(ORGANIZATION)).holds[0]?.owner).toBe('gateway-3');
    });

    test('an owner that comes back holds anew, and loses nothing of that', async () => {
      await renew('gateway-1');
      await hold(request('c1'));
      expect(ids(await outlive('gateway-2'))).toEqual(['c1']);
      await renew('gateway-1');
      expect((await hold(request('c2'))).kind).toBe('granted');
      expect(await renew('gateway-2')).toEqual([]);
      expect((await view(ORGANIZATION)).holds).toHaveLength(2);
    });

    test('holds put back by a restore are taken over like others', async () => {
      await renew('gateway-1');
      await store.counters.restore(ORGANIZATION, [openHold('c1')], async () => spent(0n));
      expect(ids(await outlive('gateway-2'))).toEqual(['c1']);
    });

    test('holds of thousands are taken over', async () => {
      await renew('gateway-1');
      await Promise.all(Array.from({ length: 1200 }, (_, i) => hold(request(`c${i}`))));
      expect(await outlive('gateway-2')).toHaveLength(1200);
      expect(await outlive('gateway-2')).toHaveLength(0);
    });
  });
}
