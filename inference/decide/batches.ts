/** Pieces that are read at once, those that only fill up included, and that are asked about at once: bounds a run's memory. */
const MOST = { read: 1280, asked: 1024 };
/** Pieces that may only fill up: as many as a run of its own would cost, and a part of all. */
const SPARE = { pieces: 32, share: 1 / 8 };

/**
 * Texts that are read together, by number: each batch is as wide as its longest, so those of like length share one.
 * `lengths`: of the texts, in pieces.
 */
export function batchesOf(lengths: readonly number[]): readonly (readonly number[])[] {
  const order = lengths.map((_, at) => at).sort((a, b) => lengths[b]! - lengths[a]!);
  const batches: number[][] = [];
  let [width, sum] = [0, 0];
  for (const at of order) {
    const length = lengths[at]!;
    const all = width * ((batches.at(-1)?.length ?? 0) + 1);
    const spare = all - sum - length;
    if (batches.length > 0 && all <= MOST.read && spare <= Math.max(SPARE.pieces, all * SPARE.share)) {
      batches.at(-1)!.push(at);
      sum += length;
    } else {
      batches.push([at]);
      [width, sum] = [length, length];
    }
  }
  return batches;
}

/**
 * Options that are asked about together, by number, each time beside their question: options do not see each other, and the
 * memory of a run grows with the square of its pieces. At least one a run; none at all is one run too.
 */
export function groupsOf(question: number, options: readonly number[]): readonly (readonly number[])[] {
  const groups: number[][] = [[]];
  let sum = question;
  for (const [at, length] of options.entries()) {
    if (sum + length > MOST.asked && groups.at(-1)!.length > 0) {
      groups.push([]);
      sum = question;
    }
    groups.at(-1)!.push(at);
    sum += length;
  }
  return groups;
}
