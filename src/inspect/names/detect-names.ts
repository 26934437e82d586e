import type { Category } from '#/config/entities.ts';
import type { Detection, Span } from '../detectors/detector.ts';
import { outermost } from '../merge.ts';
import type { NameSearch } from './name-search.ts';
import { withoutNobody } from './not-names.ts';
import { writtenIn } from '../decoding/reading.ts';
import { nameReadingsOf, together } from '../decoding/readings.ts';

/** Kinds that only a model finds, which adds to the addresses that detectors find. */
export const NAME_CATEGORIES: ReadonlySet<string> = new Set<Category>(['PERSON_NAME', 'LOCATION', 'ORGANIZATION']);

/** What `x-gw-unscanned` and rows call them where nobody looked for them. */
export const NAMES = 'names';

/** Names were to be looked for, and nobody could: nothing is known of them. */
export class NamesUnavailable extends Error {
  override readonly name = 'NamesUnavailable';
  /** There is nobody to ask in this installation. */
  readonly isForGood: boolean;

  constructor(message: string, options: ErrorOptions & { isForGood?: boolean } = {}) {
    super(message, options);
    this.isForGood = options.isForGood ?? false;
  }
}

/** Whether names are to be looked for. */
function wantsNames(categories: ReadonlySet<string> | undefined): categories is ReadonlySet<string> {
  if (categories === undefined) return false;
  for (const category of NAME_CATEGORIES) if (categories.has(category)) return true;
  return false;
}

/**
 * A detection that finds names too, where categories name them; without `names`, or while they are not there, it rejects
 * with `NamesUnavailable` instead. `there`: whether the installation has such a model.
 */
export function withNames(detection: Detection, names: NameSearch | undefined, there: () => boolean): Detection {
  const all = new Set([...detection.categories, ...NAME_CATEGORIES]);
  // Places and firms are looked for where they are named: a question about Paris tells nothing of anybody.
  const personal = new Set([...detection.categories, 'PERSON_NAME' satisfies Category]);
  return {
    get categories() {
      return names && there() ? all : detection.categories;
    },
    get byDefault() {
      return names && there() ? personal : undefined;
    },
    needsWorker: (length, categories) => wantsNames(categories) || detection.needsWorker(length),
    findNow: (text, categories) => detection.findNow(text, categories),
    search: (search, signal, asker) => detection.search(search, signal, asker),
    async find(texts, categories, signal, asker) {
      if (!wantsNames(categories)) return detection.find(texts, categories, signal, asker);
      if (!names) throw new NamesUnavailable('this installation has no model of names', { isForGood: true });
      const [structured, named] = await Promise.all([
        detection.find(texts, categories, signal, asker),
        askedInReadings(names, texts, signal),
      ]);
      const chosen = named.map((spans) => spans.filter(({ category }) => categories.has(category)));
      const everywhere = carriedOn(texts, chosen);
      return texts.map((_, index) => united(structured[index] ?? [], everywhere[index] ?? []));
    },
  };
}

/** The names in texts as they are written, and where letters are hidden as they read. */
async function askedInReadings(
  names: NameSearch,
  texts: readonly string[],
  signal: AbortSignal | undefined,
): Promise<readonly (readonly Span[])[]> {
  const readings = texts.map(nameReadingsOf);
  const more = readings.flatMap((own) => own.map(({ text }) => text));
  if (more.length === 0) return asked(names, texts, signal);
  const found = await asked(names, [...texts, ...more], signal);
  const inReadings = found.slice(texts.length).values();
  return readings.map((own, index) => {
    const hidden = own.flatMap((reading) => writtenIn(reading, inReadings.next().value ?? []));
    return together(found[index] ?? [], hidden);
  });
}

async function asked(
  names: NameSearch,
  texts: readonly string[],
  signal: AbortSignal | undefined,
): Promise<readonly (readonly Span[])[]> {
  try {
    const found = await names.find(texts, signal);
    return found.map((spans, index) => withoutNobody(texts[index] ?? '', spans));
  } catch (cause) {
    signal?.throwIfAborted();
    throw new NamesUnavailable('the model of names did not answer', { cause });
  }
}

const WORD = /[\p{L}\p{M}\p{N}]+/gu;

/**
 * What was found as a name in one text is one in the same text and in those after it too: whole words, in the same case.
 * Not in those before it, for they have been sent as they are: the same beginning of a conversation stays the same.
 */
function carriedOn(texts: readonly string[], found: readonly (readonly Span[])[]): readonly (readonly Span[])[] {
  if (found.every((spans) => spans.length === 0)) return found;
  /** By first word: the names that begin with it, with their categories. */
  const known = new Map<string, Map<string, string>>();
  return texts.map((text, index) => {
    const spans = found[index] ?? [];
    for (const { start, end, category } of spans) {
      const name = text.slice(start, end);
      const [first] = name.match(WORD) ?? [];
      if (first === undefined || !name.startsWith(first) || name.length < 3) continue;
      const names = known.get(first) ?? new Map<string, string>();
      if (!names.has(name)) known.set(first, names.set(name, category));
    }
    return known.size === 0 ? spans : [...spans, ...again(text, spans, known)];
  });
}

/** Names that are known already, where none was found. */
function again(
  text: string,
  spans: readonly Span[],
  known: ReadonlyMap<string, ReadonlyMap<string, string>>,
): readonly Span[] {
  const ends = new Map(spans.map(({ start, end }) => [start, end]));
  const more: Span[] = [];
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
function united(structured: readonly Span[], names: readonly Span[]): readonly Span[] {
  return names.length === 0 ? structured : outermost([...structured, ...names]);
}
