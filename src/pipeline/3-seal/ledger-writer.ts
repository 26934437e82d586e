import { Idle } from '#pipeline/idle.ts';
import type { Ledger, SealedRow } from '#ports/ledger.ts';
import type { Settlement } from '#ports/limit-counters.ts';
import { canonicalRow, genesis, link } from './chain.ts';
import type { AuditRow } from './row.ts';

/** A row that has no place in the chain yet, and what is to be settled once it has. */
export interface RowDraft {
  readonly row: Omit<AuditRow, 'strand' | 'sequence'>;
  readonly settlement: Settlement | undefined;
}

/** Knows whether another process may have taken over this one's open calls while it was silent. */
export interface Fence {
  /** False when this process has not proved itself alive for too long to be sure. */
  fresh(): boolean;
  /** Proves itself alive again and returns the drafts that nobody else has sealed or will seal. */
  reclaim(drafts: readonly RowDraft[]): Promise<readonly RowDraft[]>;
}

export interface LedgerWriterDeps {
  readonly ledger: Ledger;
  /** This process' chain (UUID). */
  readonly strand: string;
  readonly fence: Fence;
  /** Called with the settlements of rows that are durable. */
  readonly onDurable: (settlements: readonly Settlement[]) => void;
  /** Called with each call that another process has sealed instead. */
  readonly onDropped: (callId: string) => void;
  readonly onFault: (error: unknown) => void;
  /** Rows kept while the ledger is down; beyond it nothing new is dispatched. */
  readonly maxPending?: number;
}

/** Seals rows into this process' strand and writes them in batches, in order, until they are durable. */
export interface LedgerWriter {
  enqueue(draft: RowDraft): void;
  /** Whether there is room for one more call's row. */
  readonly accepting: boolean;
  readonly pending: number;
  /** Rows of refused calls that found no room: the only ones ever given up. */
  readonly dropped: number;
  /** Resolves when all that was enqueued is durable, or at the deadline: true when nothing is left. */
  drain(deadlineMs: number): Promise<boolean>;
  stop(): void;
}

const MAX_BATCH = 500;
const MAX_PENDING = 20_000;
const GATHER_MS = 10;
const PARKED_MS = 500;
const RETRY_MS = [50, 100, 250, 500, 1000, 2000] as const;

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
  readonly #idle = new Idle();

  constructor(deps: LedgerWriterDeps) {
    this.#deps = deps;
    this.#maxPending = deps.maxPending ?? MAX_PENDING;
    this.#link = genesis(deps.strand);
  }

  get pending(): number {
    return this.#queue.length + this.#parked.length + this.#inFlight;
  }

  get accepting(): boolean {
    return this.pending < this.#maxPending;
  }

  enqueue(draft: RowDraft): void {
    // A dispatched call always has room, as has an answer from the cache: no more of them begin when there is none.
    // Refusals can come without end.
    const answered = draft.settlement !== undefined || draft.row.cache_hit !== 'none';
    if (!answered && this.pending >= 2 * this.#maxPending) {
      this.dropped++;
      return;
    }
    this.#queue.push(draft);
    this.#wake(GATHER_MS);
  }

  async drain(deadlineMs: number): Promise<boolean> {
    if (this.pending === 0) return true;
    await this.#idle.wait(deadlineMs);
    return this.pending === 0;
  }

  stop(): void {
    this.#stopped = true;
  }

  /** Rows that end within the same moments share one transaction. */
  #wake(inMs: number): void {
    if (this.#running || this.#stopped) return;
    this.#running = true;
    setTimeout(() => void this.#run(), inMs);
  }

  async #run(): Promise<void> {
    while (this.#queue.length > 0 && !this.#stopped) {
      const drafts = this.#queue.splice(0, MAX_BATCH);
      this.#inFlight = drafts.length;
      const ours = this.#deps.fence.fresh() ? drafts : await this.#reclaim(drafts);
      if (ours.length > 0) await this.#write(ours);
      this.#inFlight = 0;
    }
    this.#running = false;
    if (this.#parked.length > 0) {
      this.#queue = this.#parked.splice(0);
      this.#wake(PARKED_MS);
    } else this.#idle.rest();
  }

  /** Refusals are nobody else's to seal; dispatched calls wait when it can't be told. */
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
      this.#parked.push(...dispatched);
      return refusals;
    }
  }

  /** Repeats until it succeeds or the writer is stopped: a row that has its place in the chain must be written there. */
  async #write(drafts: readonly RowDraft[]): Promise<void> {
    const rows = drafts.map((draft) => this.#seal(draft));
    for (let attempt = 0; !this.#stopped; attempt++) {
      try {
        await this.#deps.ledger.append(rows);
        this.#deps.onDurable(drafts.flatMap((draft) => draft.settlement ?? []));
        return;
      } catch (error) {
        this.#deps.onFault(error);
        const wait = RETRY_MS[Math.min(attempt, RETRY_MS.length - 1)]!;
        await new Promise((resolve) => setTimeout(resolve, wait));
      }
    }
  }

  #seal({ row }: RowDraft): SealedRow {
    const { strand } = this.#deps;
    const sequence = ++this.#sequence;
    const text = canonicalRow({ ...row, strand, sequence });
    this.#link = link(this.#link, text);
    return {
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
  }
}
