import { ModelFault } from './manifest.ts';
import { folded, hashOf } from './words.ts';

/** In which lists of names a word is: one bit each. */
export type Lists = (word: string) => number;

/**
 * Reads lists as training writes them: hashes of words in ascending order, 4 bytes each, little endian; then a byte of
 * bits for each. Throws `ModelFault` when that is not what the bytes are.
 */
export function readLists(bytes: Uint8Array): Lists {
  if (bytes.length % 5 !== 0) throw new ModelFault('lists of names: not a whole number of entries');
  const count = bytes.length / 5;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const hashes = new Uint32Array(count);
  for (let index = 0; index < count; index += 1) hashes[index] = view.getUint32(index * 4, true);
  if (hashes.some((hash, index) => index > 0 && hash <= hashes[index - 1]!)) {
    throw new ModelFault('lists of names: not in order');
  }
  return (word) => {
    const at = indexOf(hashes, hashOf(folded(word)));
    return at < 0 ? 0 : bytes[count * 4 + at]!;
  };
}

function indexOf(sorted: Uint32Array, wanted: number): number {
  let low = 0;
  let high = sorted.length - 1;
  while (low <= high) {
    const middle = (low + high) >>> 1;
    const found = sorted[middle]!;
    if (found === wanted) return middle;
    if (found < wanted) low = middle + 1;
    else high = middle - 1;
  }
  return -1;
}
