import { finish, type Steps } from '#/wire/document/steps.ts';
import { lettersApartIn, type Disguise } from '../decoding/disguises.ts';
import {
  decodedViews,
  matchesInSource,
  viewSkipping,
  viewWithout,
  type DecodedView,
} from '../decoding/decoded-view.ts';
import { together, type Match } from '../match.ts';
import { createTermSearch, type Term } from './terms.ts';

/** Finds terms in a text, at once or in steps. `skipped`: characters (`g`) that its reader leaves out, the same in every call. */
export interface TermFinder {
  (text: string, skipped?: RegExp): readonly Match[];
  steps(text: string, skipped?: RegExp): Steps<readonly Match[]>;
}

/**
 * Finds terms in a text as it is written and as it reads; where letters stand apart, whatever blanks they have. Undefined
 * where there are no terms.
 */
export function createTermFinder(terms: readonly Term[]): TermFinder | undefined {
  const find = createTermSearch(terms);
  if (!find) return undefined;
  let findApart: ReturnType<typeof createTermSearch>;
  let findSkipping: ReturnType<typeof createTermSearch>;
  const steps = function* (text: string, skipped?: RegExp): Steps<readonly Match[]> {
    const more: Match[] = [];
    const add = (matches: readonly Match[]): void => {
      for (const match of matches) more.push(match);
    };
    for (const one of decodedViews(text)) add(matchesInSource(one, yield* find.steps(one.text)));
    yield;
    const apart = viewWithout(undefined, text, lettersApart);
    if (apart) {
      findApart ??= createTermSearch(terms.map(withoutBlanks));
      if (findApart) add(disguisedIn(text, apart, yield* findApart.steps(apart.text)));
    }
    const view = skipped && viewSkipping(text, skipped);
    if (view) {
      findSkipping ??= createTermSearch(terms.map((term) => withoutAny(term, skipped)));
      if (findSkipping) add(matchesInSource(view, yield* findSkipping.steps(view.text)));
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

function lettersApart(text: string): readonly Disguise[] {
  return lettersApartIn(text, false);
}

/** The matches of a view in the source, without those that the source spells the same way: those it is searched for itself. */
function disguisedIn(text: string, view: DecodedView, matches: readonly Match[]): readonly Match[] {
  return matchesInSource(view, matches).filter(({ start, end }, index) => {
    const match = matches[index];
    return match && text.slice(start, end) !== view.text.slice(match.start, match.end);
  });
}
