import type { OpenHold } from '#ports/limit-counters.ts';
import { decodeHold, encodeOwner } from './open-hold.ts';
import { runOn, runOnLeases, type Store } from './store.ts';
import { holdsOf } from './view.ts';

const MOST_AT_ONCE = 500;

/**
 * Renews the lease of `owner` and takes over the holds of dead owners. Nothing is taken before somebody has renewed
 * without a break for `ttlMs`: see lease.lua.
 */
export async function takeOverHolds(
  store: Store,
  organizations: readonly string[],
  owner: string,
  ttlMs: number,
): Promise<readonly OpenHold[]> {
  const live = await renew(store, owner, ttlMs);
  if (!live) return [];
  const taken = await Promise.all(
    organizations.map(async (organization) => {
      const owners = (await runOn(store, 'owners', organization, [])) as readonly string[];
      return owners.some((name) => !live.has(name)) ? sweep(store, organization, owners, owner, ttlMs) : [];
    }),
  );
  return taken.flat();
}

/** The owners that are alive; undefined while that cannot be told. */
async function renew(store: Store, owner: string, ttlMs: number): Promise<ReadonlySet<string> | undefined> {
  const [known, ...live] = (await runOnLeases(store, [store.clock(), owner, String(ttlMs)])) as [number, ...string[]];
  return known === 1 ? new Set(live) : undefined;
}

/**
 * Leases are asked after the holds are read: a hold is taken only if its owner was dead while the hold was there. The
 * script then checks that it still is that owner's.
 */
async function sweep(
  store: Store,
  organization: string,
  owners: readonly string[],
  owner: string,
  ttlMs: number,
): Promise<OpenHold[]> {
  const holds = await holdsOf(store, organization);
  const live = await renew(store, owner, ttlMs);
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
