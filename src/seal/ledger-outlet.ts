import { RowsDropped, type Ledger, type SealedRow } from '#/ports/ledger.ts';
import type { Settlement } from '#/ports/limit-counters.ts';
import type { JournaledRow, RowBacklog, RowJournal } from '#/ports/row-journal.ts';
import { settlementOf } from './row-text.ts';

/** Settles calls whose rows the ledger has. */
export interface Settling {
  settleWritten(settlements: readonly Settlement[]): void;
}

export interface LedgerOutletDeps {
  readonly ledger: Ledger;
  /** Absent: rows wait in memory. */
  readonly journal: RowJournal | undefined;
  readonly settling: Settling;
  readonly onFault: (error: unknown) => void;
  readonly onJournalFault: (error: unknown) => void;
  /** Rows have begun to wait in the journal, or the ledger has them all. */
  readonly onReplay: (state: 'begun' | 'ended') => void;
  /** So many rows that a dead process left were put aside: retention has dropped the rows of their time. */
  readonly onRefused: (rows: number) => void;
  /** How long the ledger may take for a batch before the journal takes it. */
  readonly stallMs?: number;
}

const STALL_MS = 2000;
const RETRY_MS = [50, 100, 250, 500, 1000, 2000] as const;

/**
 * Where sealed rows go: to the ledger while it takes them, else to the journal on disk, from which they are replayed in
 * order once it does. While the journal holds rows, later ones go after them.
 */
export class LedgerOutlet {
  readonly #deps: LedgerOutletDeps;
  /** A batch that the ledger has not answered yet: another is not sent before it has. */
  #unanswered: Promise<unknown> | undefined;
  /** Whether rows wait in the journal. */
  replaying = false;
  /** Ends when no rows wait in the journal. */
  #replay: Promise<void> | undefined;
  /** Batches that the journal has taken. */
  #kept = 0;
  #left: RowBacklog[] = [];
  #recovering: Promise<void> | undefined;
  #stopped = false;

  constructor(deps: LedgerOutletDeps) {
    this.#deps = deps;
  }

  /** Resolves when no rows wait in the journal, or the outlet is stopped. */
  async replayed(): Promise<void> {
    while (this.replaying && !this.#stopped) await this.#replay;
  }

  /** Resolves once the rows are durable, in the ledger or in the journal: for as long as it takes, or until stopped. */
  async write(batch: readonly JournaledRow[]): Promise<void> {
    for (let attempt = 0; !this.#stopped; attempt++) {
      if (!this.replaying && (await this.#append(batch))) return;
      if (await this.#keep(batch)) return;
      await pause(attempt);
    }
  }

  /**
   * Replays what dead processes have left on this machine. Rejects when the ledger or the disk does not let it; then it is
   * to be called again.
   */
  recover(): Promise<void> {
    this.#recovering ??= this.#recover().finally(() => (this.#recovering = undefined));
    return this.#recovering;
  }

  stop(): void {
    this.#stopped = true;
  }

  async #recover(): Promise<void> {
    if (!this.#deps.journal) return;
    for (const backlog of await this.#deps.journal.inherit()) this.#left.push(backlog);
    for (let backlog = this.#left[0]; backlog; backlog = this.#left[0]) {
      for (let rows = await backlog.next(); rows.length > 0; rows = await backlog.next()) {
        await this.#replayLeft(rows, backlog);
      }
      this.#left.shift();
    }
  }

  /** Whether the ledger has the rows. A batch that takes too long counts as failed, but may still be written. */
  async #append(batch: readonly JournaledRow[]): Promise<boolean> {
    const { ledger, settling, onFault, stallMs = STALL_MS } = this.#deps;
    if (this.#unanswered) return false;
    const rows: SealedRow[] = [];
    const settlements: Settlement[] = [];
    for (const { row, settlement } of batch) {
      rows.push(row);
      if (settlement) settlements.push(settlement);
    }
    const written = ledger.append(rows);
    const stalled = Promise.withResolvers<'stalled'>();
    const timer = setTimeout(() => stalled.resolve('stalled'), stallMs);
    try {
      if ((await Promise.race([written, stalled.promise])) === 'stalled') {
        this.#unanswered = written.catch(onFault).finally(() => (this.#unanswered = undefined));
        return false;
      }
    } catch (error) {
      onFault(error);
      return false;
    } finally {
      clearTimeout(timer);
    }
    settling.settleWritten(settlements);
    return true;
  }

  async #keep(batch: readonly JournaledRow[]): Promise<boolean> {
    const { journal, onJournalFault } = this.#deps;
    if (!journal) return false;
    try {
      await journal.write(batch);
    } catch (error) {
      onJournalFault(error);
      return false;
    }
    this.#kept += 1;
    if (!this.replaying) {
      this.#deps.onReplay('begun');
      this.replaying = true;
      this.#replay = this.#replayAll(journal);
    }
    return true;
  }

  async #replayAll(journal: RowJournal): Promise<void> {
    for (let attempt = 0; !this.#stopped;) {
      try {
        await this.#unanswered;
        const kept = this.#kept;
        const rows = await journal.next();
        if (rows.length > 0) {
          await this.#replayBatch(rows);
          await journal.taken();
          attempt = 0;
        } else if (kept === this.#kept) break;
      } catch (error) {
        this.#deps.onFault(error);
        await pause(attempt++);
      }
    }
    // No await since the journal was seen to be empty: a batch that comes later starts a new replay.
    this.replaying = false;
    if (!this.#stopped) this.#deps.onReplay('ended');
  }

  /** Rows that the ledger will never accept are set aside and reported. */
  async #replayLeft(rows: readonly JournaledRow[], backlog: RowBacklog): Promise<void> {
    try {
      await this.#replayBatch(rows, 'left');
      return await backlog.taken();
    } catch (error) {
      if (!(error instanceof RowsDropped)) throw error;
      const refused = rows.filter(({ row }) => error.callIds.has(row.callId));
      await this.#replayBatch(
        rows.filter(({ row }) => !error.callIds.has(row.callId)),
        'left',
      );
      await backlog.taken(refused);
      this.#deps.onRefused(refused.length);
    }
  }

  /** Rows may be in the ledger already, and calls may have been sealed by others: they are settled as the ledger has them. */
  async #replayBatch(rows: readonly JournaledRow[], from?: 'left'): Promise<void> {
    const { ledger, settling } = this.#deps;
    await ledger.append(
      rows.map(({ row }) => row),
      from,
    );
    const held = rows.filter(({ settlement }) => settlement);
    const sealed = await ledger.find(held.map(({ row }) => row.callId));
    const others = new Map(sealed.map((row) => [row.callId, row]));
    settling.settleWritten(
      held.flatMap(({ row, settlement }) => {
        const known = others.get(row.callId);
        return known && known.strand !== row.strand ? settlementOf(known) : (settlement ?? []);
      }),
    );
  }
}

function pause(attempt: number): Promise<void> {
  const wait = RETRY_MS[Math.min(attempt, RETRY_MS.length - 1)]!;
  return new Promise((resolve) => setTimeout(resolve, wait));
}
