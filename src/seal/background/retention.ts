import { randomBytes, type KeyObject } from 'node:crypto';
import type { Checkpoint, PlannedCut, RetentionInput, RetentionStore, StrandCut } from '#/ports/checkpoints.ts';
import { genesis } from '../chain.ts';
import { makeCheckpoint } from '../checkpoints/checkpoint.ts';
import { signerAfter } from '../checkpoints/checkpointer.ts';
import { rangesOf } from '../verify/cut.ts';

export interface RetentionOptions {
  readonly store: RetentionStore;
  /** Ed25519 private keys, the newest first. */
  readonly keys: readonly KeyObject[];
  /** The first month (UTC) that stays, `2026-08`. */
  readonly before: string;
  /** Rows to drop, as planned when the ledger was last found intact: no others are dropped. */
  readonly verified: readonly PlannedCut[];
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/**
 * Drops the rows of calls before a month, and signs the result: a cut of every strand, the numbers of rows after it
 * whose hashes are kept, and the sums of the dropped rows. Undefined without such rows. Rejects if the rows are not
 * those that were verified.
 */
export async function retain(options: RetentionOptions): Promise<Checkpoint | undefined> {
  const { store, before, verified } = options;
  if (verified.length === 0) return undefined;
  return store.drop(before, (input) => {
    if (JSON.stringify(input.plan) !== JSON.stringify(verified))
      throw new Error('the rows changed after they were verified: try again');
    return signCut(input, options);
  });
}

function signCut(input: RetentionInput, { keys, before, now }: RetentionOptions): Checkpoint {
  const { signer, introduces, known } = signerAfter(input.last, keys);
  if (!known) throw new Error('the checkpoint key is not the key that signed the last checkpoint');
  if (!input.last || input.last.at < Date.parse(`${before}-01T00:00:00Z`))
    throw new Error(`no checkpoint was made since ${before} began, so rows before it are not signed yet`);
  const carried = input.carried.map((sum) => ({ ...sum, salt: randomBytes(16).toString('hex') }));
  const cut = { before, strands: input.plan.map(cutOf), carried };
  return makeCheckpoint(input, now, signer, { cut, ...(introduces && { introduces }) });
}

function cutOf({ strand, sequence, link, withheld }: PlannedCut): StrandCut {
  const at = sequence === 0 ? genesis(strand) : link;
  if (at === undefined) throw new Error(`strand ${strand} cannot be cut after row ${sequence}, which does not exist`);
  return { strand, sequence, link: at, withheld: rangesOf(withheld) };
}
