import { expect, test } from 'vitest';
import { openMemoryCounters } from '#/adapters/memory/limit-counters.ts';
import type { OrganizationConfig } from '#/config/snapshot.ts';
import type { OpenHold, Settlement } from '#/ports/limit-counters.ts';
import { openHold, request, spent } from '../../../test/contract/limit-counters-world.ts';
import { createSettler } from './settler.ts';

const [SLOW, WELL] = ['default/slow', 'default/well'];

/** Counters with two open calls an organization, and a settler whose restores of the slow one go as `restore` does. */
async function world(restore: () => Promise<void>) {
  const counters = openMemoryCounters();
  const open = new Map<string, OpenHold>();
  for (const organization of [SLOW, WELL]) {
    await counters.restore(organization, [], async () => spent(0n));
    for (const name of ['a', 'b']) {
      const hold = openHold(`${organization} ${name}`, { organization });
      await counters.hold(request(hold.callId, hold));
      open.set(hold.callId, hold);
    }
  }
  const faults: unknown[] = [];
  const settler = createSettler({
    counters,
    restorer: { restoreAfresh: ({ id }) => (id === SLOW ? restore() : Promise.resolve()) },
    open,
    owner: 'gateway-1',
    organization: (id) => ({ id }) as OrganizationConfig,
    onFault: (error) => faults.push(error),
  });
  const settlement = (organization: string, name: string): Settlement => ({
    callId: `${organization} ${name}`,
    organization,
    cost: 1n,
    tokens: 0,
  });
  return { counters, open, settler, settlement, faults };
}

test('an organization whose counters are rebuilt keeps no other waiting', async () => {
  const restoring = Promise.withResolvers<void>();
  let asked = 0;
  const { settler, settlement, open } = await world(() => {
    asked++;
    return restoring.promise;
  });
  settler.settle([settlement(SLOW, 'unheard of'), settlement(WELL, 'a')]);
  await expect.poll(() => asked).toBe(1);
  settler.settle([settlement(SLOW, 'a'), settlement(WELL, 'b')]);
  await expect.poll(() => [...open.keys()]).toEqual([`${SLOW} a`, `${SLOW} b`]);
  expect(settler.pending).toBe(1);
  restoring.resolve();
  expect(await settler.drain(5000)).toBe(true);
  expect([...open.keys()]).toEqual([`${SLOW} b`]);
  expect(settler.pending).toBe(0);
});

test('a rebuild that fails is tried until it succeeds, and what is to be settled meanwhile is', async () => {
  let tries = 0;
  const { settler, settlement, open, faults } = await world(async () => {
    if (++tries < 3) throw new Error('the ledger is away');
  });
  settler.settle([settlement(SLOW, 'unheard of')]);
  await expect.poll(() => tries).toBeGreaterThan(0);
  settler.settle([settlement(SLOW, 'a')]);
  expect(await settler.drain(5000)).toBe(true);
  expect(tries).toBe(3);
  expect(open.has(`${SLOW} a`)).toBe(false);
  expect(faults.length).toBeGreaterThan(0);
});

test('settlements that come during a pause are asked again until it is over; the others at once', async () => {
  const { settler, settlement, counters, open } = await world(() => Promise.resolve());
  const reading = Promise.withResolvers<void>();
  const restored = counters.restore(SLOW, [], async () => {
    await reading.promise;
    return spent(0n);
  });
  settler.settle([settlement(SLOW, 'a'), settlement(WELL, 'a')]);
  await expect.poll(() => open.has(`${WELL} a`)).toBe(false);
  settler.settle([settlement(WELL, 'b')]);
  await expect.poll(() => open.has(`${WELL} b`)).toBe(false);
  expect(open.has(`${SLOW} a`)).toBe(true);
  reading.resolve();
  await restored;
  expect(await settler.drain(5000)).toBe(true);
  expect(open.has(`${SLOW} a`)).toBe(false);
});

test('at the deadline it says that something is left', async () => {
  const { settler, settlement } = await world(() => new Promise(() => {}));
  settler.settle([settlement(SLOW, 'unheard of')]);
  expect(await settler.drain(20)).toBe(false);
  settler.stop();
});
