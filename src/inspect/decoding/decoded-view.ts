import { escapesIn, formBlanksIn, lettersApartIn, marksIn, quotedIn, type Disguise } from './disguises.ts';
import { encodedTextIn } from './encoded-text.ts';
import { lookalikeCharactersIn } from './lookalike-characters.ts';
import type { Match, TextRange } from '../match.ts';
import { spelledAddressesIn } from './spelled-addresses.ts';

/** A text with escapes or markup removed, and the way back to the text that it was decoded from, its source. */
export interface DecodedView {
  readonly text: string;
  /** Where a range of the view stands in the source. */
  toSource(start: number, end: number): TextRange;
}

/** The matches of a view at their places in the source. */
export function matchesInSource(view: DecodedView, matches: readonly Match[]): readonly Match[] {
  return matches.map((match) => ({ ...match, ...view.toSource(match.start, match.end) }));
}

/** The view without the characters that a reader ignores; undefined where the text has none. */
export function viewSkipping(text: string, skipped: RegExp): DecodedView | undefined {
  return viewWithout(undefined, text, (written) =>
    Array.from(written.matchAll(skipped), ({ 0: said, index }) => ({
      start: index,
      end: index + said.length,
      read: '',
    })),
  );
}

/** The view `before`, or the text, with its disguises replaced by what they stand for; undefined where it has none. */
export function viewWithout(
  before: DecodedView | undefined,
  text: string,
  find: (text: string) => readonly Disguise[],
): DecodedView | undefined {
  const written = before?.text ?? text;
  const disguises = find(written);
  if (disguises.length === 0) return undefined;
  const places: Place[] = [];
  const parts: string[] = [];
  let at = 0;
  let length = 0;
  for (const { start, end, read } of disguises) {
    parts.push(written.slice(at, start), read);
    length += start - at;
    places.push({ start: length, end: length + read.length, from: start, to: end });
    length += read.length;
    at = end;
  }
  return {
    text: parts.join('') + written.slice(at),
    toSource: (start, end) => {
      const own = { start: startIn(places, start), end: endIn(places, end) };
      return before ? before.toSource(own.start, own.end) : own;
    },
  };
}

/** A replaced range: `start` to `end` in the view stands for `from` to `to` in the source. */
interface Place {
  readonly start: number;
  readonly end: number;
  readonly from: number;
  readonly to: number;
}

/** The start in the source: after removed text. */
function startIn(places: readonly Place[], start: number): number {
  const last = lastWhere(places, (place) => place.start <= start);
  if (!last) return start;
  return start < last.end ? last.from : last.to + start - last.end;
}

/** The end in the source: before removed text. */
function endIn(places: readonly Place[], end: number): number {
  const last = lastWhere(places, (place) => place.start < end);
  if (!last) return end;
  return end <= last.end ? last.to : last.to + end - last.end;
}

/** The last place that `holds`, where it holds for all before it. */
function lastWhere(places: readonly Place[], holds: (place: Place) => boolean): Place | undefined {
  let [low, high] = [0, places.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    const place = places[middle];
    if (place && holds(place)) low = middle + 1;
    else high = middle;
  }
  return places[low - 1];
}

/** How many layers of escapes within escapes are decoded. */
const MOST_ROUNDS = 4;

/**
 * The views of a text that differ from it, at most two. The first decodes escapes (JSON, URLs, mail, HTML, Markdown), base64
 * and hexadecimal text, look-alike characters and words whose letters stand apart. The second also drops the marks of
 * Markdown and HTML, as a reader sees the text. // spec 2.5
 */
export function decodedViews(text: string): readonly DecodedView[] {
  let view: DecodedView | undefined;
  for (let round = 0; round < MOST_ROUNDS; round++) {
    const before = view;
    for (const disguises of [escapesIn, encodedTextIn, quotedIn]) view = viewWithout(view, text, disguises) ?? view;
    if (view === before) break;
  }
  for (const disguises of [formBlanksIn, lookalikeCharactersIn, spelledAddressesIn])
    view = viewWithout(view, text, disguises) ?? view;
  const unmarked = viewWithout(view, text, marksIn);
  return [view, unmarked && (viewWithout(unmarked, text, wordsApart) ?? unmarked)]
    .with(0, viewWithout(view, text, wordsApart) ?? view)
    .filter((one) => one !== undefined);
}

function wordsApart(text: string): readonly Disguise[] {
  return lettersApartIn(text, true);
}

/** A text as a reader sees it. */
export function decodedText(text: string): string {
  return decodedViews(text).at(-1)?.text ?? text;
}

/** Escapes or marks among letters, or letters written one by one. Marks around whole words hide no name. */
const HIDES_LETTERS = new RegExp(
  [
    '\\\\u[\\da-f]{4}|%[c-f][\\da-f]|=[C-F][\\dA-F]=|&(?:#|[a-z]{2,8};)',
    '\\p{L}(?:[*`~]{1,3}|</?[a-z][^<>]{0,60}>)\\p{L}',
    '[\\u0000\\u24b6-\\u24e9\\u{1f110}-\\u{1f189}\\u{e0041}-\\u{e007a}]',
    '(?<!\\S)\\p{L}\\s{1,4}\\p{L}\\s{1,4}\\p{L}(?!\\S)',
  ].join('|'),
  'iu',
);

/** The views in which a name may stand that the text itself hides. */
export function nameViewsOf(text: string): readonly DecodedView[] {
  return HIDES_LETTERS.test(text) ? decodedViews(text) : [];
}
