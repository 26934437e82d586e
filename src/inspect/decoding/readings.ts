import type { Span } from '../detectors/detector.ts';
import { escapesIn, formBlanksIn, lettersApartIn, marksIn, quotedIn, type Disguise } from './disguises.ts';
import { encodedTextIn } from './encoded-text.ts';
import { hiddenCharactersIn } from './hidden-characters.ts';
import { outermost } from '../merge.ts';
import { partedNumbersIn, partedSpans } from './parted-numbers.ts';
import { readSkipping, without, writtenIn, type Reading } from './reading.ts';
import { spelledAddressesIn } from './spelled-addresses.ts';
import { finish, type Steps } from '#/wire/document/steps.ts';
import { createTermFinder, type Term } from '../terms/terms.ts';

/** Escapes within escapes are followed so far. */
const MOST_ROUNDS = 4;

/**
 * A text as it is meant: without escapes of JSON, addresses, mail, HTML and Markdown, base64 and hexadecimal digits of a text
 * as that text, characters that hide as those they look like, and words whose letters stand apart in one; then without
 * marks of Markdown and HTML as well, as a reader sees it. Only where it is not written so. // spec 2.5
 */
function meant(text: string): readonly Reading[] {
  let reading: Reading | undefined;
  for (let round = 0; round < MOST_ROUNDS; round++) {
    const before = reading;
    for (const disguises of [escapesIn, encodedTextIn, quotedIn])
      reading = without(reading, text, disguises) ?? reading;
    if (reading === before) break;
  }
  for (const disguises of [formBlanksIn, hiddenCharactersIn, spelledAddressesIn])
    reading = without(reading, text, disguises) ?? reading;
  const unmarked = without(reading, text, marksIn);
  return [reading, unmarked && (without(unmarked, text, wordsApart) ?? unmarked)]
    .with(0, without(reading, text, wordsApart) ?? reading)
    .filter((one) => one !== undefined);
}

function wordsApart(text: string): readonly Disguise[] {
  return lettersApartIn(text, true);
}

function lettersApart(text: string): readonly Disguise[] {
  return lettersApartIn(text, false);
}

/** A stretch as it reads: what it is called by. */
export function asRead(text: string): string {
  return meant(text).at(-1)?.text ?? text;
}

/** The same of what is not written as it reads: all else counts only where it is found as it is written. */
function disguisedIn(text: string, reading: Reading, spans: readonly Span[]): readonly Span[] {
  return writtenIn(reading, spans).filter(({ start, end }, index) => {
    const span = spans[index];
    return span && text.slice(start, end) !== reading.text.slice(span.start, span.end);
  });
}

/** Finds terms in a text, at once or in steps. `skipped`: characters (`g`) that its reader leaves out, the same in every call. */
export interface TermFinder {
  (text: string, skipped?: RegExp): readonly Span[];
  steps(text: string, skipped?: RegExp): Steps<readonly Span[]>;
}

/**
 * Finds terms in a text as it is written and as it reads; where letters stand apart, whatever blanks they have. Undefined
 * where there are no terms.
 */
export function createReadingTermFinder(terms: readonly Term[]): TermFinder | undefined {
  const find = createTermFinder(terms);
  if (!find) return undefined;
  let findApart: ReturnType<typeof createTermFinder>;
  let findSkipping: ReturnType<typeof createTermFinder>;
  const steps = function* (text: string, skipped?: RegExp): Steps<readonly Span[]> {
    const more: Span[] = [];
    const add = (spans: readonly Span[]): void => {
      for (const span of spans) more.push(span);
    };
    for (const one of meant(text)) add(writtenIn(one, yield* find.steps(one.text)));
    yield;
    const apart = without(undefined, text, lettersApart);
    if (apart) {
      findApart ??= createTermFinder(terms.map(withoutBlanks));
      if (findApart) add(disguisedIn(text, apart, yield* findApart.steps(apart.text)));
    }
    const reading = skipped && readSkipping(text, skipped);
    if (reading) {
      findSkipping ??= createTermFinder(terms.map((term) => withoutAny(term, skipped)));
      if (findSkipping) add(writtenIn(reading, yield* findSkipping.steps(reading.text)));
    }
    return together(yield* find.steps(text), more);
  };
  return Object.assign((text: string, skipped?: RegExp) => finish(steps(text, skipped)), { steps });
}

function withoutBlanks(term: Term): Term {
  return withoutAny(term, /\s+/g);
}

function withoutAny(term: Term, characters: RegExp): Term {
  return { ...term, term: term.term.replace(characters, ''), formOf: term.formOf ?? term.term };
}

/** Stretches once, those first that are found as they are written. */
export function together(found: readonly Span[], more: readonly Span[]): readonly Span[] {
  return more.length > 0 ? outermost([...found, ...more]) : found;
}

/** A reading, and what of the finds in it counts, where that is written. */
export interface Read {
  readonly reading: Reading;
  readonly spansOf: (spans: readonly Span[]) => readonly Span[];
}

/** Readings of a text: as it is meant, and with its numbers in one row. */
export function readingsOf(text: string): readonly Read[] {
  const own = meant(text).map((reading): Read => ({ reading, spansOf: (spans) => writtenIn(reading, spans) }));
  const joined = without(own.at(-1)?.reading, text, partedNumbersIn);
  if (!joined) return own;
  return [...own, { reading: joined, spansOf: (spans) => partedSpans(text, joined, spans) }];
}

/** Whether letters are hidden among letters, or written out one by one: marks around whole words hide no name. */
const HIDES_LETTERS = new RegExp(
  [
    '\\\\u[\\da-f]{4}|%[c-f][\\da-f]|=[C-F][\\dA-F]=|&(?:#|[a-z]{2,8};)',
    '\\p{L}(?:[*`~]{1,3}|</?[a-z][^<>]{0,60}>)\\p{L}',
    '[\\u0000\\u24b6-\\u24e9\\u{1f110}-\\u{1f189}\\u{e0041}-\\u{e007a}]',
    '(?<!\\S)\\p{L}\\s{1,4}\\p{L}\\s{1,4}\\p{L}(?!\\S)',
  ].join('|'),
  'iu',
);

/** Readings in which a name may stand that is not written as such. */
export function nameReadingsOf(text: string): readonly Reading[] {
  return HIDES_LETTERS.test(text) ? meant(text) : [];
}
