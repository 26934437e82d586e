import { hash } from 'node:crypto';

const LEAF = Buffer.from([0]);
const NODE = Buffer.from([1]);

/** The hash of a leaf: SHA-256 of a zero byte and its content. // RFC 6962, section 2.1 */
export function leafHash(content: Uint8Array): Buffer {
  return sha256(Buffer.concat([LEAF, content]));
}

/** The Merkle tree hash of RFC 6962, section 2.1, over the hashes of the leaves; of no leaves, SHA-256 of nothing. */
export function merkleRoot(leaves: readonly Uint8Array[]): Buffer {
  if (leaves.length === 0) return sha256(Buffer.alloc(0));
  if (leaves.length === 1) return Buffer.from(leaves[0]!);
  const split = largestPowerOfTwoBelow(leaves.length);
  return nodeHash(merkleRoot(leaves.slice(0, split)), merkleRoot(leaves.slice(split)));
}

/** The audit path of the leaf at `index`: the hashes that lead from it to the root, lowest first. // RFC 6962, 2.1.1 */
export function auditPath(leaves: readonly Uint8Array[], index: number): Buffer[] {
  if (leaves.length <= 1) return [];
  const split = largestPowerOfTwoBelow(leaves.length);
  return index < split
    ? [...auditPath(leaves.slice(0, split), index), merkleRoot(leaves.slice(split))]
    : [...auditPath(leaves.slice(split), index - split), merkleRoot(leaves.slice(0, split))];
}

/** The root that an audit path leads to from a leaf's hash; undefined when the path is not of the right length. */
export function rootOfPath(
  leaf: Uint8Array,
  index: number,
  size: number,
  path: readonly Uint8Array[],
): Uint8Array | undefined {
  if (index < 0 || index >= size) return undefined;
  if (size === 1) return path.length === 0 ? leaf : undefined;
  const sibling = path.at(-1);
  if (!sibling) return undefined;
  const split = largestPowerOfTwoBelow(size);
  const rest = path.slice(0, -1);
  if (index < split) {
    const left = rootOfPath(leaf, index, split, rest);
    return left && nodeHash(left, sibling);
  }
  const right = rootOfPath(leaf, index - split, size - split, rest);
  return right && nodeHash(sibling, right);
}

function nodeHash(left: Uint8Array, right: Uint8Array): Buffer {
  return sha256(Buffer.concat([NODE, left, right]));
}

function largestPowerOfTwoBelow(count: number): number {
  return 2 ** (31 - Math.clz32(count - 1));
}

function sha256(data: Buffer): Buffer {
  return hash('sha256', data, 'buffer');
}
