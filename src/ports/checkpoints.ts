/** The last row of a strand: everything before it is fixed by its link. */
export interface StrandHead {
  readonly strand: string;
  readonly sequence: number;
  /** 32 bytes as hex. */
  readonly link: string;
}

/** The last credit entry of an organization: everything before it is fixed by its link. */
export interface CreditHead {
  readonly organization: string;
  readonly number: number;
  /** 32 bytes as hex. */
  readonly link: string;
}

/** Up to where a strand's rows were dropped by retention: its rows follow from `link`, which was the link of the last one. */
export interface StrandCut extends StrandHead {
  /** Rows after it that were dropped too, of which the hash is kept: first and last number of each range, ascending. */
  readonly withheld: readonly (readonly [number, number])[];
}

/** What the dropped rows of a workload come to, over all cuts so far: its sums go on from there. */
export interface CarriedSum {
  readonly organization: string;
  readonly workload: string;
  /** Nano-euro in decimal. */
  readonly cost: string;
  readonly calls: number;
  /** 16 random bytes as hex: the hash of this sum tells nothing to who is not shown it. */
  readonly salt: string;
}

/** What retention dropped: the rows of the calls that began before a month. */
export interface Cut {
  /** The first month (UTC) that was kept, `2026-08`. */
  readonly before: string;
  /** Of the strands that had rows to drop, ordered by strand: older cuts of other strands stay in force. */
  readonly strands: readonly StrandCut[];
  /** Of the workloads that had, ordered by organization and workload: older sums of others stay in force. */
  readonly carried: readonly CarriedSum[];
}

/** A signed statement about how far the strands had grown; each names the one before it. */
export interface Checkpoint {
  /** From 1 without gaps. */
  readonly number: number;
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** RFC 6962 Merkle root over `heads`, 32 bytes as hex. */
  readonly root: string;
  /** The strands that had grown since the checkpoint before, ordered by strand: older heads stay in force. */
  readonly heads: readonly StrandHead[];
  /** SHA-256 (hex) of the statement of the checkpoint before; 64 zeros for the first. */
  readonly previous: string;
  /** Only where rows were dropped with it. */
  readonly cut?: Cut;
  /**
   * The last credit entries of the organizations that had new ones since the checkpoint before, ordered by organization;
   * only where there are any. Older ones stay in force.
   */
  readonly credit?: readonly CreditHead[];
  /** Public key (SPKI, DER, as hex) that may sign from now on, where the one who signed says so. */
  readonly introduces?: string;
  /** RFC 8785 text of all fields above, with roots in place of lists: it is hashed and signed. */
  readonly statement: string;
  /** SHA-256 (hex) of the public key (SPKI, DER) that verifies the signature. */
  readonly key: string;
  /** That public key (SPKI, DER, as hex), where it was kept. */
  readonly publicKey?: string;
  /** Ed25519 over the statement, 64 bytes as hex. */
  readonly signature: string;
}

/** What the next checkpoint is made from. */
export interface CheckpointInput {
  readonly last: Checkpoint | undefined;
  /** The last row of every strand that has grown since `last`, ordered by strand. */
  readonly heads: readonly StrandHead[];
  /** The last credit entry of every organization that has new ones since then, ordered; only where there are any. */
  readonly credit?: readonly CreditHead[];
}

/** Stores checkpoints next to the ledger. */
export interface CheckpointStore {
  heads(): Promise<CheckpointInput>;
  /** Rejects when there is a checkpoint of that number already. */
  saveCheckpoint(checkpoint: Checkpoint): Promise<void>;
  /** Every checkpoint (after number `after`, where given) in the order of their numbers, as stored. Constant memory. */
  checkpoints(after?: number): AsyncIterable<Checkpoint>;
}

/** A copy of a checkpoint in a place that the database's writers cannot change. */
export interface AnchorRecord {
  readonly number: number;
  /** The stored text: JSON, `{"key", "public_key", "signature", "statement"}`. */
  readonly body: string;
}

/** Where checkpoints are copied to: write once, kept until a date. */
export interface AnchorStore {
  /** Puts a copy; leaves one that is there already as it is. Rejects when it may not have been kept. */
  put(record: AnchorRecord): Promise<void>;
  /** Numbers of the copies above `after`, ascending. */
  numbers(after: number): AsyncIterable<number>;
  /** Every version of every copy, by number, the oldest first: also of those that were written over or deleted since. */
  records(): AsyncIterable<AnchorRecord>;
}

/** Where a strand can be cut so that the rows of some months go. */
export interface PlannedCut {
  readonly strand: string;
  /** The last row before the first one that stays; 0 when that is the first of all. */
  readonly sequence: number;
  /** The link of that row; undefined without the row. */
  readonly link: string | undefined;
  /** Numbers of the rows after it that go too. */
  readonly withheld: readonly number[];
}

/** What the checkpoint that goes with a cut is made from. */
export interface RetentionInput extends CheckpointInput {
  readonly plan: readonly PlannedCut[];
  readonly carried: readonly Omit<CarriedSum, 'salt'>[];
}

/** Drops rows that are older than the law requires. */
export interface RetentionStore {
  /** What dropping the rows of calls before a month (UTC, `2026-08`) comes to. Strands without such rows are left out. */
  plan(before: string): Promise<readonly PlannedCut[]>;
  /**
   * Drops them, and writes the checkpoint that `sign` makes, at once or not at all. What `sign` throws is passed on.
   * Gateways wait with their rows meanwhile.
   */
  drop(before: string, sign: (input: RetentionInput) => Checkpoint): Promise<Checkpoint>;
}
