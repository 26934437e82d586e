const PRIME = 0x01000193;

/** Where hashes of words begin: each word has two. */
export const SEED = 0x811c9dc5;
export const SECOND_SEED = 0x1234567;

/** A hash with one more code unit. */
export function stepOfHash(hash: number, code: number): number {
  return Math.imul(hash ^ code, PRIME);
}

/** A hash with the code units of a text from `start` to `end`. */
export function hashOf(seed: number, text: string, start: number, end: number): number {
  let hash = seed;
  for (let at = start; at < end; at += 1) hash = stepOfHash(hash, text.charCodeAt(at));
  return hash;
}

/** A hash, well mixed. */
export function mixed(hash: number): number {
  let mix = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d);
  mix = Math.imul(mix ^ (mix >>> 12), 0x297a2d39);
  return (mix ^ (mix >>> 15)) >>> 0;
}

/** A number for a text, well mixed. */
export function hashText(text: string, seed = SEED): number {
  return mixed(hashOf(seed, text, 0, text.length));
}
