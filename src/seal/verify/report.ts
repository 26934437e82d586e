/**
 * The fault of a row.
 * `edited`: its text, its link or a column was changed after it was sealed.
 * `removed`: rows are missing. `inserted`: it was not sealed here. `swapped`: it stands in another row's place.
 * `duplicate`: its call is in the ledger twice. `malformed`: its text is not an audit row in canonical form.
 * `rewritten`: the rows link to one another, but not to what a checkpoint says.
 * `unknown`: it does not follow from the row before it, and nothing tells which of the two changed, or how.
 */
export type FaultKind =
  | 'edited'
  | 'removed'
  | 'inserted'
  | 'swapped'
  | 'duplicate'
  | 'malformed'
  | 'rewritten'
  | 'unknown';

/** The first thing that is wrong in a strand. */
export interface StrandFault {
  readonly strand: string;
  /** Number of the bad row in its strand; the first missing one, when rows were removed. */
  readonly sequence: number;
  /** The bad row's call; the call of the row after the gap, when rows were removed. */
  readonly callId: string | undefined;
  readonly kind: FaultKind;
  /** Description in one sentence. */
  readonly detail: string;
  /** Numbers of the rows that are missing. */
  readonly missing?: { readonly from: number; readonly to: number };
  /** The rows of the strand that come after it. */
  readonly after: {
    readonly rows: number;
    /** How many of them do not follow from the row stored before them. Zero: nothing more was changed, or all was. */
    readonly unlinked: number;
  };
}

export interface VerifyReport {
  readonly intact: boolean;
  readonly rows: number;
  readonly strands: number;
  /** Rows of which there was the hash alone. */
  readonly withheld: number;
  /** Rows of calls that another strand had sealed already: linked, not counted. */
  readonly superseded: number;
  /** Rows that come after the last checkpoint of their strand: nothing but the chain vouches for them. */
  readonly afterCheckpoints: number;
  /** How many strands have a fault. */
  readonly faulty: number;
  /** One fault a strand, for at most a thousand strands. */
  readonly faults: readonly StrandFault[];
}
