import { GatewayError } from '#/errors/gateway-error.ts';
import { Idle } from '#/runtime/idle.ts';
import type { Ledger } from '#/ports/ledger.ts';
import type { Settlement } from '#/ports/limit-counters.ts';
import type { JournaledRow, RowJournal } from '#/ports/row-journal.ts';
import { canonicalRow } from './row-text.ts';
import { genesis, link } from './chain.ts';
import { LedgerOutlet, type Settling } from './ledger-outlet.ts';
import type { StatedRow } from './row.ts';

/** A row without a place in the chain yet, and the settlement that follows once it has one. */
export interface RowDraft {
  readonly row: StatedRow;
  readonly settlement: Settlement | undefined;
}

/** Knows whether another process may have taken over this one's open calls while it was silent. */
export interface Fence extends Settling {
  /** False when this process has not proved itself alive for too long to be sure. */
  fresh(): boolean;
  /** Renews the lease, and returns the drafts that no other process has sealed or will seal. */
  reclaim(drafts: readonly RowDraft[]): Promise<readonly RowDraft[]>;
}

export interface LedgerWriterDeps {
  readonly ledger: Ledger;
  /** Keeps rows on disk while the ledger takes none; absent: they wait in memory. */
  readonly journal?: RowJournal;
  /** This process' chain (UUID). */
  readonly strand: string;
  readonly fence: Fence;
  /** Called with each call that another process has sealed instead. */
  readonly onDropped: (callId: string) => void;
  readonly onFault: (error: unknown) => void;
  readonly onJournalFault: (error: unknown) => void;
  /** Rows have begun to wait in the journal, or the ledger has them all. */
  readonly onReplay: (state: 'begun' | 'ended') => void;
  readonly onRefused: (rows: number) => void;
  /** Rows kept in memory; beyond it nothing new is dispatched. */
  readonly maxPending?: number;
}

/** Seals rows into this process' strand and writes them in batches, in order, until they are durable. */
export interface LedgerWriter {
  enqueue(draft: RowDraft): void;
  /** Throws `ledger_unavailable` where there is no room for one more call's row. */
  requireRoom(): void;
  /** Rows in memory: neither in the ledger nor in the journal. */
  readonly pending: number;
  /** Whether rows wait in the journal. */
  readonly replaying: boolean;
  /** Rows of refused calls that found no room: the only ones ever given up. */
  readonly dropped: number;
  /** Brings rows to the ledger that dead processes left in the journal. Rejects when it can't; then call it again. */
  recover(): Promise<void>;
  /** Resolves when the ledger has all that was enqueued, or at the deadline: true when nothing is left. */
  drain(deadlineMs: number): Promise<boolean>;
  stop(): void;
}

const MAX_BATCH = 500;
const MAX_PENDING = 20_000;
/** A batch costs as much as fifty rows of it: it is worth a moment of waiting, which no caller notices. */
const GATHER_MS = 100;
const PARKED_MS = 500;
/** How far beyond its limit the journal takes rows of refused calls. */
const REFUSALS_OVER = 1.25;

export function createLedgerWriter(deps: LedgerWriterDeps): LedgerWriter {
  return new Writer(deps);
}

class Writer implements LedgerWriter {
  dropped = 0;
  readonly #deps: LedgerWriterDeps;
  readonly #maxPending: number;
  #queue: RowDraft[] = [];
  /** Rows of dispatched calls that wait until they are known to be ours. */
  #parked: RowDraft[] = [];
  #inFlight = 0;
  #sequence = 0;
  #link: string;
  #running = false;
  #stopped = false;
  readonly #outlet: LedgerOutlet;
  readonly #idle = new Idle();

  constructor(deps: LedgerWriterDeps) {
    this.#deps = deps;
    this.#outlet = new LedgerOutlet({ ...deps, journal: deps.journal, settling: deps.fence });
    this.#maxPending = deps.maxPending ?? MAX_PENDING;
    this.#link = genesis(deps.strand);
  }

  get pending(): number {
    return this.#queue.length + this.#parked.length + this.#inFlight;
  }

  requireRoom(): void {
    if (this.pending < this.#maxPending && !(this.#outlet.replaying && this.#journalHolds(1))) return;
    throw new GatewayError('ledger_unavailable', 'The audit ledger is behind; nothing was sent.');
  }

  get replaying(): boolean {
    return this.#outlet.replaying;
  }

  recover(): Promise<void> {
    return this.#outlet.recover();
  }

  enqueue(draft: RowDraft): void {
    // A dispatched call and an answer from the cache always have room: without room, no new ones begin.
    // Refusals can come without end.
    const answered = draft.settlement !== undefined || draft.row.cache_hit !== 'none';
    if (
      !answered &&
      (this.pending >= 2 * this.#maxPending || (this.#outlet.replaying && this.#journalHolds(REFUSALS_OVER)))
    ) {
      this.dropped++;
      return;
    }
    this.#queue.push(draft);
    this.#wake(GATHER_MS);
  }

  async drain(deadlineMs: number): Promise<boolean> {
    const until = performance.now() + deadlineMs;
    if (this.pending > 0) await this.#idle.wait(deadlineMs);
    const left = Math.max(0, until - performance.now());
    await Promise.race([this.#outlet.replayed(), new Promise((resolve) => setTimeout(resolve, left).unref())]);
    return this.pending === 0 && !this.#outlet.replaying;
  }

  stop(): void {
    this.#stopped = true;
    this.#outlet.stop();
  }

  /** Whether the journal, in which rows wait, has reached so many times its limit. */
  #journalHolds(times: number): boolean {
    if (!this.#deps.journal) return false;
    const { bytes, limit } = this.#deps.journal.state();
    return bytes >= times * limit;
  }

  /** Rows that end within the same moments share one transaction. */
  #wake(inMs: number): void {
    if (this.#running || this.#stopped) return;
    this.#running = true;
    setTimeout(() => void this.#run(), inMs);
  }

  /** Full batches follow one another; a smaller rest waits for more of its kind. */
  async #run(): Promise<void> {
    do {
      const drafts = this.#queue.splice(0, MAX_BATCH);
      this.#inFlight = drafts.length;
      const ours = this.#deps.fence.fresh() ? drafts : await this.#reclaim(drafts);
      const sealed: JournaledRow[] = [];
      for (const draft of ours) sealed.push(this.#seal(draft));
      if (sealed.length > 0) await this.#outlet.write(sealed);
      this.#inFlight = 0;
    } while (this.#queue.length >= MAX_BATCH && !this.#stopped);
    this.#running = false;
    if (this.#parked.length > 0) {
      this.#queue = [...this.#parked.splice(0), ...this.#queue];
      this.#wake(PARKED_MS);
    } else if (this.#queue.length > 0) this.#wake(GATHER_MS);
    else if (this.#idle.isAwaited) this.#idle.rest();
  }

  /** No other process seals refusals; dispatched calls wait while the owner is unknown. */
  async #reclaim(drafts: readonly RowDraft[]): Promise<readonly RowDraft[]> {
    const refusals = drafts.filter((draft) => draft.settlement === undefined);
    const dispatched = drafts.filter((draft) => draft.settlement !== undefined);
    if (dispatched.length === 0) return refusals;
    try {
      const ours = await this.#deps.fence.reclaim(dispatched);
      for (const draft of dispatched) if (!ours.includes(draft)) this.#deps.onDropped(draft.row.call_id);
      return [...refusals, ...ours];
    } catch (error) {
      this.#deps.onFault(error);
      for (const one of dispatched) this.#parked.push(one);
      return refusals;
    }
  }

  /** A row that has its place in the chain must be written there. */
  #seal({ row, settlement }: RowDraft): JournaledRow {
    const { strand } = this.#deps;
    const sequence = ++this.#sequence;
    const text = canonicalRow(row, { strand, sequence });
    this.#link = link(this.#link, text);
    const sealed = {
      strand,
      sequence,
      callId: row.call_id,
      at: Date.parse(row.at),
      organization: row.organization,
      workload: row.workload,
      cost: BigInt(row.cost_nano_eur),
      row: text,
      link: this.#link,
    };
    return { row: sealed, settlement };
  }
}
