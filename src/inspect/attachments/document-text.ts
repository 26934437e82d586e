import type { CustomTerm } from '#/config/snapshot.ts';
import type { Replacement, TextUnit } from '#/ports/documents.ts';
import { splitAddresses } from './split-addresses.ts';
import { NAME_CATEGORIES } from '../names/detect-names.ts';
import { notSearched } from '../detect-leaves.ts';
import type { Detection, Matches, Search } from '../detection.ts';
import { type Match, mergeActions, type Action } from '../match.ts';
import { decodedText } from '../decoding/decoded-view.ts';
import { tagLiterals, TagTable } from '../tags.ts';
import { foldForTerms } from '../decoding/term-fold.ts';
import type { Term } from '../terms/terms.ts';

/** What to search for in a document. */
export interface DocumentScope {
  /** In capitals; undefined: every kind that can be found. */
  readonly categories: ReadonlySet<string> | undefined;
  /** Found in any case. */
  readonly terms: readonly CustomTerm[];
  /** Pages whose text was recognized: there what may be misread is looked for as well. */
  readonly recognizedPages?: readonly number[];
}

/** Matches of a document, and the tags that replace them. */
export interface DocumentFindings {
  readonly replacements: readonly Replacement[];
  /** Every spelling that was found: none may be left in the result. */
  readonly originals: readonly string[];
  /** Category -> number of stretches. */
  readonly findings: Readonly<Record<string, number>>;
  /** In the order of first appearance. The original is as it was spelled first. */
  readonly mapping: readonly { readonly token: string; readonly original: string }[];
}

/** A shorter name is found again as whole words only, as the engine looks for originals in what it has written. */
const LONG_NAME = 8;

/**
 * Finds the texts to replace in a document, hidden parts included. A match is replaced wherever it
 * stands, however it is spelled, by the same tag. Throws `inspection_unavailable` where it could not be searched.
 */
export async function findInDocument(
  units: readonly TextUnit[],
  scope: DocumentScope,
  detection: Detection,
  tags = tagsFor(units),
): Promise<DocumentFindings> {
  return tagDocument(units, await searchDocument(units, scope, detection), tags);
}

/** A table without tags that never issues a tag that the document already contains. */
export function tagsFor(units: readonly TextUnit[]): TagTable {
  const literals = units.flatMap(({ text }) =>
    Array.from(tagLiterals(text), ({ start, end }) => text.slice(start, end)),
  );
  return new TagTable(new Set(literals));
}

/** The matches of each unit, terms by their labels: the first of the two steps of `findInDocument`. */
export async function searchDocument(
  units: readonly TextUnit[],
  { categories, terms, recognizedPages = [] }: DocumentScope,
  detection: Detection,
): Promise<readonly (readonly Action[])[]> {
  const texts = units.map(({ text }) => text);
  const matches = await detect(units, categories, detection);
  const broken = categories?.has('EMAIL') === false ? [] : await splitAddresses(units, detection);
  const named = await findTerms(texts, terms, detection);
  const recognized = new Set(recognizedPages);
  const doubtful = units.map(({ text, page = -1, visibility }) =>
    visibility === 'shown' && recognized.has(page) ? text : '',
  );
  const kinds = categories && { categories };
  const misread = recognized.size > 0 ? await searched({ kind: 'misread', texts: doubtful, ...kinds }, detection) : [];
  const found = texts.map((text, index) => {
    const inUnit = [
      ...(named?.[index] ?? []),
      ...(broken[index] ?? []),
      ...(matches[index] ?? []),
      ...(misread[index] ?? []),
    ];
    return mergeActions(inUnit.map(toTag)).map((action) => ({ ...action, text: text.slice(action.start, action.end) }));
  });
  const known = distinct(found.flat());
  const everywhere = await findTerms(texts, known, detection);
  const nearTerms: Search = { kind: 'fuzzy terms', texts: doubtful, terms: [...terms, ...known] };
  const near = recognized.size > 0 ? await searched(nearTerms, detection) : [];
  return texts.map((_, index) =>
    mergeActions([...(found[index] ?? []), ...(everywhere?.[index] ?? []), ...(near?.[index] ?? [])].map(toTag)),
  );
}

/** Gives the matches tags of a table, which may have some already: the second step. */
export function tagDocument(
  units: readonly TextUnit[],
  found: readonly (readonly Action[])[],
  table: TagTable,
): DocumentFindings {
  const tags = new DocumentTags(table);
  const replacements = units.flatMap(({ id, text }, index) =>
    (found[index] ?? []).map(({ start, end, category, term }) => {
      return { unit: id, start, end, tag: tags.tagFor(text.slice(start, end), category, term) };
    }),
  );
  return { replacements, ...tags.told() };
}

/** A text with its replacements made. They are sorted and don't overlap. */
export function replaced(text: string, replacements: readonly Pick<Replacement, 'start' | 'end' | 'tag'>[]): string {
  let result = '';
  let at = 0;
  for (const { start, end, tag } of replacements) {
    result += text.slice(at, start) + tag;
    at = end;
  }
  return result + text.slice(at);
}

/** The tags of one document: the same text, however it is spelled, and every form of a name has the same one. */
class DocumentTags {
  readonly #tags: TagTable;
  /** Folded -> as it was spelled first. */
  readonly #firsts = new Map<string, string>();
  readonly #spellings = new Set<string>();
  readonly #findings: Record<string, number> = {};

  constructor(tags: TagTable) {
    this.#tags = tags;
    for (const original of Object.values(tags.originals)) this.#firsts.set(folded(original), original);
  }

  tagFor(text: string, category: string, term?: string): string {
    const read = decodedText(text);
    const key = folded(term ?? read);
    let first = this.#firsts.get(key);
    if (first === undefined) this.#firsts.set(key, (first = read));
    for (const spelling of [text, read]) this.#spellings.add(spelling);
    this.#findings[category] = (this.#findings[category] ?? 0) + 1;
    return this.#tags.tagFor(first, category);
  }

  told(): Omit<DocumentFindings, 'replacements'> {
    const mapping = Object.entries(this.#tags.originals).map(([token, original]) => ({ token, original }));
    return { mapping, originals: [...this.#spellings], findings: this.#findings };
  }
}

/** Texts that were found, each once, as terms. A form of another term may be a common word: it is a whole one. */
function distinct(found: readonly (Action & { readonly text: string })[]): readonly Term[] {
  const terms = new Map<string, Term>();
  for (const { text: written, category, term: given } of found) {
    const text = decodedText(written);
    const term = given ?? text;
    if (terms.has(text)) continue;
    const isWhole = folded(text) !== folded(term) || NAME_CATEGORIES.has(category);
    const wholeBelow = isWhole ? { wholeBelow: LONG_NAME } : {};
    terms.set(text, { term: text, label: category, ...wholeBelow, formOf: term });
  }
  return [...terms.values()];
}

function folded(text: string): string {
  return foldForTerms(text, true).text.replaceAll(' ', '');
}

function toTag(match: Match): Action {
  return { ...match, act: 'tag' };
}

/**
 * What detectors find in each unit. A model of names is not asked about identifiers, of which it knows nothing: it would
 * take the format's own words for names.
 */
async function detect(
  units: readonly TextUnit[],
  categories: ReadonlySet<string> | undefined,
  detection: Detection,
): Promise<readonly (readonly Match[])[]> {
  const structured = categories && new Set([...categories].filter((category) => !NAME_CATEGORIES.has(category)));
  const kinds = [
    { some: units.filter(({ identifier }) => !identifier), of: categories },
    { some: units.filter(({ identifier }) => identifier), of: structured },
  ];
  const found = new Map<TextUnit, readonly Match[]>();
  for (const { some, of } of kinds) {
    const matches = await detectIn(
      some.map(({ text }) => text),
      of,
      detection,
    );
    for (const [index, unit] of some.entries()) found.set(unit, (matches[index] ?? []).filter(isCapital(unit.text)));
  }
  return units.map((unit) => found.get(unit) ?? []);
}

const CAPITAL = /[\p{Lu}\p{Lt}]/u;
const SMALL = /\p{Ll}/u;

/** Whether a find is no name in small letters among others in capitals: then the model took a word for one. */
function isCapital(text: string): (match: Match) => boolean {
  const capitals = CAPITAL.test(text);
  return ({ start, end, category }) => {
    if (!capitals || !NAME_CATEGORIES.has(category)) return true;
    const name = text.slice(start, end);
    return CAPITAL.test(name) || !SMALL.test(name);
  };
}

async function detectIn(
  texts: readonly string[],
  categories: ReadonlySet<string> | undefined,
  detection: Detection,
): Promise<Matches> {
  return orRefuse(detection.find(texts, categories));
}

/** Undefined where there are no terms. */
async function findTerms(
  texts: readonly string[],
  terms: readonly Term[],
  detection: Detection,
): Promise<Matches | undefined> {
  return terms.length === 0 ? undefined : searched({ kind: 'terms', texts, terms }, detection);
}

function searched(search: Search, detection: Detection): Promise<Matches> {
  return orRefuse(detection.search(search));
}

async function orRefuse(found: Promise<Matches>): Promise<Matches> {
  try {
    return await found;
  } catch (cause) {
    throw notSearched(cause, 'The document could not be searched for personal data, so nothing is returned.');
  }
}
