import type { Category } from '#/values/entities.ts';
import type { Detection } from '../detection.ts';
import { type Match, outermost, together } from '../match.ts';

import { withoutNobody } from './not-names.ts';
import { matchesInSource, nameViewsOf } from '../decoding/decoded-view.ts';

/** Kinds that only a model finds, which adds to the addresses that detectors find. */
export const NAME_CATEGORIES: ReadonlySet<string> = new Set<Category>(['PERSON_NAME', 'LOCATION', 'ORGANIZATION']);

/** Their name in `x-gw-unscanned` and rows if they were not searched for. */
export const NAMES = 'names';

/** Finds names in texts, asking the local model as little as can be. */
export interface NameSearch {
  /** The names in each text. Rejects with `ModelFault`, or with the signal's reason; then the question is dropped. */
  find(texts: readonly string[], signal?: AbortSignal): Promise<readonly (readonly Match[])[]>;
}

const LETTER = /\p{L}/u;
/** Names of members, mostly those of the format (`criteria`, `tool_choice`, `maxTokens`): taken for names of people, they break it. */
const IDENTIFIER = /^[a-z][a-z0-9]*(?:[_.-][a-z0-9]+|[A-Z][a-z0-9]*)*$/;

/** Whether a text may hold a name: who searches for names is asked about no other. */
export function mayHoldName(text: string): boolean {
  return LETTER.test(text) && !IDENTIFIER.test(text);
}

/** Names could not be searched for, so it is unknown whether there are any. */
export class NamesUnavailable extends Error {
  override readonly name = 'NamesUnavailable';
  /** This installation has no name model. */
  readonly isForGood: boolean;

  constructor(message: string, options: ErrorOptions & { isForGood?: boolean } = {}) {
    super(message, options);
    this.isForGood = options.isForGood ?? false;
  }
}

/** Whether names are to be looked for. */
function wantsNames(categories: ReadonlySet<string>): boolean {
  for (const category of NAME_CATEGORIES) if (categories.has(category)) return true;
  return false;
}

/** A detection of all kinds but names. */
interface OnTheSpot extends Pick<Detection, 'categories' | 'findNow' | 'find' | 'search'> {
  /** Total length of texts up to which they are searched on the spot. */
  readonly longestNow: number;
}

/**
 * A detection that finds names too, where categories name them; without `names`, or while they are not there, it rejects
 * with `NamesUnavailable` instead. `there`: whether the installation has such a model.
 */
export function withNames(detection: OnTheSpot, names: NameSearch | undefined, there: () => boolean): Detection {
  const all = new Set([...detection.categories, ...NAME_CATEGORIES]);
  // Places and companies count only if policy names them: a question about Paris reveals nothing personal.
  const personal = new Set([...detection.categories, 'PERSON_NAME' satisfies Category]);
  return {
    get categories() {
      return names && there() ? all : detection.categories;
    },
    get byDefault() {
      return names && there() ? personal : undefined;
    },
    needsWorker: (length, categories) =>
      length > detection.longestNow || (categories !== undefined && wantsNames(categories)),
    findNow: detection.findNow,
    search: (search, signal, asker) => detection.search(search, signal, asker),
    async find(texts, categories, signal, asker) {
      if (categories === undefined || !wantsNames(categories)) return detection.find(texts, categories, signal, asker);
      if (!names) throw new NamesUnavailable('this installation has no model of names', { isForGood: true });
      const [structured, named] = await Promise.all([
        detection.find(texts, categories, signal, asker),
        askedInViews(names, texts, signal),
      ]);
      const chosen = named.map((matches) => matches.filter(({ category }) => categories.has(category)));
      const everywhere = carriedOn(texts, chosen);
      return texts.map((_, index) => united(structured[index] ?? [], everywhere[index] ?? []));
    },
  };
}

/** The names in texts as they are written, and where letters are hidden as they read. */
async function askedInViews(
  names: NameSearch,
  texts: readonly string[],
  signal: AbortSignal | undefined,
): Promise<readonly (readonly Match[])[]> {
  const views = texts.map(nameViewsOf);
  const more = views.flatMap((own) => own.map(({ text }) => text));
  if (more.length === 0) return asked(names, texts, signal);
  const found = await asked(names, [...texts, ...more], signal);
  const inViews = found.slice(texts.length).values();
  return views.map((own, index) => {
    const hidden = own.flatMap((view) => matchesInSource(view, inViews.next().value ?? []));
    return together(found[index] ?? [], hidden);
  });
}

async function asked(
  names: NameSearch,
  texts: readonly string[],
  signal: AbortSignal | undefined,
): Promise<readonly (readonly Match[])[]> {
  try {
    const found = await names.find(texts, signal);
    return found.map((matches, index) => withoutNobody(texts[index] ?? '', matches));
  } catch (cause) {
    signal?.throwIfAborted();
    throw new NamesUnavailable('the model of names did not answer', { cause });
  }
}

const WORD = /[\p{L}\p{M}\p{N}]+/gu;

/**
 * A name found in one text is also a match in the rest of that text and in later ones: whole words, in the same case.
 * Not in earlier texts, which were sent unchanged: the beginning of a conversation stays the same.
 */
function carriedOn(texts: readonly string[], found: readonly (readonly Match[])[]): readonly (readonly Match[])[] {
  if (found.every((matches) => matches.length === 0)) return found;
  /** By first word: the names that begin with it, with their categories. */
  const known = new Map<string, Map<string, string>>();
  return texts.map((text, index) => {
    const matches = found[index] ?? [];
    for (const { start, end, category } of matches) {
      const name = text.slice(start, end);
      const [first] = name.match(WORD) ?? [];
      if (first === undefined || !name.startsWith(first) || name.length < 3) continue;
      const names = known.get(first) ?? new Map<string, string>();
      if (!names.has(name)) known.set(first, names.set(name, category));
    }
    return known.size === 0 ? matches : [...matches, ...again(text, matches, known)];
  });
}

/** Names that are known already, where none was found. */
function again(
  text: string,
  matches: readonly Match[],
  known: ReadonlyMap<string, ReadonlyMap<string, string>>,
): readonly Match[] {
  const ends = new Map(matches.map(({ start, end }) => [start, end]));
  const more: Match[] = [];
  let taken = 0;
  for (const { 0: word, index: start } of text.matchAll(WORD)) {
    taken = Math.max(taken, ends.get(start) ?? 0);
    const names = known.get(word);
    if (!names || start < taken) continue;
    const [longest] = [...names]
      .filter(([name]) => standsAt(text, name, start))
      .sort(([a], [b]) => b.length - a.length);
    if (!longest) continue;
    const [name, category] = longest;
    taken = start + name.length;
    more.push({ start, end: taken, category });
  }
  return more;
}

function standsAt(text: string, name: string, start: number): boolean {
  const end = start + name.length;
  return text.startsWith(name, start) && !(end < text.length && /[\p{L}\p{M}\p{N}]/u.test(text.charAt(end)));
}

/** Both, in order of place; what lies within another find is a part of it. Those that only touch are united later. */
function united(structured: readonly Match[], names: readonly Match[]): readonly Match[] {
  return names.length === 0 ? structured : outermost([...structured, ...names]);
}
