import type { OpenHold, SpendTotals } from './limit-counters.ts';
import type { NanoEuro } from '#/values/money.ts';

/** One row of the audit ledger, linked into its strand. The text is the evidence; the other columns repeat it for queries. */
export interface SealedRow {
  /** The chain this row belongs to: one per gateway process (UUID). */
  readonly strand: string;
  /** Position in the strand, from 1 without gaps. */
  readonly sequence: number;
  /** UUIDv7 of the call; at most one row a call. */
  readonly callId: string;
  /** Start of the call, milliseconds since the epoch. */
  readonly at: number;
  readonly organization: string;
  readonly workload: string;
  readonly cost: NanoEuro;
  /** RFC 8785 canonical JSON of the row (`AuditRow`); what the link hashes. */
  readonly row: string;
  /** 32 bytes as hex: SHA-256(link of the row before || SHA-256(row)). */
  readonly link: string;
  /** The call had been sealed by another strand before: the row is kept for its own strand's sake, and not counted. */
  readonly superseded?: true;
}

/** Rows that would count again what retention has dropped. */
export class RowsDropped extends Error {
  override readonly name = 'RowsDropped';
  readonly callIds: ReadonlySet<string>;

  constructor(callIds: ReadonlySet<string>) {
    super(`retention has dropped the rows of the time of ${callIds.size} calls`);
    this.callIds = callIds;
  }
}

/** The audit ledger: append-only rows, and the questions money and evidence ask of it. */
export interface Ledger {
  /**
   * Writes rows durably in one transaction. A row that is already there (same call) is left as it is; when it belongs
   * to another strand, the new one is kept as `superseded`. A strand's batches are to be sent one after the other. `left`:
   * rows that a dead process left; rejects with `RowsDropped`, and writes none, when some are of a time that retention has
   * dropped: it is unknown whether they, or others of their calls, were among the dropped rows.
   */
  append(rows: readonly SealedRow[], from?: 'left'): Promise<void>;
  /** Spend of an organization in the periods that `now` falls in, in `timeZone`, leaving out the calls in `open`. */
  totals(organization: string, timeZone: string, now: number, open: readonly OpenHold[]): Promise<SpendTotals>;
  /** The rows of these calls that exist. */
  find(callIds: readonly string[]): Promise<readonly SealedRow[]>;
  /** Every row, strand by strand in sequence, as stored: for verifying. Constant memory. */
  rows(): AsyncIterable<SealedRow>;
  /** Rejects when the ledger cannot be read. */
  ping(): Promise<void>;
}

/** The ledger at one instant: answers leave out later rows. */
export type LedgerInstant = Pick<Ledger, 'totals' | 'find'>;

/** Reads of the ledger that belong together. */
export interface LedgerReads {
  /** Runs `work` on the ledger as it is at its first question. Rejects when the ledger cannot be read. */
  atOneInstant<T>(work: (instant: LedgerInstant) => Promise<T>): Promise<T>;
}
