import type { OpenHold, TakeOver } from '#/ports/limit-counters.ts';
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

/** What a renewal found. */
interface Found {
  /** The owners that are alive; undefined while that is unknown. */
  readonly live: ReadonlySet<string> | undefined;
  /** Organization -> why its holds could not be put back. */
  readonly missed: Map<string, unknown>;
}

/**
 * Renews the lease of `owner`, and puts its own holds back where the store may have lost data: each organization's for
 * itself, now or with a later renewal.
 */
export async function renewLease(store: Store, leases: Leases, who: Owner): Promise<Found> {
  const { live, doubtful, waitMs, store: name } = await leases.renew(who.owner, who.ttlMs);
  if (doubtful) {
    const everywhere = waitMs > 0;
    const own = who.own().map(({ organization }) => organization);
    for (const organization of [...(everywhere ? who.organizations : []), ...own])
      leases.owed.set(organization, everywhere || leases.owed.get(organization) === true);
    leases.noted(name);
  }
  return { live, missed: await putBack(store, leases, who) };
}

/**
 * Renews a lease and takes over the holds of dead owners. Nothing is taken before some owner has renewed without a
 * break for `ttlMs`: see lease.lua.
 */
export async function takeOverHolds(store: Store, leases: Leases, who: Owner): Promise<TakeOver> {
  const { live, missed } = await renewLease(store, leases, who);
  if (!live) return { holds: [], missed };
  const { organizations, owner, ttlMs } = who;
  const holds: OpenHold[] = [];
  await Promise.all(
    organizations.map(async (organization) => {
      try {
        const owners = (await runOn(store, 'owners', organization, [])) as readonly string[];
        if (owners.some((name) => !live.has(name)))
          await sweep(store, leases, { organization, owners, owner, ttlMs }, holds);
      } catch (error) {
        missed.set(organization, error);
      }
    }),
  );
  return { holds, missed };
}

/** Organization -> why it is still owed. */
async function putBack(store: Store, { owed }: Leases, who: Owner): Promise<Map<string, unknown>> {
  const missed = new Map<string, unknown>();
  if (owed.size === 0) return missed;
  const lost = Map.groupBy(who.own(), ({ organization }) => organization);
  const all = [...owed];
  // Not all at once: the last of them would wait for longer than a command may take.
  for (let from = 0; from < all.length; from += MOST_AT_ONCE) {
    const some = all.slice(from, from + MOST_AT_ONCE).map(async ([organization, everywhere]) => {
      try {
        await putBackOne(store, organization, lost.get(organization) ?? [], everywhere);
        owed.delete(organization);
      } catch (error) {
        missed.set(organization, error);
      }
    });
    await Promise.all(some);
  }
  return missed;
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

interface Swept extends Pick<Owner, 'owner' | 'ttlMs'> {
  readonly organization: string;
  /** Who may have holds there. */
  readonly owners: readonly string[];
}

/**
 * Adds to `taken` what it takes. Leases are asked after the holds are read: a hold is taken only if its owner was dead while the hold was there. The
 * script then checks that it still is that owner's.
 */
async function sweep(
  store: Store,
  leases: Leases,
  { organization, owners, owner, ttlMs }: Swept,
  taken: OpenHold[],
): Promise<void> {
  const holds = (await holdsOf(store, organization)) ?? [];
  const { live } = await leases.renew(owner, ttlMs);
  if (!live) return;
  const dead = owners.filter((name) => !live.has(name));
  const stray = holds.filter((hold) => !live.has(hold.owner));
  const names = [String(dead.length), ...dead.flatMap((name) => [name, encodeOwner(name)])];
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
}
