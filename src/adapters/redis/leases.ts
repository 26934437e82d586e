import { CountersUnavailable } from '#ports/limit-counters.ts';
import { runOnLeases, type Store } from './store.ts';

/** What a renewal tells. */
export interface Renewal {
  /** The owners that are alive; undefined while that cannot be told. */
  readonly live: ReadonlySet<string> | undefined;
  /** The store's data are not those that this process knew: what it has in flight is to be put back. */
  readonly lost: boolean;
}

/** This process' lease, and what it knows of the store's data by it. */
export interface Leases {
  renew(owner: string, ttlMs: number): Promise<Renewal>;
  /** What this process has in flight was put back. */
  putBack(): void;
  /** Rejects with CountersUnavailable while other processes may still have to put back what a store has lost. */
  requireComplete(): Promise<void>;
}

/**
 * How long others are given, from when one has noticed that data are gone: longer than a process that is well needs to
 * connect anew and to renew its lease.
 */
const PUT_BACK_MS = 6000;

export function trackLeases(store: Store): Leases {
  let known = '';
  let current: { readonly name: string; readonly owner: string; readonly ttlMs: number } | undefined;

  async function ask(owner: string, ttlMs: number) {
    const args = [store.clock(), owner, String(ttlMs), known, String(PUT_BACK_MS)];
    const [certain, waitMs, name, ...live] = (await runOnLeases(store, args)) as [number, number, string, ...string[]];
    if (known === '') known = name;
    current = { name, owner, ttlMs };
    return { live: certain === 1 ? new Set(live) : undefined, waitMs };
  }

  return {
    async renew(owner, ttlMs) {
      const { live } = await ask(owner, ttlMs);
      return { live, lost: current?.name !== known };
    },
    putBack() {
      known = current?.name ?? known;
    },
    async requireComplete() {
      if (!current) return;
      const { waitMs } = await ask(current.owner, current.ttlMs);
      if (waitMs > 0) throw new CountersUnavailable('others may still put back what the store has lost');
    },
  };
}
