import { finish, type Steps } from '#/wire/document/steps.ts';
import type { DetectionOptions } from '../detectors/list.ts';
import { createScanner, type Scanner } from '../detectors/scanner.ts';
import { united, type Match, type TextRange } from '../match.ts';
import { decodedViews, matchesInSource, viewWithout, type DecodedView } from './decoded-view.ts';
import { splitNumberMatches, splitNumbersIn } from './split-numbers.ts';
import { SHORT_WORD, suspiciousRangesIn } from './suspicious-ranges.ts';

/** A match this close to where a range was cut out may be a part of something longer. */
const MARGIN = 40;
/** An address, digits enough for a number, or a word that tells a secret: nothing else is looked for in a view. */
const TELLING = /@|(?:\d[^\d\n]{0,8}){6}|pass|pwd|secret|token|key|sk[-_]/i;

const NOTHING: readonly Match[] = Object.freeze([]);

/**
 * A scanner of texts as they are written and, around what may hide something, of their decoded views. A pure function of
 * text and kinds: threads run it as the event loop does.
 */
export function createDecodedScanner(options?: DetectionOptions): Scanner {
  const scanner = createScanner(options);
  return {
    categories: scanner.categories,
    find: (text, kinds) => {
      if (SHORT_WORD.test(text)) return NOTHING;
      const found = scanner.find(text, kinds);
      const suspicious = suspiciousRangesIn(text);
      if (suspicious.length === 0) return found;
      const hidden = finish(hiddenMatches(text, suspicious, scanner, kinds));
      return hidden.length === 0 ? found : united(found, hidden);
    },
    *steps(text, kinds) {
      if (SHORT_WORD.test(text)) return NOTHING;
      const found = yield* scanner.steps(text, kinds);
      yield;
      const hidden = yield* hiddenMatches(text, suspiciousRangesIn(text), scanner, kinds);
      return hidden.length === 0 ? found : united(found, hidden);
    },
  };
}

/** The matches in decoded views of these ranges, at their places in the text. */
function* hiddenMatches(
  text: string,
  ranges: readonly TextRange[],
  scanner: Scanner,
  kinds: ReadonlySet<string> | undefined,
): Steps<readonly Match[]> {
  const found: Match[] = [];
  for (const { start, end } of ranges) {
    yield;
    const own = text.slice(start, end);
    const from = start === 0 ? 0 : MARGIN;
    const to = end === text.length ? own.length : own.length - MARGIN;
    for (const { view, inSource } of searchedViews(own)) {
      if (!TELLING.test(view.text)) continue;
      for (const match of inSource(yield* scanner.steps(view.text, kinds)))
        if (match.start >= from && match.end <= to)
          found.push({ ...match, start: match.start + start, end: match.end + start });
    }
  }
  return found;
}

/** A view, and which of the matches in it count, at their places in the source. */
interface SearchedView {
  readonly view: DecodedView;
  readonly inSource: (matches: readonly Match[]) => readonly Match[];
}

/** The decoded views of a text, and one with its split numbers put together. */
function searchedViews(text: string): readonly SearchedView[] {
  const decoded = decodedViews(text).map((view): SearchedView => ({
    view,
    inSource: (matches) => matchesInSource(view, matches),
  }));
  const joined = viewWithout(decoded.at(-1)?.view, text, splitNumbersIn);
  if (!joined) return decoded;
  const inSource = (matches: readonly Match[]): readonly Match[] =>
    splitNumberMatches(text, joined.text, matches, matchesInSource(joined, matches));
  return [...decoded, { view: joined, inSource }];
}
