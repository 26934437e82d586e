import { createPublicKey, hash, sign, type KeyObject } from 'node:crypto';
import type {
  CarriedSum,
  Checkpoint,
  CheckpointInput,
  CreditHead,
  Cut,
  StrandCut,
  StrandHead,
} from '#/ports/checkpoints.ts';
import { canonicalJson } from '#/wire/document/canonical-json.ts';
import { leafHash, merkleRoot } from './merkle.ts';

/** What the first checkpoint names as the one before it. */
export const NO_CHECKPOINT = '0'.repeat(64);

/** A member of a list that a root is over: itself, or the hash of its leaf (hex) where it is not shown. */
export type Leaf<T> = T | string;

/** A checkpoint of which some heads, cuts and sums may not be shown. */
export interface ShownCheckpoint extends Omit<Checkpoint, 'heads' | 'cut' | 'credit'> {
  readonly heads: readonly Leaf<StrandHead>[];
  readonly cut?: ShownCut;
  readonly credit?: readonly Leaf<CreditHead>[];
}

/** A cut of which some strands and sums may not be shown. */
export interface ShownCut {
  readonly before: string;
  readonly strands: readonly Leaf<StrandCut>[];
  readonly carried: readonly Leaf<CarriedSum>[];
}

/** Content of a checkpoint besides the heads. */
export interface CheckpointAdditions {
  readonly cut?: Cut;
  /** The public key that may sign from now on. */
  readonly introduces?: KeyObject;
}

/**
 * The next checkpoint: signs that the strands had grown to `heads`, and credit to `credit`, by `at` (milliseconds since
 * the epoch). One without heads says that nothing had been added. `key` is an Ed25519 private key.
 */
export function makeCheckpoint(
  { last, heads, credit }: CheckpointInput,
  at: number,
  key: KeyObject,
  { cut, introduces }: CheckpointAdditions = {},
): Checkpoint {
  const facts = {
    number: (last?.number ?? 0) + 1,
    at,
    root: headsRoot(heads),
    heads,
    previous: last ? statementHash(last.statement) : NO_CHECKPOINT,
    ...(cut && { cut }),
    ...(credit && { credit }),
    ...(introduces && { introduces: spkiOf(introduces) }),
  };
  const statement = statementOf(facts);
  const publicKey = createPublicKey(key);
  return {
    ...facts,
    statement,
    key: keyId(publicKey),
    publicKey: spkiOf(publicKey),
    signature: sign(null, Buffer.from(statement), key).toString('hex'),
  };
}

type Facts = Pick<ShownCheckpoint, 'number' | 'at' | 'root' | 'heads' | 'previous' | 'cut' | 'credit' | 'introduces'>;

/** The text of a checkpoint that is hashed and signed; one that says no more than heads is of version 1. */
export function statementOf({ number, at, root, heads, previous, cut, credit, introduces }: Facts): string {
  return canonicalJson({
    at: new Date(at).toISOString(),
    credit: credit && { heads: credit.length, root: rootOver(credit, creditLeaf) },
    cut: cut && {
      before: cut.before,
      carried: cut.carried.length,
      carried_root: rootOver(cut.carried, carriedLeaf),
      root: rootOver(cut.strands, cutLeaf),
      strands: cut.strands.length,
    },
    heads: heads.length,
    introduces,
    number,
    previous,
    root,
    v: credit ? 3 : cut || introduces !== undefined ? 2 : 1,
  });
}

/** What the next checkpoint names this one by: SHA-256 of its statement, as hex. */
export function statementHash(statement: string): string {
  return hash('sha256', statement, 'hex');
}

/** RFC 6962 root over the canonical JSON of each head, as hex. */
export function headsRoot(heads: readonly Leaf<StrandHead>[]): string {
  return rootOver(heads, headLeaf);
}

/** The hash of a head's leaf. */
export function headLeaf({ strand, sequence, link }: StrandHead): Buffer {
  return leafHash(Buffer.from(canonicalJson({ strand, sequence, link })));
}

/** The hash of the leaf of an organization's last credit entry. */
export function creditLeaf({ organization, number, link }: CreditHead): Buffer {
  return leafHash(Buffer.from(canonicalJson({ organization, number, link })));
}

/** The hash of a cut's leaf. */
export function cutLeaf({ strand, sequence, link, withheld }: StrandCut): Buffer {
  return leafHash(Buffer.from(canonicalJson({ strand, sequence, link, withheld })));
}

/** The hash of a carried sum's leaf. */
export function carriedLeaf({ organization, workload, cost, calls, salt }: CarriedSum): Buffer {
  const content = { organization, workload, cost_nano_eur: cost, calls, salt };
  return leafHash(Buffer.from(canonicalJson(content)));
}

function rootOver<T extends object>(list: readonly Leaf<T>[], leaf: (member: T) => Buffer): string {
  const hashes = list.map((each) => (typeof each === 'string' ? Buffer.from(each, 'hex') : leaf(each)));
  return merkleRoot(hashes).toString('hex');
}

/** How a checkpoint names the key that signed it: SHA-256 of the public key (SPKI, DER), as hex. */
export function keyId(publicKey: KeyObject): string {
  return hash('sha256', publicKey.export({ type: 'spki', format: 'der' }), 'hex');
}

/** The public key (SPKI, DER) as hex. */
export function spkiOf(publicKey: KeyObject): string {
  return publicKey.export({ type: 'spki', format: 'der' }).toString('hex');
}

/** The Ed25519 public key that such hex stands for; undefined when it stands for none. */
export function publicKeyOf(spki: string): KeyObject | undefined {
  try {
    const key = createPublicKey({ key: Buffer.from(spki, 'hex'), type: 'spki', format: 'der' });
    return key.asymmetricKeyType === 'ed25519' && spkiOf(key) === spki ? key : undefined;
  } catch {
    return undefined;
  }
}
