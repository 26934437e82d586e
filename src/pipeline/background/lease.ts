import type { Settler } from '#/meter/settlement/settler.ts';
import type { Ledger } from '#/ports/ledger.ts';
import type { LimitCounters, OpenHold, OpenHolds, Settlement } from '#/ports/limit-counters.ts';
import type { ByName } from '#/runtime/passing.ts';
import type { Fence, RowDraft } from '#/seal/ledger-writer.ts';

export interface LeaseDeps {
  readonly counters: Pick<LimitCounters, 'takeOver'> & Pick<OpenHolds, 'findHolds'>;
  readonly ledger: Ledger;
  /** This process, as the holder of its holds. */
  readonly owner: string;
  readonly open: Pick<ByName<OpenHold>, 'values'>;
  /** Ids of all organizations. */
  readonly organizations: () => readonly string[];
  readonly settler: Pick<Settler, 'settle'>;
  /** Told what a renewal took over from dead processes, and which organizations could not be asked about. */
  readonly onTakenOver: (holds: readonly OpenHold[], missed: ReadonlyMap<string, unknown>) => void;
  readonly onFault: (error: unknown) => void;
}

const LEASE_MS = 15_000;
/** Past this age of the last renewal another process may soon take over: margin for a slow write. */
const FRESH_MS = 9000;
const LOOK_AGAIN_MS = 500;

/** What says that this process is alive, so that its holds are its own. States of a call's money: `test/contract/hold-states/hold-state.ts`. */
export class Lease implements Fence {
  /** Calls whose holds were another process' for a while, until they are closed. */
  readonly contested = new Set<string>();
  /** Calls that are being closed, or were handed to the ledger writer as abandoned: not to be handed over twice. */
  readonly closing = new Set<string>();
  /** A renewal failed: what it took over may be unknown. */
  hasFailed = false;
  readonly #deps: LeaseDeps;
  #renewedAt = -Infinity;
  #renewing: Promise<void> | undefined;

  constructor(deps: LeaseDeps) {
    this.#deps = deps;
  }

  fresh(): boolean {
    return performance.now() - this.#renewedAt < FRESH_MS;
  }

  /** Resolves while this process has a lease. */
  async ensure(): Promise<void> {
    await this.renew().catch((error: unknown) => this.fresh() || Promise.reject(error as Error));
  }

  /** Renews it once and takes over what dead processes left. Rejects when the counters can't be reached. */
  renew(): Promise<void> {
    this.#renewing ??= this.#renewOnce();
    return this.#renewing;
  }

  /** Whether the hold of a call was another process' for a while, which may seal it at all that was held. */
  isContested(callId: string): boolean {
    return this.contested.has(callId) || this.closing.has(callId);
  }

  /** Drafts whose holds are still ours, or are gone without anyone having sealed the call. */
  async reclaim(drafts: readonly RowDraft[]): Promise<readonly RowDraft[]> {
    await this.renew();
    const { counters, ledger, owner } = this.#deps;
    const holds = new Map<string, OpenHold>();
    for (const [organization, own] of Map.groupBy(drafts, ({ row }) => row.organization)) {
      const found = await counters.findHolds(
        organization,
        own.map(({ row }) => row.call_id),
      );
      for (const hold of found) holds.set(hold.callId, hold);
    }
    const sealed = new Set((await ledger.find(drafts.map(({ row }) => row.call_id))).map((row) => row.callId));
    return drafts.filter(({ row }) => {
      const holder = holds.get(row.call_id)?.owner;
      return holder === undefined ? !sealed.has(row.call_id) : holder === owner;
    });
  }

  /**
   * Settles calls whose rows were written. Those whose holds were another process' for a while may have been sealed by it
   * at another cost: they are settled by the row that counts.
   */
  settleWritten(settlements: readonly Settlement[]): void {
    if (this.contested.size === 0 && this.closing.size === 0) return this.#deps.settler.settle(settlements);
    const disputed = settlements.filter(({ callId }) => this.isContested(callId));
    this.#deps.settler.settle(settlements.filter((one) => !disputed.includes(one)));
    if (disputed.length > 0) void this.#settleByRow(disputed);
  }

  async #renewOnce(): Promise<void> {
    const { counters, organizations, owner, open, onTakenOver } = this.#deps;
    const at = performance.now();
    try {
      const { holds, missed } = await counters.takeOver(organizations(), owner, LEASE_MS, () => [...open.values()]);
      this.#renewedAt = at;
      for (const { callId } of holds) this.contested.add(callId);
      onTakenOver(holds, missed);
    } catch (thrown) {
      this.hasFailed = true;
      throw thrown;
    } finally {
      this.#renewing = undefined;
    }
  }

  async #settleByRow(settlements: readonly Settlement[]): Promise<void> {
    const { ledger, settler, onFault } = this.#deps;
    for (;;) {
      try {
        const rows = await ledger.find(settlements.map(({ callId }) => callId));
        const costs = new Map(rows.map(({ callId, cost }) => [callId, cost]));
        return settler.settle(settlements.map((one) => ({ ...one, cost: costs.get(one.callId) ?? one.cost })));
      } catch (error) {
        onFault(error);
        await new Promise((resolve) => setTimeout(resolve, LOOK_AGAIN_MS).unref());
      }
    }
  }
}
