import type { Scanner } from '../detectors/scanner.ts';
import type { Matches, Search } from '../detection.ts';
import type { Match } from '../match.ts';
import { misreadNumbers } from '../decoding/ocr-numbers.ts';
import { correctedReading, misreadAddresses } from '../decoding/ocr-corrections.ts';
import { createFuzzyTermFinder } from '../terms/fuzzy-terms.ts';
import { createTermFinder } from '../terms/term-finder.ts';
import type { Steps } from '#/wire/document/steps.ts';

/** Searches step by step; the only way that anything is looked for in texts, whatever runs it. */
export function* searching(search: Search, detection: Scanner): Steps<Matches> {
  const { texts } = search;
  const found: (readonly Match[])[] = [];
  if (search.kind === 'categories') {
    for (const text of texts) found.push(yield* detection.steps(text, search.categories));
  } else if (search.kind === 'terms') {
    const finder = createTermFinder(search.terms);
    for (const [at, text] of texts.entries())
      found.push(finder ? yield* finder.steps(text, search.skipped?.[at]) : NOTHING);
  } else if (search.kind === 'fuzzy terms') {
    const finder = createFuzzyTermFinder(search.terms);
    for (const text of texts) found.push(finder ? yield* finder.steps(text) : NOTHING);
  } else {
    for (const text of texts) found.push(yield* misreadIn(text, search.categories, detection));
  }
  return found;
}

const NOTHING: readonly Match[] = [];

/** What is found in a text as it may have been written before it was misread, and by its layout alone. */
function* misreadIn(
  text: string,
  categories: ReadonlySet<string> | undefined,
  detection: Scanner,
): Steps<readonly Match[]> {
  const corrected = correctedReading(text);
  yield;
  const found = corrected === undefined ? NOTHING : yield* detection.steps(corrected, categories);
  const more = [...misreadNumbers(text), ...misreadAddresses(text)];
  return [...found, ...more.filter(({ category }) => categories?.has(category) ?? true)];
}
