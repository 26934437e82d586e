import Type, { type Static } from 'typebox';
import type { Tokenizer } from './tokenizer.ts';
import { folded, hashOf, wordsOf } from './words.ts';

/**
 * How a prompt becomes numbers: inference/training/router/data.py does the same to the letter, and a test holds both to
 * the same examples. Lengths are of characters, as Python counts them.
 */

/** What a router is asked about. // spec 4.4.3 */
export interface RouterState {
  readonly request: string;
  /** What was said before. */
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
  /** Pieces of each part: beginning and end of the request, what was said before, the system's words, names of files. */
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

/** The numbers of a prompt. */
export function routerNumbers(state: RouterState, tokenizer: Tokenizer, limits: RouterLimits): RouterNumbers {
  const sound: Required<RouterState> = {
    request: state.request.toWellFormed(),
    previous: (state.previous ?? '').toWellFormed(),
    system: (state.system ?? '').toWellFormed(),
    attachments: namesOf(state.attachments).toWellFormed(),
  };
  return { ids: idsOf(sound, tokenizer, limits), grams: gramsOf(sound, limits), features: featuresOf(sound) };
}

/** The most pieces that a prompt is read in, marks included: one before all, and one after each part. */
export function mostPieces({ begin, end }: Tokenizer, limits: RouterLimits): number {
  const { head, tail, previous, system, attachments } = limits;
  return begin.length + head + tail + previous + system + attachments + 4 * end.length;
}

type Sound = Required<RouterState>;

function namesOf(attachments: RouterState['attachments'] = ''): string {
  return typeof attachments === 'string' ? attachments : attachments.join('\n');
}

/** Request, previous, system and files, each closed by a mark; a long request by its beginning and its end. */
function idsOf(
  { request, previous, system, attachments }: Sound,
  { pieces, begin, end }: Tokenizer,
  limits: RouterLimits,
): readonly number[] {
  const cut = (text: string): readonly number[] => (text === '' ? [] : pieces(text));
  const { head, tail } = limits;
  const asked = cut(first(request, 20_000));
  const shown = asked.length > head + tail ? [...asked.slice(0, head), ...asked.slice(-tail)] : asked;
  const ids = [...begin, ...shown, ...end];
  const others = [
    [previous, limits.previous],
    [system, limits.system],
    [attachments as string, limits.attachments],
  ] as const;
  for (const [text, most] of others) ids.push(...cut(first(text, 2000)).slice(0, most), ...end);
  return ids;
}

/** Words, pairs of words and parts of words of the request, and words of the rest, as numbers. 0 is nobody's. */
function gramsOf(
  { request, previous, system, attachments }: Sound,
  { grams, buckets }: RouterLimits,
): readonly number[] {
  const texts = new Set<string>();
  const shown = longerThan(request, 4000) ? `${first(request, 3000)}\n${last(request, 1000)}` : request;
  let before = '^';
  for (const word of foldedWords(shown)) {
    texts.add(`w${word}`).add(`b${before} ${word}`);
    const letters = /^[\p{L}\p{M}]/u.test(word) ? Array.from(word) : [];
    if (letters.length > 4) texts.add(`p${letters.slice(0, 4).join('')}`).add(`e${letters.slice(-3).join('')}`);
    before = word;
  }
  const others = [
    ['v', previous],
    ['y', system],
    ['a', attachments as string],
  ] as const;
  for (const [mark, text] of others) {
    for (const word of foldedWords(first(text, 1000)).slice(0, 60)) texts.add(`${mark}${word}`);
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

function first(text: string, characters: number): string {
  if (text.length <= characters) return text;
  return Array.from(text.slice(0, 2 * characters))
    .slice(0, characters)
    .join('');
}

function last(text: string, characters: number): string {
  return Array.from(text.slice(-2 * characters))
    .slice(-characters)
    .join('');
}
