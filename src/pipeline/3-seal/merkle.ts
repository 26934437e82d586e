import { hash } from 'node:crypto';

const LEAF = Buffer.from([0]);
const NODE = Buffer.from([1]);

/** The Merkle tree hash of RFC 6962, section 2.1, with SHA-256; of no leaves, SHA-256 of nothing. */
export function merkleRoot(leaves: readonly Uint8Array[]): Buffer {
  if (leaves.length === 0) return sha256(Buffer.alloc(0));
  if (leaves.length === 1) return sha256(Buffer.concat([LEAF, leaves[0]!]));
  const split = largestPowerOfTwoBelow(leaves.length);
  return sha256(Buffer.concat([NODE, merkleRoot(leaves.slice(0, split)), merkleRoot(leaves.slice(split))]));
}

function largestPowerOfTwoBelow(count: number): number {
  return 2 ** (31 - Math.clz32(count - 1));
}

function sha256(data: Buffer): Buffer {
  return hash('sha256', data, 'buffer');
}
