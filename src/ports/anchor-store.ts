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
