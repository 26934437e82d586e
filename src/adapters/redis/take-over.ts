import type { OpenHold } from '#ports/limit-counters.ts';
import type { Leases } from './leases.ts';
import { decodeHold, encodeHold, encodeOwner } from './open-hold.ts';
import { runOn, type Store } from './store.ts';
import { holdsOf } from './view.ts';

const MOST_AT_ONCE = 500;

/** Whose lease is renewed, and what that is about. */
export interface Owner {
  readonly organizations: readonly string[];
  readonly owner: string;
  readonly ttlMs: number;
  /** What it has in flight. */
  readonly own: () => readonly OpenHold[];
}

/**
 * Renews the lease of `owner`, and puts its own holds back where the store may have lost data. Resolves with the owners
 * that are alive; undefined while that cannot be told.
 */
export async function renewLease(store: Store, leases: Leases, who: Owner): Promise<ReadonlySet<string> | undefined> {
  const renewal = await leases.renew(who.owner, who.ttlMs);
  if (renewal.doubtful) {
    await putBack(store, who.organizations, who.own(), renewal.waitMs > 0);
    leases.putBack(renewal.store);
  }
  return renewal.live;
}

/**
 * Renews a lease and takes over the holds of dead owners. Nothing is taken before somebody has renewed without a break
 * for `ttlMs`: see lease.lua.
 */
export async function takeOverHolds(store: Store, leases: Leases, who: Owner): Promise<readonly OpenHold[]> {
  const live = await renewLease(store, leases, who);
  if (!live) return [];
  const { organizations, owner, ttlMs } = who;
  const taken = await Promise.all(
    organizations.map(async (organization) => {
      const owners = (await runOn(store, 'owners', organization, [])) as readonly string[];
      return owners.some((name) => !live.has(name)) ? sweep(store, leases, organization, owners, owner, ttlMs) : [];
    }),
  );
  return taken.flat();
}

/** `everywhere`: in organizations too where this process has nothing in flight. */
async function putBack(
  store: Store,
  organizations: readonly string[],
  own: readonly OpenHold[],
  everywhere: boolean,
): Promise<void> {
  const lost = Map.groupBy(own, ({ organization }) => organization);
  const all = [...new Set([...(everywhere ? organizations : []), ...lost.keys()])];
  // Not all at once: the last of them would wait for longer than a command may take.
  for (let from = 0; from < all.length; from += MOST_AT_ONCE) {
    const some = all.slice(from, from + MOST_AT_ONCE);
    await Promise.all(
      some.map((organization) => putBackOne(store, organization, lost.get(organization) ?? [], everywhere)),
    );
  }
}

async function putBackOne(
  store: Store,
  organization: string,
  holds: readonly OpenHold[],
  everywhere: boolean,
): Promise<void> {
  for (let from = 0; from === 0 || from < holds.length; from += MOST_AT_ONCE) {
    const some = holds.slice(from, from + MOST_AT_ONCE);
    const args = some.flatMap((hold) => [hold.callId, hold.owner, encodeHold(hold)]);
    await runOn(store, 'put-back', organization, [store.clock(), everywhere ? '1' : '0', ...args]);
  }
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
  const holds = (await holdsOf(store, organization)) ?? [];
  const { live } = await leases.renew(owner, ttlMs);
  if (!live) return [];
  const dead = owners.filter((name) => !live.has(name));
  const stray = holds.filter((hold) => !live.has(hold.owner));
  const names = [String(dead.length), ...dead.flatMap((name) => [name, encodeOwner(name)])];
  const taken: OpenHold[] = [];
  for (let from = 0; from === 0 || from < stray.length; from += MOST_AT_ONCE) {
    const some = stray.slice(from, from + MOST_AT_ONCE);
    const pairs = some.flatMap((hold) => [hold.callId, encodeOwner(hold.owner)]);
    // Who has no hold left is looked for once, among all holds.
    const forget = from + MOST_AT_ONCE < stray.length ? ['0'] : names;
    const args = [owner, encodeOwner(owner), ...forget, ...pairs];
    const results = (await runOn(store, 'claim', organization, args)) as readonly (string | null)[];
    for (const [i, stored] of results.entries()) {
      if (stored !== null) taken.push(decodeHold(organization, some[i]!.callId, stored));
    }
  }
  return taken;
}
