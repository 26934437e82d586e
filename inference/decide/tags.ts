/** A word's tag (`O`, `B-PER`, `I-PER`, …) and its own probability, 0 to 1; for `O`, which needs none, 0. */
export interface Tagged {
  readonly tag: string;
  readonly score: number;
}

const OUTSIDE: Tagged = { tag: 'O', score: 0 };

/**
 * The most likely valid sequence of tags (Viterbi): an inside follows its beginning, or another
 * inside. `logits`: a row a word, a column a tag.
 */
export function decodeTags(logits: Float32Array, tags: readonly string[]): readonly Tagged[] {
  const width = tags.length;
  const count = logits.length / width;
  /** Of each tag: where its name begins; -1 of those that may follow anything. */
  const begins = tags.map((tag) => (tag.startsWith('I') ? tags.indexOf(`B${tag.slice(1)}`) : -1));
  const back = new Uint8Array(count * width);
  let best = Float64Array.from(begins, (begin) => (begin < 0 ? 0 : -Infinity));
  let next = new Float64Array(width);
  for (let row = 0; row < count; row += 1) {
    const likeliest = highest(best);
    for (let tag = 0; tag < width; tag += 1) {
      const begin = begins[tag]!;
      const from = begin < 0 ? likeliest : best[begin]! >= best[tag]! ? begin : tag;
      back[row * width + tag] = from;
      // Nothing stands before the first word, whose tags `best` was filled for.
      next[tag] = (row === 0 ? best[tag]! : best[from]!) + logits[row * width + tag]!;
    }
    [best, next] = [next, best];
  }
  const found: Tagged[] = [];
  let tag = highest(best);
  for (let row = count - 1; row >= 0; row -= 1) {
    const name = tags[tag]!;
    found.push(name === 'O' ? OUTSIDE : { tag: name, score: probability(logits, row * width, width, tag) });
    tag = back[row * width + tag]!;
  }
  return found.reverse();
}

/** The first of the highest. */
function highest(values: Float64Array): number {
  let most = 0;
  for (let at = 1; at < values.length; at += 1) if (values[at]! > values[most]!) most = at;
  return most;
}

function probability(logits: Float32Array, row: number, width: number, at: number): number {
  let sum = 0;
  for (let tag = 0; tag < width; tag += 1) sum += Math.exp(logits[row + tag]! - logits[row + at]!);
  return 1 / sum;
}
