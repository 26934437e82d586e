import type { Match } from '../match.ts';
import { finish, type Steps } from '#/wire/document/steps.ts';
import { categoryOf, type Term, type TermSearch } from './terms.ts';

/** One letter in so many may have been misread, and at most so many in all; of shorter terms none. */
const LETTERS_AN_ERROR = 5;
const MOST_ERRORS = 5;
const SHORTEST = 6;
/** A term has no more words than this where it is looked for, however a recognizer parted or joined them. */
const MOST_WORDS = 12;
/** Signs that recognizers take for each other, each row by its first. */
const ALIKE = ['o0q', 'li1|!j', 's5', 'b8', 'z2', 'g9', 'uv'];
const FIRST_ALIKE: ReadonlyMap<string, string> = new Map(
  ALIKE.flatMap((row) => Array.from(row, (sign) => [sign, row.charAt(0)] as const)),
);
const WORD = /[\p{L}\p{N}](?:\S*[\p{L}\p{N}\p{M}|!])?/gu;

interface Wanted {
  readonly bare: string;
  readonly errors: number;
  readonly signs: number;
  readonly category: string;
  readonly term: string;
}

interface Near extends Match {
  readonly distance: number;
}

interface Word {
  readonly start: number;
  readonly end: number;
}

/** Words of a text, the letters of all of them, and where those of each begin; one more says where they end. */
interface Words {
  readonly words: readonly Word[];
  readonly letters: string;
  readonly from: readonly number[];
}

/**
 * Finds terms in text that was recognized, as whole words, also where a few of their letters were misread, left out or
 * added, or blanks got into them. The more letters a term has, the more of them may be wrong.
 */
export function createFuzzyTermFinder(terms: readonly Term[]): TermSearch | undefined {
  const wanted = distinct(terms);
  if (wanted.length === 0) return undefined;
  const steps = function* (text: string): Steps<readonly Match[]> {
    const words = wordsOf(text);
    const found: Match[] = [];
    for (const one of wanted) {
      yield;
      for (const near of nearest(words.words.flatMap((_, first) => nearAt(words, first, one)))) found.push(near);
    }
    return found;
  };
  return Object.assign((text: string) => finish(steps(text)), { steps });
}

/** Of rows of words that overlap the one that is nearest to the term: a short word beside it would pass for misread letters. */
function nearest(found: readonly Near[]): readonly Match[] {
  const kept: Near[] = [];
  const taken = new Set<number>();
  for (const one of found.toSorted((a, b) => a.distance - b.distance)) {
    const places = Array.from({ length: one.end - one.start }, (_, index) => one.start + index);
    if (places.some((place) => taken.has(place))) continue;
    for (const place of places) taken.add(place);
    kept.push(one);
  }
  return kept;
}

function distinct(terms: readonly Term[]): readonly Wanted[] {
  const found = new Map<string, Wanted>();
  for (const { term, label, formOf = term } of terms) {
    const bare = bareOf(term);
    const errors = bare.length < SHORTEST ? 0 : Math.min(MOST_ERRORS, Math.floor(bare.length / LETTERS_AN_ERROR));
    if (errors > 0 && !found.has(bare))
      found.set(bare, { bare, errors, signs: signsOf(bare), category: categoryOf(label), term: formOf });
  }
  return [...found.values()];
}

function wordsOf(text: string): Words {
  const words: Word[] = [];
  const from: number[] = [];
  let letters = '';
  for (const { 0: word, index } of text.matchAll(WORD)) {
    words.push({ start: index, end: index + word.length });
    from.push(letters.length);
    letters += bareOf(word);
  }
  return { words, letters, from: [...from, letters.length] };
}

/** The row of words from one on that is nearest to a term, if it is near enough. */
function nearAt({ words, letters, from }: Words, first: number, wanted: Wanted): readonly Near[] {
  const { bare, errors, signs, category, term } = wanted;
  const start = from[first] ?? 0;
  let best = errors + 1;
  let end = 0;
  for (let at = first; at < Math.min(words.length, first + MOST_WORDS); at++) {
    const length = (from[at + 1] ?? 0) - start;
    if (length < bare.length - errors) continue;
    if (length > bare.length + errors) break;
    const row = letters.slice(start, start + length);
    if (differing(signsOf(row) ^ signs) > 2 * errors) continue;
    const distance = distanceWithin(row, bare, best - 1);
    if (distance < best) [best, end] = [distance, words[at]?.end ?? 0];
  }
  return best > errors ? [] : [{ start: words[first]?.start ?? 0, end, category, term, distance: best }];
}

/** Letters and digits without accents and case; those that look alike are one. */
function bareOf(text: string): string {
  let bare = '';
  for (const letter of text.normalize('NFKD').toLowerCase().replaceAll('ß', 'ss').replaceAll('ł', 'l'))
    if (/[\p{L}\p{N}|!]/u.test(letter)) bare += FIRST_ALIKE.get(letter) ?? letter;
  return bare;
}

/** Which letters and digits a text has, a bit for several of them. */
function signsOf(bare: string): number {
  let signs = 0;
  for (let at = 0; at < bare.length; at++) signs |= 1 << (bare.charCodeAt(at) & 31);
  return signs;
}

function differing(bits: number): number {
  let count = 0;
  for (let left = bits; left !== 0; left &= left - 1) count++;
  return count;
}

/** How many letters must be changed, left out or added to make one text of another; `most` + 1 where it is more. */
function distanceWithin(a: string, b: string, most: number): number {
  if (Math.abs(a.length - b.length) > most) return most + 1;
  let before = Uint8Array.from({ length: b.length + 1 }, (_, index) => Math.min(index, most + 1));
  for (let row = 1; row <= a.length; row++) {
    const next = new Uint8Array(b.length + 1).fill(most + 1);
    if (row <= most) next[0] = row;
    let least = next[0] ?? 0;
    for (let column = Math.max(1, row - most); column <= Math.min(b.length, row + most); column++) {
      const changed = (before[column - 1] ?? 0) + (a.charCodeAt(row - 1) === b.charCodeAt(column - 1) ? 0 : 1);
      const value = Math.min(changed, (before[column] ?? 0) + 1, (next[column - 1] ?? 0) + 1, most + 1);
      next[column] = value;
      least = Math.min(least, value);
    }
    if (least > most) return most + 1;
    before = next;
  }
  return before[b.length] ?? most + 1;
}
