import type { Checkpoint, StrandHead } from './checkpoints.ts';
import type { LinkedEntry } from './credit.ts';
import type { SealedRow } from './ledger.ts';

/** A row of which only the hash is left, or shown. */
export interface WithheldRow {
  readonly strand: string;
  readonly sequence: number;
  /** SHA-256 of the row's text, 32 bytes as hex. */
  readonly hash: string;
  /** 32 bytes as hex. */
  readonly link: string;
}

/** A row in the bytes it is stored in: all of them are compared when a ledger is verified, and few ever looked at. */
export interface StoredRow extends Pick<SealedRow, 'strand' | 'sequence' | 'at' | 'organization' | 'workload'> {
  /** 16 bytes. */
  readonly callId: Uint8Array;
  /** Nano-euro in decimal. */
  readonly cost: string;
  /** UTF-8. */
  readonly text: Buffer;
  /** 32 bytes. */
  readonly link: Buffer;
  readonly superseded: boolean;
  /** As the port of the ledger shows it. */
  sealed(): SealedRow;
  /** The same row in memory of its own. */
  kept(): StoredRow;
}

/** The ledger's rows, as of one instant. */
export interface StoredRows {
  /**
   * Hands over every row as it lies, superseded ones first and the others in no order that can be relied on: the fastest
   * way to read them all. A row is good until `each` returns. False, with no row handed over, where the database would
   * need memory for all of them at once. Constant memory.
   */
  scan(each: (row: StoredRow) => void): Promise<boolean>;
  /** The rows of a strand, or of one strand after the other, in sequence, many at a time. Constant memory. */
  inOrder(strand?: string): AsyncIterable<readonly StoredRow[]>;
  /** Calls that are counted more than once: at most a thousand; none, unless tampered with. */
  repeatedCalls(): Promise<readonly string[]>;
}

/** Where a workload's stored sum, which spend is answered from, is not that of its rows. Nano-euro in decimal. */
export interface SpendDifference {
  readonly organization: string;
  readonly workload: string;
  /** Beginning of the quarter of an hour or the day (RFC 3339); null: all that retention dropped the rows of. */
  readonly since: string | null;
  readonly stored: string;
  /** The sum of the rows, and of what a cut says of dropped ones. */
  readonly counted: string;
}

/** The ledger and its checkpoints as they were at one instant: nothing that is written meanwhile shows. */
export interface Evidence {
  checkpoints(): AsyncIterable<Checkpoint>;
  readonly rows: StoredRows;
  /** The rows that retention left the hash of, in the same order. */
  withheld(): AsyncIterable<WithheldRow>;
  /** Every credit entry, organization by organization by number, as stored. Constant memory. */
  creditEntries(): AsyncIterable<LinkedEntry>;
  /** Sums that are not those of their rows: at most twenty; none, unless tampered with. */
  spendDifferences(): Promise<readonly SpendDifference[]>;
}

/** A row as an organization is shown it: its own with the text, of others the hash. */
export interface ShownRow extends WithheldRow {
  readonly organization?: string;
  readonly row?: string;
  readonly superseded?: true;
}

/** A row and the way from it to what a checkpoint says. */
export interface CoveredRow {
  readonly row: SealedRow;
  /** The link of the row before it. */
  readonly before: string;
  /** The first head at or after it; undefined while no checkpoint covers it. */
  readonly covered?: {
    readonly head: StrandHead;
    readonly checkpoint: Checkpoint;
    /** SHA-256 (hex) of each row after it, up to the head. */
    readonly after: readonly string[];
  };
}

/** Parts of the ledger for others, who can verify them without the rest, as of one instant. */
export interface EvidenceParts {
  /** Strands in which an organization has rows, ascending. */
  strandsOf(organization: string): Promise<readonly string[]>;
  /** The rows of a strand in sequence, from the cut on; those of other organizations without text. Constant memory. */
  strand(strand: string, organization: string): AsyncIterable<ShownRow>;
  /** Undefined when the call is not in the ledger, or its row was dropped. */
  covered(callId: string): Promise<CoveredRow | undefined>;
}
