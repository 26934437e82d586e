import { createPublicKey, hash, sign, type KeyObject } from 'node:crypto';
import type { Checkpoint, CheckpointInput, StrandHead } from '#ports/checkpoints.ts';
import { canonicalJson } from './canonical-json.ts';
import { merkleRoot } from './merkle.ts';

/** What the first checkpoint names as the one before it. */
export const NO_CHECKPOINT = '0'.repeat(64);

/**
 * The next checkpoint: signs that the strands had grown to `heads` by `at` (milliseconds since the epoch). One without
 * heads says that nothing had been added. `key` is an Ed25519 private key.
 */
export function makeCheckpoint({ last, heads }: CheckpointInput, at: number, key: KeyObject): Checkpoint {
  const facts = {
    number: (last?.number ?? 0) + 1,
    at,
    root: headsRoot(heads),
    heads,
    previous: last ? statementHash(last.statement) : NO_CHECKPOINT,
  };
  const statement = statementOf(facts);
  return {
    ...facts,
    statement,
    key: keyId(createPublicKey(key)),
    signature: sign(null, Buffer.from(statement), key).toString('hex'),
  };
}

/** The text of a checkpoint that is hashed and signed. */
export function statementOf(checkpoint: Pick<Checkpoint, 'number' | 'at' | 'root' | 'heads' | 'previous'>): string {
  const { number, at, root, heads, previous } = checkpoint;
  return canonicalJson({ at: new Date(at).toISOString(), heads: heads.length, number, previous, root, v: 1 });
}

/** What the next checkpoint names this one by: SHA-256 of its statement, as hex. */
export function statementHash(statement: string): string {
  return hash('sha256', statement, 'hex');
}

/** RFC 6962 root over the canonical JSON of each head, as hex. */
export function headsRoot(heads: readonly StrandHead[]): string {
  const leaves = heads.map(({ strand, sequence, link }) => Buffer.from(canonicalJson({ strand, sequence, link })));
  return merkleRoot(leaves).toString('hex');
}

/** How a checkpoint names the key that signed it: SHA-256 of the public key (SPKI, DER), as hex. */
export function keyId(publicKey: KeyObject): string {
  return hash('sha256', publicKey.export({ type: 'spki', format: 'der' }), 'hex');
}
