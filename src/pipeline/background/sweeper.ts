import type { ByName } from '#/runtime/passing.ts';
import type { Ledger } from '#/ports/ledger.ts';
import type { LimitCounters, OpenHold, Settlement } from '#/ports/limit-counters.ts';
import type { OpenHolds } from '#/ports/open-holds.ts';
import { abandonedRow } from '#/seal/ended-row.ts';
import type { Fence, RowDraft } from '#/seal/ledger-writer.ts';
import { settlementOf } from '#/seal/row-text.ts';

export interface SweeperDeps {
  readonly counters: Pick<LimitCounters, 'takeOver'> & OpenHolds;
  readonly ledger: Ledger;
  readonly owner: string;
  readonly open: Pick<ByName<OpenHold>, 'has' | 'values'>;
  /** Ids of all organizations. */
  readonly organizations: () => readonly string[];
  /** Brings rows to the ledger that dead processes left on this machine. */
  readonly recover: () => Promise<void>;
  /** Whether rows of this process wait for the ledger to take them. */
  readonly behind: () => boolean;
  readonly seal: (draft: RowDraft) => void;
  readonly settle: (settlements: readonly Settlement[]) => void;
  readonly onFault: (error: unknown) => void;
  readonly onAbandoned: (holds: readonly OpenHold[]) => void;
}

/** Keeps this process' lease and closes the holds that dead processes left behind. States: `hold-state.ts`. */
export interface Sweeper extends Fence {
  /**
   * Settles calls whose rows were written. Those whose holds were another process' for a while may have been sealed by it
   * at another cost: they are settled by the row that counts.
   */
  settleWritten(settlements: readonly Settlement[]): void;
  /** Whether the hold of a call was another process' for a while, which may seal it at all that was held. */
  isContested(callId: string): boolean;
  /**
   * Renews the lease once and takes over what dead processes left, which is closed beside it. Rejects when the counters
   * can't be reached.
   */
  renew(): Promise<void>;
  start(): void;
  stop(): void;
}

const LEASE_MS = 15_000;
const RENEW_MS = 4000;
/** Past this age of the last renewal another process may soon take over: margin for a slow write. */
const FRESH_MS = 9000;
/** Twice as long as a job may wait and run. */
const MOST_RESUMED_MS = 48 * 3_600_000;
const LOOK_AGAIN_MS = 500;
const OWN_SWEEP_EVERY = 8;
const MOST_AT_ONCE = 1000;

export function createSweeper(deps: SweeperDeps): Sweeper {
  let renewedAt = -Infinity;
  let renewing: Promise<void> | undefined;
  let timer: NodeJS.Timeout | undefined;
  let ticks = 0;
  /** Calls that are being closed, or were handed to the ledger writer as abandoned: not to be handed over twice. */
  const closing = new Set<string>();
  /** Calls whose holds were another process' for a while, until they are closed. */
  const contested = new Set<string>();
  /** Holds that the last sweep found and no call knew. By then they may have belonged to calls just being debited. */
  let unknown: ReadonlySet<string> = new Set();
  /** A renewal or a closing failed: of what it took over, nobody may know. */
  let failed = false;
  let sweeping = false;

  function renew(): Promise<void> {
    renewing ??= renewOnce()
      .catch((error: unknown) => {
        failed = true;
        throw error;
      })
      .finally(() => (renewing = undefined));
    return renewing;
  }

  async function renewOnce(): Promise<void> {
    const at = performance.now();
    const { holds, missed } = await deps.counters.takeOver(deps.organizations(), deps.owner, LEASE_MS, () => [
      ...deps.open.values(),
    ]);
    renewedAt = at;
    for (const { callId } of holds) contested.add(callId);
    const [first] = missed.values();
    if (missed.size > 0) {
      failed = true;
      deps.onFault(new Error(`the holds of ${missed.size} organizations could not be looked at`, { cause: first }));
    }
    // A call of this process that is still going on seals itself. Closing may have to wait for the ledger, or for rows on
    // the disk to be replayed, for longer than a lease lasts: nobody may take this process for dead over it.
    void closeBeside(holds.filter(({ callId }) => !deps.open.has(callId)));
  }

  async function closeBeside(holds: readonly OpenHold[]): Promise<void> {
    await close(holds, closing, deps).catch((error: unknown) => {
      failed = true;
      deps.onFault(error);
    });
  }

  /** Closes holds of this process that no call of it knows, twice in a row: of debits and takeovers whose replies were lost. */
  async function sweepOwn(): Promise<void> {
    const before = unknown;
    const now = new Set<string>();
    const held = new Set<string>();
    failed = false;
    let fault: { readonly error: unknown } | undefined;
    for (const organization of deps.organizations()) {
      try {
        const holds = await deps.counters.allHolds(organization);
        for (const { callId } of holds) held.add(callId);
        const own = holds.filter(
          ({ callId, owner }) => owner === deps.owner && !closing.has(callId) && !deps.open.has(callId),
        );
        for (const { callId } of own) now.add(callId);
        await close(
          own.filter(({ callId }) => before.has(callId)),
          closing,
          deps,
        );
      } catch (error) {
        // The holds of the others are closed all the same.
        fault ??= { error };
      }
    }
    // What could not be looked at is looked at again before anything is forgotten.
    if (fault) for (const callId of before) now.add(callId);
    unknown = now;
    if (fault) throw fault.error;
    for (const ids of [closing, contested]) for (const callId of ids) if (!held.has(callId)) ids.delete(callId);
  }

  async function sweepBeside(): Promise<void> {
    sweeping = true;
    await sweepOwn().catch((error: unknown) => {
      failed = true;
      deps.onFault(error);
    });
    sweeping = false;
  }

  async function settleByRow(settlements: readonly Settlement[]): Promise<void> {
    for (;;) {
      try {
        const rows = await deps.ledger.find(settlements.map(({ callId }) => callId));
        const costs = new Map(rows.map(({ callId, cost }) => [callId, cost]));
        return deps.settle(settlements.map((one) => ({ ...one, cost: costs.get(one.callId) ?? one.cost })));
      } catch (error) {
        deps.onFault(error);
        await new Promise((resolve) => setTimeout(resolve, LOOK_AGAIN_MS).unref());
      }
    }
  }

  async function tick(): Promise<void> {
    try {
      await renew();
      const due = ++ticks % OWN_SWEEP_EVERY === 0 || failed || unknown.size > 0;
      // Without the ledger no hold can be closed, and there may be very many: they are not even looked at.
      if (due && !sweeping && !deps.behind()) void sweepBeside();
    } catch (error) {
      deps.onFault(error);
    }
  }

  return {
    renew,
    fresh: () => performance.now() - renewedAt < FRESH_MS,
    async reclaim(drafts) {
      await renew();
      return stillOurs(drafts, deps);
    },
    settleWritten(settlements) {
      if (contested.size === 0 && closing.size === 0) return deps.settle(settlements);
      const disputed = settlements.filter(({ callId }) => contested.has(callId) || closing.has(callId));
      deps.settle(settlements.filter((one) => !disputed.includes(one)));
      if (disputed.length > 0) void settleByRow(disputed);
    },
    isContested: (callId) => contested.has(callId) || closing.has(callId),
    start() {
      const next = (): void => {
        timer = setTimeout(() => void tick().then(() => timer && next()), RENEW_MS).unref();
      };
      next();
    },
    stop() {
      clearTimeout(timer);
      timer = undefined;
    },
  };
}

/** Settles holds whose rows exist, and seals the others as abandoned at the held amount. // design 2 */
async function close(holds: readonly OpenHold[], closing: Set<string>, deps: SweeperDeps): Promise<void> {
  if (holds.length === 0) return;
  const open = new Set(holds);
  for (const { callId } of holds) closing.add(callId);
  try {
    await deps.recover();
    for (let from = 0; from < holds.length; from += MOST_AT_ONCE) {
      const some = holds.slice(from, from + MOST_AT_ONCE);
      const rows = new Map((await deps.ledger.find(some.map((hold) => hold.callId))).map((row) => [row.callId, row]));
      const abandoned = some.filter((hold) => !rows.has(hold.callId) && !goesOn(hold, Date.now()));
      for (const hold of abandoned) {
        open.delete(hold);
        deps.seal(abandonedRow(hold));
      }
      deps.settle([...rows.values()].map(settlementOf));
      if (abandoned.length > 0) deps.onAbandoned(abandoned);
    }
  } finally {
    // What has a row, or could not be looked up, is found again should it stay open.
    for (const { callId } of open) closing.delete(callId);
  }
}

/** A job's hold is left as it is: whoever takes the job up again seals it. Only if nobody has for long, it is closed. */
function goesOn({ draft, at }: OpenHold, now: number): boolean {
  const { resumes } = JSON.parse(draft) as { readonly resumes?: boolean };
  return resumes === true && now - at < MOST_RESUMED_MS;
}

/** Drafts whose holds are still ours, or are gone without anyone having sealed the call. */
async function stillOurs(drafts: readonly RowDraft[], deps: SweeperDeps): Promise<readonly RowDraft[]> {
  const holds = new Map<string, OpenHold>();
  for (const [organization, own] of Map.groupBy(drafts, ({ row }) => row.organization)) {
    const found = await deps.counters.findHolds(
      organization,
      own.map(({ row }) => row.call_id),
    );
    for (const hold of found) holds.set(hold.callId, hold);
  }
  const sealed = new Set((await deps.ledger.find(drafts.map(({ row }) => row.call_id))).map((row) => row.callId));
  return drafts.filter(({ row }) => {
    const owner = holds.get(row.call_id)?.owner;
    return owner === undefined ? !sealed.has(row.call_id) : owner === deps.owner;
  });
}
