import type { Detector, Span } from './detector.ts';
import type { Examiner } from './examiner.ts';
import { createExaminers, type DetectionOptions } from './list.ts';
import { type Rank, ranksOf, resolve } from './resolve.ts';
import { createSweep } from './sweep.ts';
import type { Steps } from '#/wire/document/steps.ts';

/** Finds personal data and secrets of every structured kind in one pass over a text. */
export interface Detection {
  /** The categories it can find. */
  readonly categories: ReadonlySet<string>;
  /**
   * The finds, sorted and without overlaps, offsets in UTF-16 code units of the text as given. With `categories`
   * only those are looked for; unknown names are ignored. Time grows with the length of the text, whatever it says.
   */
  find(text: string, categories?: ReadonlySet<string>): readonly Span[];
  /** The same in steps. */
  steps(text: string, categories?: ReadonlySet<string>): Steps<readonly Span[]>;
}

/** Builds the detection once per process; it is immutable to its callers. Throws on an unknown phone region. */
export function createDetection(options?: DetectionOptions): Detection {
  const examiners = createExaminers(options);
  const categories = new Set(examiners.map(({ category }) => category));
  const ranks = ranksOf(examiners);
  // By selection of examiners: few in practice, one a policy.
  const searches = new Map<number, Search>();
  const known = new WeakMap<ReadonlySet<string>, { readonly size: number; readonly search: Search }>();
  const searchOf = (wanted: ReadonlySet<string> | undefined): Search => {
    const last = wanted && known.get(wanted);
    if (last && last.size === wanted.size) return last.search;
    let mask = 0;
    for (let index = 0; index < examiners.length; index += 1) {
      if (wanted === undefined || wanted.has((examiners[index] as Examiner).category)) mask += 2 ** index;
    }
    let search = searches.get(mask);
    if (search === undefined) {
      const chosen = examiners.filter(({ category }) => wanted === undefined || wanted.has(category));
      searches.set(mask, (search = createSearch(chosen, ranks)));
    }
    if (wanted) known.set(wanted, { size: wanted.size, search });
    return search;
  };
  const all = searchOf(undefined);
  return {
    categories,
    find: (text, wanted) => (wanted === undefined ? all : searchOf(wanted))(text),
    steps: (text, wanted) => (wanted === undefined ? all : searchOf(wanted)).steps(text),
  };
}

/** Every kind as a detector of its own, each walking over the whole text: what `createDetection` finds, kind by kind. */
export function createDetectors(options?: DetectionOptions): readonly Detector[] {
  const examiners = createExaminers(options);
  const ranks = ranksOf(examiners);
  return examiners.map((examiner) => ({ category: examiner.category, find: createSearch([examiner], ranks) }));
}

interface Search {
  (text: string): readonly Span[];
  steps(text: string): Steps<readonly Span[]>;
}

function createSearch(examiners: readonly Examiner[], ranks: ReadonlyMap<string, Rank>): Search {
  const sweep = createSweep(examiners);
  return Object.assign((text: string) => resolve(sweep(text), ranks), {
    *steps(text: string): Steps<readonly Span[]> {
      return resolve(yield* sweep.steps(text), ranks);
    },
  });
}
