import Type, { type Static } from 'typebox';
import type { Glossary } from './glossary.ts';
import type { Tokenizer } from './tokenizer.ts';
import { first, folded, hashOf, wordsOf } from './words.ts';

/**
 * How a prompt becomes numbers: inference/training/router/data.py does the same to the letter, and a test holds both to
 * the same examples. Lengths are of characters, as Python counts them.
 */

/** What a router is asked about. // spec 4.4.3 */
export interface RouterState {
  readonly request: string;
  /** The turns before. */
  readonly previous?: string;
  readonly system?: string;
  /** `name (mime)` of each file, or all of them in one text. */
  readonly attachments?: string | readonly string[];
}

/** A prompt as the graph takes it. */
export interface RouterNumbers {
  readonly ids: readonly number[];
  readonly grams: readonly number[];
  readonly features: readonly number[];
}

const PIECES = Type.Integer({ minimum: 1, maximum: 8192 });

/** What a router reads. */
export const ROUTER_LIMITS = Type.Object({
  /** Pieces in all, marks included. */
  tokens: PIECES,
  /** Pieces of each part: beginning and end of the request, earlier turns, the system's words, names of files. */
  head: PIECES,
  tail: PIECES,
  previous: PIECES,
  system: PIECES,
  attachments: PIECES,
  /** Hashed words, and how many numbers there are for them. */
  grams: Type.Integer({ minimum: 1, maximum: 65_536 }),
  buckets: Type.Integer({ minimum: 2, maximum: 16_777_216 }),
});
export type RouterLimits = Static<typeof ROUTER_LIMITS>;

/** Plain facts of a request. */
export const FACTS = 12;

/** What a router reads prompts with. */
export interface RouterReader {
  readonly tokenizer: Tokenizer;
  readonly glossary: Glossary;
  readonly limits: RouterLimits;
}

/** The numbers of a prompt. */
export function routerNumbers(state: RouterState, { tokenizer, glossary, limits }: RouterReader): RouterNumbers {
  const sound: Sound = {
    request: state.request.toWellFormed(),
    previous: (state.previous ?? '').toWellFormed(),
    system: (state.system ?? '').toWellFormed(),
    attachments: namesOf(state.attachments).toWellFormed(),
  };
  const { request, previous, system, attachments } = sound;
  const parts = [shownOf(request), ...[previous, system, attachments].map((text) => first(text, 1000))];
  const { texts, languages } = glossary.read(parts);
  const [asked = '', ...others] = texts;
  return {
    ids: idsOf(asked, others, tokenizer, limits),
    grams: gramsOf(asked, others, languages, limits),
    features: featuresOf(sound),
  };
}

/** The most pieces that a prompt is read in, marks included: one before all, and one after each part. */
export function mostPieces({ begin, end }: Tokenizer, limits: RouterLimits): number {
  const { head, tail, previous, system, attachments } = limits;
  return begin.length + head + tail + previous + system + attachments + 4 * end.length;
}

type Sound = Readonly<Record<keyof RouterState, string>>;

function namesOf(attachments: RouterState['attachments'] = ''): string {
  return typeof attachments === 'string' ? attachments : attachments.join('\n');
}

/** A long request by its beginning and its end. */
function shownOf(request: string): string {
  return longerThan(request, 4000) ? `${first(request, 3000)}\n${last(request, 1000)}` : request;
}

/** Request, previous, system and files, each closed by a special token; of a long request its beginning and end. */
function idsOf(
  request: string,
  others: readonly string[],
  { pieces, begin, end }: Tokenizer,
  { head, tail, previous, system, attachments }: RouterLimits,
): readonly number[] {
  const cut = (text: string): readonly number[] => (text === '' ? [] : pieces(text));
  const asked = cut(request);
  const shown = asked.length > head + tail ? [...asked.slice(0, head), ...asked.slice(-tail)] : asked;
  const most = [previous, system, attachments];
  return [...begin, ...shown, ...end, ...others.flatMap((text, at) => [...cut(text).slice(0, most[at]), ...end])];
}

/** Words, word pairs and word parts of the request, words of the rest, and the languages, as numbers. 0 is unused. */
function gramsOf(
  request: string,
  others: readonly string[],
  languages: readonly string[],
  { grams, buckets }: RouterLimits,
): readonly number[] {
  const texts = new Set(languages.map((name) => `l${name}`));
  let before = '^';
  for (const word of foldedWords(request)) {
    texts.add(`w${word}`).add(`b${before} ${word}`);
    const letters = /^[\p{L}\p{M}]/u.test(word) ? Array.from(word) : [];
    if (letters.length > 4) texts.add(`p${letters.slice(0, 4).join('')}`).add(`e${letters.slice(-3).join('')}`);
    before = word;
  }
  for (const [at, text] of others.entries()) {
    for (const word of foldedWords(text).slice(0, 60)) texts.add(`${'vya'[at]!}${word}`);
  }
  return Array.from(texts)
    .slice(0, grams)
    .map((text) => 1 + (hashOf(text) % (buckets - 1)));
}

function foldedWords(text: string): readonly string[] {
  return wordsOf(text).map(({ start, end }) => folded(text.slice(start, end)));
}

/** Twelve plain facts, each about between 0 and 1. */
function featuresOf({ request, previous, system, attachments }: Sound): readonly number[] {
  const size = Math.max(1, lengthOf(request));
  const count = (pattern: RegExp): number => request.match(pattern)?.length ?? 0;
  return [
    Math.min(1, Math.log(size) / 10),
    Math.min(1, count(/\n/g) / 20),
    request.includes('```') ? 1 : 0,
    Math.min(1, (5 * count(/[0-9]/g)) / size),
    request.includes('?') ? 1 : 0,
    attachments === '' ? 0 : 1,
    previous === '' ? 0 : 1,
    system === '' ? 0 : 1,
    Math.min(1, (10 * count(/[{}();=<>[\]]/g)) / size),
    Math.min(1, (5 * count(/[A-Z]/g)) / size),
    Math.min(1, count(/[.!?;:\n]/g) / 12),
    Math.min(1, count(/["\u201c\u201e\u00ab]/g) / 4),
  ];
}

const PAIRS = /[\ud800-\udbff][\udc00-\udfff]/g;

/** Characters: a pair of surrogates is one. */
function lengthOf(text: string): number {
  return text.length - (text.match(PAIRS)?.length ?? 0);
}

function longerThan(text: string, characters: number): boolean {
  return text.length > characters && lengthOf(text) > characters;
}

function last(text: string, characters: number): string {
  return Array.from(text.slice(-2 * characters))
    .slice(-characters)
    .join('');
}
