import type { OpenHold } from '#ports/limit-counters.ts';
import type { Leases } from './leases.ts';
import { decodeHold, decodeHolds, encodeHold, encodeOwner } from './open-hold.ts';
import { runOn, type Store } from './store.ts';

const MOST_AT_ONCE = 500;

/**
 * Renews the lease of `owner`, puts `own` holds back where the store has lost its data, and takes over the holds of dead
 * owners. Nothing is taken before somebody has renewed without a break for `ttlMs`: see lease.lua.
 */
export async function takeOverHolds(
  store: Store,
  leases: Leases,
  organizations: readonly string[],
  owner: string,
  ttlMs: number,
  own: () => readonly OpenHold[],
): Promise<readonly OpenHold[]> {
  const { live, lost } = await leases.renew(owner, ttlMs);
  if (lost) {
    await putBack(store, own());
    leases.putBack();
  }
  if (!live) return [];
  const taken = await Promise.all(
    organizations.map(async (organization) => {
      const owners = (await runOn(store, 'owners', organization, [])) as readonly string[];
      return owners.some((name) => !live.has(name)) ? sweep(store, leases, organization, owners, owner, ttlMs) : [];
    }),
  );
  return taken.flat();
}

async function putBack(store: Store, own: readonly OpenHold[]): Promise<void> {
  const byOrganization = [...Map.groupBy(own, ({ organization }) => organization)];
  await Promise.all(
    byOrganization.map(async ([organization, holds]) => {
      for (let from = 0; from < holds.length; from += MOST_AT_ONCE) {
        const some = holds.slice(from, from + MOST_AT_ONCE);
        const lost = some.flatMap((hold) => [hold.callId, hold.owner, encodeHold(hold)]);
        await runOn(store, 'put-back', organization, [store.clock(), ...lost]);
      }
    }),
  );
}

/**
 * Leases are asked after the holds are read: a hold is taken only if its owner was dead while the hold was there. The
 * script then checks that it still is that owner's.
 */
async function sweep(
  store: Store,
  leases: Leases,
  organization: string,
  owners: readonly string[],
  owner: string,
  ttlMs: number,
): Promise<OpenHold[]> {
  const [flat] = (await runOn(store, 'view', organization, [])) as readonly [readonly string[]];
  const holds = decodeHolds(organization, flat);
  const { live } = await leases.renew(owner, ttlMs);
  if (!live) return [];
  const dead = owners.filter((name) => !live.has(name));
  const stray = holds.filter((hold) => !live.has(hold.owner));
  const head = [owner, encodeOwner(owner), String(dead.length), ...dead.flatMap((name) => [name, encodeOwner(name)])];
  const taken: OpenHold[] = [];
  for (let from = 0; from === 0 || from < stray.length; from += MOST_AT_ONCE) {
    const some = stray.slice(from, from + MOST_AT_ONCE);
    const pairs = some.flatMap((hold) => [hold.callId, encodeOwner(hold.owner)]);
    const results = (await runOn(store, 'claim', organization, [...head, ...pairs])) as readonly (string | null)[];
    for (const [i, stored] of results.entries()) {
      if (stored !== null) taken.push(decodeHold(organization, some[i]!.callId, stored));
    }
  }
  return taken;
}
