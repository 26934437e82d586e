/** The last row of a strand: everything before it is fixed by its link. */
export interface StrandHead {
  readonly strand: string;
  readonly sequence: number;
  /** 32 bytes as hex. */
  readonly link: string;
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
  /** RFC 8785 text of all the above but the heads, which the root stands for: what is hashed and signed. */
  readonly statement: string;
  /** SHA-256 (hex) of the public key (SPKI, DER) that verifies the signature. */
  readonly key: string;
  /** Ed25519 over the statement, 64 bytes as hex. */
  readonly signature: string;
}

/** What the next checkpoint is made from. */
export interface CheckpointInput {
  readonly last: Checkpoint | undefined;
  /** The last row of every strand that has grown since `last`, ordered by strand. */
  readonly heads: readonly StrandHead[];
}

/** Where checkpoints are kept: beside the ledger. */
export interface CheckpointStore {
  heads(): Promise<CheckpointInput>;
  /** Rejects when there is a checkpoint of that number already. */
  saveCheckpoint(checkpoint: Checkpoint): Promise<void>;
  /** Every checkpoint in the order of their numbers, as stored. Constant memory. */
  checkpoints(): AsyncIterable<Checkpoint>;
}
