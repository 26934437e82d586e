import type { CarriedSum, Checkpoint, CheckpointInput } from './checkpoints.ts';

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
