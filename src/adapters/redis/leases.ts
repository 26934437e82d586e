import { CountersUnavailable } from '#/ports/limit-counters.ts';
import { runOnLeases, type Store } from './store.ts';

/** What a renewal tells. */
interface Renewal {
  /** The owners that are alive; undefined while that is unknown. */
  readonly live: ReadonlySet<string> | undefined;
  /** Which data answered: another name after a restart, a failover or a loss. */
  readonly store: string;
  /** It may have lost data that this process has not put back yet. */
  readonly doubtful: boolean;
  /** How long restoring is not allowed: other owners may still have holds to put back. */
  readonly waitMs: number;
}

/** This process' lease, and what it knows of the store by it. */
export interface Leases {
  renew(owner: string, ttlMs: number): Promise<Renewal>;
  /**
   * Organizations in which this process has not yet put back what the store may have lost: nothing may be debited there.
   * The value: counters are to go there also where nothing was lost.
   */
  readonly owed: Map<string, boolean>;
  /** The holds to put back there are `owed`. */
  noted(store: string): void;
  /** Rejects with CountersUnavailable while other processes may still have to put back what a server has lost. */
  requireComplete(): Promise<void>;
}

/**
 * How long others have to put holds back after a changed server was noticed: longer than a healthy process
 * needs to reconnect.
 */
const PUT_BACK_MS = 5000;

export function trackLeases(store: Store): Leases {
  let known = '';
  let lease: { readonly owner: string; readonly ttlMs: number } | undefined;

  async function renew(owner: string, ttlMs: number): Promise<Renewal> {
    lease = { owner, ttlMs };
    const args = [store.clock(), owner, String(ttlMs), known, String(PUT_BACK_MS)];
    const answer = (await runOnLeases(store, args)) as [number, number, string, ...string[]];
    const [certain, waitMs, name, ...live] = answer;
    const doubtful = known === '' ? waitMs > 0 : known !== name;
    if (!doubtful) known = name;
    return { live: certain === 1 ? new Set(live) : undefined, store: name, doubtful, waitMs };
  }

  return {
    renew,
    owed: new Map(),
    noted(name) {
      known = name;
    },
    async requireComplete() {
      if (!lease) return;
      const { waitMs } = await renew(lease.owner, lease.ttlMs);
      if (waitMs > 0) throw new CountersUnavailable('other processes may still be restoring what the store has lost');
    },
  };
}
