import type { Detection } from '../detectors/detect.ts';
import type { Span } from '../detectors/detector.ts';
import { misreadNumbers } from '../decoding/misread-numbers.ts';
import { correctedReading, misreadAddresses } from '../decoding/misread-signs.ts';
import { createNearTermFinder } from '../terms/near-terms.ts';
import { createReadingTermFinder } from '../decoding/readings.ts';
import type { Steps } from '#/wire/document/steps.ts';
import type { Term } from '../terms/terms.ts';

/** What may be looked for in texts. A thread is handed it as it is: a copy must mean the same. */
export type Search =
  | { readonly kind: 'categories'; readonly texts: readonly string[]; readonly categories?: ReadonlySet<string> }
  /** `skipped`: for each text the characters (`g`) that its reader leaves out. */
  | {
      readonly kind: 'terms';
      readonly texts: readonly string[];
      readonly terms: readonly Term[];
      readonly skipped?: readonly (RegExp | undefined)[];
    }
  /** Terms in text that was recognized, misread ones too. */
  | { readonly kind: 'near terms'; readonly texts: readonly string[]; readonly terms: readonly Term[] }
  /** Categories in text that was recognized, where misread signs hide them. */
  | { readonly kind: 'misread'; readonly texts: readonly string[]; readonly categories?: ReadonlySet<string> };

/** The finds in each text, in order. */
export type Finds = readonly (readonly Span[])[];

/** Searches step by step; the only way that anything is looked for in texts, whatever runs it. */
export function* searching(search: Search, detection: Detection): Steps<Finds> {
  const { texts } = search;
  const found: (readonly Span[])[] = [];
  if (search.kind === 'categories') {
    for (const text of texts) found.push(yield* detection.steps(text, search.categories));
  } else if (search.kind === 'terms') {
    const finder = createReadingTermFinder(search.terms);
    for (const [at, text] of texts.entries())
      found.push(finder ? yield* finder.steps(text, search.skipped?.[at]) : NOTHING);
  } else if (search.kind === 'near terms') {
    const finder = createNearTermFinder(search.terms);
    for (const text of texts) found.push(finder ? yield* finder.steps(text) : NOTHING);
  } else {
    for (const text of texts) found.push(yield* misreadIn(text, search.categories, detection));
  }
  return found;
}

const NOTHING: readonly Span[] = [];

/** What is found in a text as it may have been written before it was misread, and by its layout alone. */
function* misreadIn(
  text: string,
  categories: ReadonlySet<string> | undefined,
  detection: Detection,
): Steps<readonly Span[]> {
  const corrected = correctedReading(text);
  yield;
  const found = corrected === undefined ? NOTHING : yield* detection.steps(corrected, categories);
  const more = [...misreadNumbers(text), ...misreadAddresses(text)];
  return [...found, ...more.filter(({ category }) => categories?.has(category) ?? true)];
}
