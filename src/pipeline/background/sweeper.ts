import type { ByName } from '#/runtime/passing.ts';
import type { Settler } from '#/meter/settlement/settler.ts';
import type { Ledger } from '#/ports/ledger.ts';
import type { OpenHold, OpenHolds } from '#/ports/limit-counters.ts';
import { abandonedRow } from '#/seal/ended-row.ts';
import type { RowDraft } from '#/seal/ledger-writer.ts';
import type { Lease } from './lease.ts';
import { settlementOf } from '#/seal/row-text.ts';

export interface SweeperDeps {
  readonly counters: Pick<OpenHolds, 'allHolds'>;
  readonly ledger: Ledger;
  readonly lease: Pick<Lease, 'renew' | 'closing' | 'contested' | 'hasFailed'>;
  readonly owner: string;
  readonly open: Pick<ByName<OpenHold>, 'has'>;
  /** Ids of all organizations. */
  readonly organizations: () => readonly string[];
  /** Brings rows to the ledger that dead processes left on this machine. */
  readonly recover: () => Promise<void>;
  /** Whether rows of this process wait for the ledger to take them. */
  readonly behind: () => boolean;
  readonly seal: (draft: RowDraft) => void;
  readonly settler: Pick<Settler, 'settle'>;
  readonly onFault: (error: unknown) => void;
  readonly onAbandoned: (holds: readonly OpenHold[]) => void;
}

const RENEW_MS = 4000;
/** Twice as long as a job may wait and run. */
const MOST_RESUMED_MS = 48 * 3_600_000;
const OWN_SWEEP_EVERY = 8;
const MOST_AT_ONCE = 1000;

/**
 * Keeps this process' lease and closes the holds that dead processes left behind. States:
 * `test/contract/hold-states/hold-state.ts`.
 */
export class Sweeper {
  readonly #deps: SweeperDeps;
  #timer: NodeJS.Timeout | undefined;
  #ticks = 0;
  /** Holds that the last sweep found and no call knew. By then they may have belonged to calls just being debited. */
  #unknown: ReadonlySet<string> = new Set();
  #isSweeping = false;

  constructor(deps: SweeperDeps) {
    this.#deps = deps;
  }

  start(): void {
    this.#timer = setTimeout(() => void this.#tick().then(() => this.#timer && this.start()), RENEW_MS).unref();
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  /** A renewal took these holds over: closes those that no call of this process knows, in the background. */
  takeOver(holds: readonly OpenHold[], missed: ReadonlyMap<string, unknown>): void {
    const [first] = missed.values();
    if (missed.size > 0)
      this.#fail(new Error(`the holds of ${missed.size} organizations could not be looked at`, { cause: first }));
    // A call of this process that is still going on seals itself. Closing may have to wait for the ledger, or for rows on
    // the disk to be replayed, for longer than a lease lasts: meanwhile the lease must not expire.
    const { open } = this.#deps;
    const ended = holds.filter(({ callId }) => !open.has(callId));
    void close(ended, this.#deps).catch((error: unknown) => this.#fail(error));
  }

  async #tick(): Promise<void> {
    const { lease, behind, onFault } = this.#deps;
    try {
      await lease.renew();
      const due = ++this.#ticks % OWN_SWEEP_EVERY === 0 || lease.hasFailed || this.#unknown.size > 0;
      // Without the ledger no hold can be closed, and there may be very many: they are not even looked at.
      if (due && !this.#isSweeping && !behind()) void this.#sweepBeside();
    } catch (error) {
      onFault(error);
    }
  }

  async #sweepBeside(): Promise<void> {
    this.#isSweeping = true;
    await this.#sweepOwn().catch((error: unknown) => this.#fail(error));
    this.#isSweeping = false;
  }

  /** Closes holds of this process that no call of it knows, twice in a row: of debits and takeovers whose replies were lost. */
  async #sweepOwn(): Promise<void> {
    const { counters, lease, owner, open, organizations } = this.#deps;
    const { closing, contested } = lease;
    const before = this.#unknown;
    const now = new Set<string>();
    const held = new Set<string>();
    lease.hasFailed = false;
    let fault: { readonly error: unknown } | undefined;
    for (const organization of organizations()) {
      try {
        const holds = await counters.allHolds(organization);
        for (const { callId } of holds) held.add(callId);
        const own = holds.filter((hold) => hold.owner === owner && !closing.has(hold.callId) && !open.has(hold.callId));
        for (const { callId } of own) now.add(callId);
        const again = own.filter(({ callId }) => before.has(callId));
        await close(again, this.#deps);
      } catch (error) {
        // The holds of the others are still closed.
        fault ??= { error };
      }
    }
    // What could not be looked at is looked at again before anything is forgotten.
    if (fault) for (const callId of before) now.add(callId);
    this.#unknown = now;
    if (fault) throw fault.error;
    for (const ids of [closing, contested]) for (const callId of ids) if (!held.has(callId)) ids.delete(callId);
  }

  #fail(error: unknown): void {
    this.#deps.lease.hasFailed = true;
    this.#deps.onFault(error);
  }
}

/** Settles holds whose rows exist, and seals the others as abandoned at the held amount. // design 2 */
async function close(holds: readonly OpenHold[], deps: SweeperDeps): Promise<void> {
  if (holds.length === 0) return;
  const { closing } = deps.lease;
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
      deps.settler.settle([...rows.values()].map(settlementOf));
      if (abandoned.length > 0) deps.onAbandoned(abandoned);
    }
  } finally {
    // Calls that have a row, or could not be looked up, are found again if they stay open.
    for (const { callId } of open) closing.delete(callId);
  }
}

/**
 * A job's hold stays: the process that resumes the job seals it. It is closed only if no process has resumed it for
 * long.
 */
function goesOn({ draft, at }: OpenHold, now: number): boolean {
  const { resumes } = JSON.parse(draft) as { readonly resumes?: boolean };
  return resumes === true && now - at < MOST_RESUMED_MS;
}
