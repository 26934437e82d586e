import type { SealedRow } from './ledger.ts';
import type { Settlement } from './limit-counters.ts';

/** A sealed row, and its settlement, due once the ledger has it. */
export interface JournaledRow {
  readonly row: SealedRow;
  readonly settlement: Settlement | undefined;
}

/** Rows on this machine's disk that the ledger may lack, in the order they were sealed. */
export interface RowBacklog {
  /** The next rows, a batch of them; none at the end. The same ones again until they are `taken`. */
  next(): Promise<readonly JournaledRow[]>;
  /**
   * The ledger has the rows that `next` gave last, but for `refused`, which it will never take: these are on the disk, in a
   * file of their own, when it resolves. Disk is given back as rows go.
   */
  taken(refused?: readonly JournaledRow[]): Promise<void>;
}

/** Where rows wait while the ledger takes none: they outlive the process, on the disk of its machine. */
export interface RowJournal extends RowBacklog {
  /** Resolves once the rows are on the disk, after those that are there. Rejects, leaving none of them, when they can't be. */
  write(rows: readonly JournaledRow[]): Promise<void>;
  /** Takes over what processes have left that are dead now, each backlog by one process only. */
  inherit(): Promise<readonly RowBacklog[]>;
  state(): JournalState;
}

export interface JournalState {
  readonly bytes: number;
  /** Bytes from which on no more calls should begin. Rows of calls that have begun are still accepted. */
  readonly limit: number;
  /** Start of the oldest call whose row waits here, milliseconds since the epoch. */
  readonly oldest: number | undefined;
}
