import { TooLong } from './typed-input.ts';

/** Pieces that are read at once, those that only fill up included: bounds a run's memory. */
const MOST_READ = 1280;
/**
 * Pairs of pieces that see each other, which is what asking takes: in a run that options share; in any, which a long question
 * may need; and of all questions together. Memory hangs on the first two, time on the last: the most takes some 4 s of a
 * processor.
 */
const MOST_PAIRS = { shared: 2_400_000, run: 4_000_000, all: 24_000_000 };
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
    if (batches.length > 0 && all <= MOST_READ && spare <= Math.max(SPARE.pieces, all * SPARE.share)) {
      batches.at(-1)!.push(at);
      sum += length;
    } else {
      batches.push([at]);
      [width, sum] = [length, length];
    }
  }
  return batches;
}

/** Minimum room for options, in pieces, in a run with a long question. */
const ROOM = 256;

function pairsOf(asked: number, state: number): number {
  return asked * (state + asked);
}

/**
 * The options of each question that are asked together, by number, each run with their question: options do not see
 * each other. At least one per run; a question without options is one run too. `state`: its pieces. Throws
 * `TooLong` for a question with one of its options, or all together, that would take more than there is room and time for.
 * `sizes`: of each question its own and then its options', in pieces.
 */
export function runsOf(
  sizes: readonly (readonly number[])[],
  state: number,
): readonly (readonly (readonly number[])[])[] {
  let left = MOST_PAIRS.all;
  return sizes.map(([question = 0, ...options], number) => {
    const most = Math.min(MOST_PAIRS.run, Math.max(MOST_PAIRS.shared, pairsOf(question + ROOM, state)));
    const runs: number[][] = [[]];
    let size = question;
    const end = (): void => {
      const pairs = pairsOf(size, state);
      if (pairs > MOST_PAIRS.run) throw new TooLong(number);
      left -= pairs;
      if (left < 0) throw new TooLong();
    };
    for (const [at, length] of options.entries()) {
      if (pairsOf(size + length, state) > most && runs.at(-1)!.length > 0) {
        end();
        runs.push([]);
        size = question;
      }
      runs.at(-1)!.push(at);
      size += length;
    }
    end();
    return runs;
  });
}
