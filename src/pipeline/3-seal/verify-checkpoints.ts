import { verify as verifySignature, type KeyObject } from 'node:crypto';
import type { Checkpoint, StrandHead } from '#ports/checkpoints.ts';
import { headsRoot, keyId, NO_CHECKPOINT, statementHash, statementOf } from './checkpoint.ts';
import type { VouchedHeads } from './verify.ts';

/** The first thing that is wrong with the checkpoints. */
export interface CheckpointFault {
  readonly number: number;
  /**
   * `edited`: it is not what was signed. `removed`: checkpoints are missing before it, or after it when an anchor says so.
   * `unsigned`: none of the given keys signed it. `replaced`: the one before it is not the one it was made upon.
   */
  readonly kind: 'edited' | 'removed' | 'unsigned' | 'replaced';
  readonly detail: string;
}

export interface CheckpointReport {
  readonly intact: boolean;
  readonly count: number;
  /** Whether there were keys to check signatures with. Without, whoever can write to the database can make checkpoints. */
  readonly signaturesChecked: boolean;
  readonly last?: { readonly number: number; readonly at: number; readonly hash: string };
  readonly fault?: CheckpointFault;
  /** What those that are sound vouch for. */
  readonly vouched: VouchedHeads;
}

export interface CheckpointTrust {
  /** Ed25519 public keys that may have signed. */
  readonly publicKeys?: readonly KeyObject[];
  /** A checkpoint that is known from elsewhere, by the hash of its statement: it has to be there still. */
  readonly anchor?: string;
}

/** Heads kept of one strand: beyond it every other one is let go, the last never. Bounds memory; coarsens `rewritten`. */
const MAX_HEADS = 1_024;

/**
 * Checks the chain of checkpoints: numbers, statements, signatures, heads. Those that are sound vouch for their heads,
 * also when others are not. Checkpoints cut off at the end are noticed with an anchor only.
 */
export async function verifyCheckpoints(
  checkpoints: AsyncIterable<Checkpoint>,
  trust: CheckpointTrust = {},
): Promise<CheckpointReport> {
  const keys = trust.publicKeys && new Map(trust.publicKeys.map((key) => [keyId(key), key]));
  const vouched = new Map<string, StrandHead[]>();
  let before: Checkpoint | undefined;
  let fault: CheckpointFault | undefined;
  let count = 0;
  let anchored = trust.anchor === undefined;
  for await (const checkpoint of checkpoints) {
    const own = ownFault(checkpoint, keys);
    fault ??= own ?? chainFault(before, checkpoint);
    if (!own) for (const head of checkpoint.heads) vouch(vouched, head);
    anchored ||= statementHash(checkpoint.statement) === trust.anchor;
    before = checkpoint;
    count += 1;
  }
  if (!anchored) {
    const number = before?.number ?? 0;
    fault ??= { number, kind: 'removed', detail: `no checkpoint has the hash ${trust.anchor}` };
  }
  return {
    intact: fault === undefined,
    count,
    signaturesChecked: keys !== undefined,
    ...(before && { last: { number: before.number, at: before.at, hash: statementHash(before.statement) } }),
    ...(fault && { fault }),
    vouched,
  };
}

/** What is wrong with a checkpoint by itself. */
function ownFault(
  checkpoint: Checkpoint,
  keys: ReadonlyMap<string, KeyObject> | undefined,
): CheckpointFault | undefined {
  const { number, heads, root, statement, key, signature } = checkpoint;
  const edited = (detail: string): CheckpointFault => ({ number, kind: 'edited', detail });
  if (!saysTheSame(checkpoint))
    return edited('its statement is not what its number, heads and canonical form call for');
  if (headsRoot(heads) !== root) return edited('its heads are not those that its root was computed over');
  if (!keys) return undefined;
  const publicKey = keys.get(key);
  if (!publicKey)
    return { number, kind: 'unsigned', detail: `it names the key ${key}, which is not one of those given` };
  const genuine = verifySignature(null, Buffer.from(statement), publicKey, Buffer.from(signature, 'hex'));
  return genuine ? undefined : edited('its signature does not fit its statement');
}

function saysTheSame(checkpoint: Checkpoint): boolean {
  try {
    return statementOf(checkpoint) === checkpoint.statement;
  } catch {
    return false; // a time that is none
  }
}

/** What is wrong between a checkpoint and the one before it. */
function chainFault(before: Checkpoint | undefined, checkpoint: Checkpoint): CheckpointFault | undefined {
  const { number } = checkpoint;
  const expected = (before?.number ?? 0) + 1;
  if (number > expected) {
    const missing =
      number - 1 === expected ? `checkpoint ${expected} is` : `checkpoints ${expected} to ${number - 1} are`;
    return { number, kind: 'removed', detail: `${missing} missing before it` };
  }
  const named = before ? statementHash(before.statement) : NO_CHECKPOINT;
  if (number === expected && checkpoint.previous === named) return undefined;
  const detail = before
    ? `checkpoint ${before.number} is not the one it was made upon`
    : 'it was not made as the first one';
  return { number, kind: 'replaced', detail };
}

function vouch(vouched: Map<string, StrandHead[]>, head: StrandHead): void {
  const heads = vouched.get(head.strand);
  if (!heads) {
    vouched.set(head.strand, [head]);
    return;
  }
  if (head.sequence <= heads.at(-1)!.sequence) return;
  heads.push(head);
  if (heads.length <= MAX_HEADS) return;
  const kept = heads.filter((_, index) => index % 2 === 1 || index === heads.length - 1);
  vouched.set(head.strand, kept);
}
