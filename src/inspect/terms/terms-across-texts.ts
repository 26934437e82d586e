import type { Steps } from '#/wire/document/steps.ts';
import type { Match } from '../match.ts';
import {
  isKnown,
  partsOf,
  piecesIn,
  runsOf,
  type Join,
  type PartMatch,
  type ReadText,
  type TextRun,
} from '../decoding/text-runs.ts';
import { foldForTerms, spellingsOf } from '../decoding/term-fold.ts';

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
 * first of the next follow one another in a term, so that most runs are not made. `find`: the terms in a text.
 */
export function* termsAcrossTexts(
  read: readonly ReadText[],
  { within, between }: Seams,
  find: (text: string) => readonly Match[],
): Steps<readonly PartMatch[]> {
  const found = new Map<string, PartMatch>();
  const use = (run: TextRun): void => {
    for (const half of partedIn(run, find)) found.set(`${half.leaf} ${half.start} ${half.end} ${half.category}`, half);
  };
  let hasEither = false;
  const joined: Join = (left, right) => {
    const seam = lastLetter(left) + firstLetter(right);
    const isBetween = between.has(seam);
    if (within.has(seam)) {
      hasEither ||= isBetween;
      return '';
    }
    return isBetween ? ' ' : undefined;
  };
  yield* runsOf(read, true, joined, use);
  // Letters that follow one another both within words and between them are joined both ways.
  const apart: Join = (left, right) => {
    const seam = lastLetter(left) + firstLetter(right);
    return between.has(seam) ? ' ' : within.has(seam) ? '' : undefined;
  };
  if (hasEither) yield* runsOf(read, true, apart, use);
  return [...found.values()];
}

/** The parts of terms that cross a boundary. A term that is whole on one side has no other half. */
function partedIn(run: TextRun, find: (text: string) => readonly Match[]): readonly PartMatch[] {
  const own = new Map<number, readonly Match[]>();
  return find(run.text).flatMap((match) => {
    const { start, end, category } = match;
    const crossed = piecesIn(run, match);
    if (crossed.length < 2 || end - start < SHORTEST) return [];
    // Inside a word of a text that only ends so nothing begins.
    if (start > crossed[0]!.start && LETTER.test(run.text.charAt(start - 1))) return [];
    for (const piece of crossed) {
      const known = own.get(piece.start) ?? find(run.text.slice(piece.start, piece.end));
      own.set(piece.start, known);
      const half = { start: Math.max(start - piece.start, 0), end: end - piece.start, category };
      if (isKnown(known, half)) return [];
    }
    return partsOf(run, match);
  });
}

function lastLetter(text: string): string {
  return Array.from(foldForTerms(text.slice(-NEAR)).text).findLast((unit) => LETTER.test(unit)) ?? '';
}

function firstLetter(text: string): string {
  return Array.from(foldForTerms(text.slice(0, NEAR)).text).find((unit) => LETTER.test(unit)) ?? '';
}
