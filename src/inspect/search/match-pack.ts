import type { Steps } from '#/wire/document/steps.ts';
import type { Match } from '../match.ts';

/** Matches in texts as threads hand them over: numbers, since a copy of so many objects would hold up the event loop. */
export interface PackedMatches {
  /** For each text how many finds it has, then for each of them start, end, category and term (-1: none) by their places. */
  readonly numbers: Int32Array<ArrayBuffer>;
  readonly words: readonly string[];
}

/** More finds than these in the texts of one search are not handed over: no model reads such a request. */
export const MOST_MATCHES = 250_000;

const MATCHES_A_STEP = 1024;

/** Undefined where there are more than `MOST_MATCHES`. */
export function packMatches(found: readonly (readonly Match[])[]): PackedMatches | undefined {
  const count = found.reduce((sum, matches) => sum + matches.length, 0);
  if (count > MOST_MATCHES) return undefined;
  const places = new Map<string, number>();
  const placeOf = (word: string): number => {
    let place = places.get(word);
    if (place === undefined) places.set(word, (place = places.size));
    return place;
  };
  const numbers = new Int32Array(found.length + count * 4);
  let at = 0;
  for (const matches of found) {
    numbers[at++] = matches.length;
    for (const { start, end, category, term } of matches) {
      numbers[at++] = start;
      numbers[at++] = end;
      numbers[at++] = placeOf(category);
      numbers[at++] = term === undefined ? -1 : placeOf(term);
    }
  }
  return { numbers, words: [...places.keys()] };
}

export function* unpackMatches({ numbers, words }: PackedMatches): Steps<readonly (readonly Match[])[]> {
  const found: Match[][] = [];
  let count = 0;
  for (let at = 0; at < numbers.length;) {
    const matches: Match[] = [];
    if (++count % MATCHES_A_STEP === 0) yield;
    for (let left = numbers[at++]!; left > 0; left--) {
      if (++count % MATCHES_A_STEP === 0) yield;
      const [start, end] = [numbers[at++]!, numbers[at++]!];
      const category = words[numbers[at++]!]!;
      const term = words[numbers[at++]!];
      matches.push(term === undefined ? { start, end, category } : { start, end, category, term });
    }
    found.push(matches);
  }
  return found;
}
