/** A word's tag (`O`, `B-PER`, `I-PER`, …) and how likely it is by itself, 0 to 1. */
export interface Tagged {
  readonly tag: string;
  readonly score: number;
}

/**
 * The likeliest tags that may follow one another (Viterbi): what is inside a name follows its beginning, or more of its
 * inside. `logits`: a row a word, a column a tag.
 */
export function decodeTags(logits: Float32Array, tags: readonly string[]): readonly Tagged[] {
  const width = tags.length;
  const count = logits.length / width;
  const back = new Uint8Array(count * width);
  let best = new Float64Array(width);
  for (let row = 0; row < count; row += 1) {
    const next = new Float64Array(width);
    for (let tag = 0; tag < width; tag += 1) {
      const from = row === 0 ? undefined : bestBefore(best, tags, tag);
      const before = from === undefined ? (tags[tag]!.startsWith('I') ? -Infinity : 0) : best[from]!;
      back[row * width + tag] = from ?? 0;
      next[tag] = before + logits[row * width + tag]!;
    }
    best = next;
  }
  const found: Tagged[] = [];
  let tag = best.indexOf(Math.max(...best));
  for (let row = count - 1; row >= 0; row -= 1) {
    found.push({ tag: tags[tag]!, score: probability(logits.subarray(row * width, (row + 1) * width), tag) });
    tag = back[row * width + tag]!;
  }
  return found.reverse();
}

function bestBefore(best: Float64Array, tags: readonly string[], tag: number): number {
  const name = tags[tag]!;
  if (name.startsWith('I')) {
    const begins = tags.indexOf(`B${name.slice(1)}`);
    return begins >= 0 && best[begins]! >= best[tag]! ? begins : tag;
  }
  let most = 0;
  for (let other = 1; other < best.length; other += 1) if (best[other]! > best[most]!) most = other;
  return most;
}

function probability(row: Float32Array, at: number): number {
  const most = Math.max(...row);
  let sum = 0;
  for (const value of row) sum += Math.exp(value - most);
  return Math.exp(row[at]! - most) / sum;
}
