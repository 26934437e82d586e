import type { Steps } from '#/wire/document/steps.ts';
import type { Match } from '../match.ts';
import {
  beginOf,
  endOf,
  partsOf,
  isKnown,
  joined,
  type PartMatch,
  type Boundary,
  type ReadText,
} from '../decoding/text-boundaries.ts';
import { foldForTerms, spellingsOf } from './term-fold.ts';

/** Letters that follow one another in terms, in pairs: within a word, and with something between that is none. */
export interface Seams {
  readonly within: ReadonlySet<string>;
  readonly between: ReadonlySet<string>;
}

const LETTER = /[\p{L}\p{N}]/u;
/** A shorter term is parted by chance wherever one text ends and the next begins. */
const SHORTEST = 4;
/** As much of a text as is folded to know its first letter, or its last. */
const NEAR = 8;
const JOINTS_A_STEP = 64;

/** Where terms may be parted. */
export function seamsOf(terms: readonly { readonly term: string }[]): Seams {
  const within = new Set<string>();
  const between = new Set<string>();
  for (const { text } of terms.flatMap(({ term }) => spellingsOf(term.trim()))) {
    let last = '';
    let parted = false;
    for (const unit of text) {
      if (!LETTER.test(unit)) {
        parted = true;
        continue;
      }
      if (last !== '') (parted ? between : within).add(last + unit);
      last = unit;
      parted = false;
    }
  }
  return { within, between };
}

/**
 * Parts of terms that go on from one text in the next: of a message, of messages. Only where the last letter of one and the
 * first of the next follow one another in a term, so that most boundaries are not made. `find`: the terms in a text.
 */
export function* termsAcrossTexts(
  read: readonly ReadText[],
  { within, between }: Seams,
  find: (text: string) => readonly Match[],
): Steps<readonly PartMatch[]> {
  const found = new Map<string, PartMatch>();
  for (let at = 0, step = 1, looked = 0; at < read.length - 1; at += step) {
    if (++looked % JOINTS_A_STEP === 0) yield;
    step = 1;
    const seam = lastLetter(read[at]!.text) + firstLetter(read[at + 1]!.text);
    const boundaries = [
      within.has(seam) ? joined(read, at, '', true) : undefined,
      between.has(seam) ? joined(read, at, ' ', true) : undefined,
    ].filter((boundary) => boundary !== undefined);
    if (boundaries.length === 0) continue;
    yield;
    for (const half of boundaries.flatMap((boundary) => partedIn(boundary, find)))
      found.set(`${half.leaf} ${half.start} ${half.end} ${half.category}`, half);
    // Rows of short texts overlap by half of them, so that many of them cost no more than their length.
    const fewest = boundaries.reduce((least, { pieces }) => Math.min(least, pieces.length), Infinity);
    step = Math.max(1, fewest >> 1);
  }
  return [...found.values()];
}

/** The parts of terms that cross a boundary. A term that is whole on one side has no other half. */
function partedIn(boundary: Boundary, find: (text: string) => readonly Match[]): readonly PartMatch[] {
  const own = new Map<number, readonly Match[]>();
  return find(boundary.text).flatMap((match) => {
    const { start, end, category } = match;
    const crossed = boundary.pieces.filter((piece) => piece.start < end && piece.end > start);
    if (crossed.length < 2 || end - start < SHORTEST) return [];
    // Inside a word that only ends so nothing begins.
    if (start > 0 && LETTER.test(boundary.text.charAt(start - 1))) return [];
    for (const piece of crossed) {
      const known = own.get(piece.start) ?? find(boundary.text.slice(piece.start, piece.end));
      own.set(piece.start, known);
      const half = { start: Math.max(start - piece.start, 0), end: end - piece.start, category };
      if (isKnown(known, half)) return [];
    }
    return partsOf(boundary, match);
  });
}

function lastLetter(text: string): string {
  const folded = foldForTerms(text.slice(0, endOf(text, true)).slice(-NEAR)).text;
  return Array.from(folded).findLast((unit) => LETTER.test(unit)) ?? '';
}

function firstLetter(text: string): string {
  const folded = foldForTerms(text.slice(beginOf(text, true)).slice(0, NEAR)).text;
  return Array.from(folded).find((unit) => LETTER.test(unit)) ?? '';
}
