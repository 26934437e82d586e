import Type, { type Static } from 'typebox';
import { readApart, type Glossary } from './glossary.ts';
import type { Tokenizer } from './tokenizer.ts';
import { first, folded, wordsOf } from './words.ts';

/**
 * How a state and a question become numbers: inference/training/typed/input.py does the same to the letter, and a test holds
 * both to the same examples.
 */

/** A question as the route takes it. A proposition (`noul`) has two options: that it holds, and that it does not. */
export interface TypedQuestion {
  readonly type: 'noul' | 'choice' | 'score';
  readonly instructions: string;
  readonly options: readonly { readonly name: string; readonly description?: string }[];
}

/** A question or one of its options: its pieces, and facts about its words and the state's. */
export interface Row {
  /** Each as it is read by itself, between marks: one, where the row is not long. */
  readonly stretches: readonly (readonly number[])[];
  readonly features: readonly number[];
}

/** What a model reads, in pieces of its own, marks included. */
export const TYPED_LIMITS = Type.Object({
  /**
   * Maximum pieces of a state, in one stretch; and number of stretches: if words have many pieces, the rest is not
   * read.
   */
  tokens: Type.Integer({ minimum: 16, maximum: 8192 }),
  windows: Type.Integer({ minimum: 1, maximum: 1024 }),
  /** Of a question or an option in one stretch. */
  row: Type.Integer({ minimum: 16, maximum: 8192 }),
  /** Of a question or an option, in as many stretches as it takes. */
  question: Type.Integer({ minimum: 16, maximum: 8192 }),
  /** Of all questions with their options together. */
  questions: Type.Integer({ minimum: 64, maximum: 65_536 }),
});
export type TypedLimits = Static<typeof TYPED_LIMITS>;

/** What a model reads texts with. */
export interface TypedReader {
  readonly tokenizer: Tokenizer;
  readonly glossary: Glossary;
  readonly limits: TypedLimits;
}

/** A question, or all of them together, that would be read only in part. // spec 4.4.5 */
export class TooLong extends Error {
  override readonly name = 'TooLong';
  /** Which one, from 0; undefined: all together. */
  readonly question: number | undefined;

  constructor(question?: number) {
    super(question === undefined ? 'the questions are too long together' : 'a question is too long');
    this.question = question;
  }
}

/** Kinds of questions. */
export const KINDS = ['noul', 'choice', 'score'] as const;

/** Plain facts of a row's words. */
export const FEATURES = 4;

/** Words of a state that are read. // spec 4.4.4 */
const MOST_WORDS = 384;
/** That are looked for words in: more than any that are read have, without blanks after the first eight of a row. */
const MOST_CHARACTERS = 32_768;
const WORD = /[^ \t\n\r\f\v\u00a0\u2028\u2029\u3000]+/g;
const BLANKS = /([ \t\n\r\f\v\u00a0\u2028\u2029\u3000]{8})[ \t\n\r\f\v\u00a0\u2028\u2029\u3000]+/g;

/** The first words of a state as text: members as `name: value`, a line each; lists as lines. */
export function stateText(state: unknown): string {
  const text = first(said(state).toWellFormed().replace(BLANKS, '$1'), MOST_CHARACTERS);
  let count = 0;
  for (const { index } of text.matchAll(WORD)) {
    if (count === MOST_WORDS) return text.slice(0, index);
    count += 1;
  }
  return text;
}

function said(value: unknown): string {
  if (typeof value === 'string') return value;
  if (Array.isArray(value)) return value.map(said).join('\n');
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const lines = Object.entries(value).map(([name, item]) => {
    const text = said(item);
    return text.includes('\n') ? `${name}:\n${text}` : `${name}: ${text}`;
  });
  return lines.join('\n');
}

/** A state's text, in the form in which questions refer to it. */
export function readState(state: unknown, { glossary }: TypedReader): string {
  return glossary.read([stateText(state)]).texts[0]!;
}

/** A state's pieces in stretches, each between marks; at least one. `text`: as it is read. */
export function windowsOf(text: string, { tokenizer, limits: { tokens, windows } }: TypedReader): Row['stretches'] {
  return stretchesOf(text, tokenizer, tokens).slice(0, windows);
}

/**
 * Rows of questions about a state: each question, then its options except those of a proposition. Nothing is
 * cut off: throws `TooLong` for text over the limits. `state`: its text in the form of `readState`.
 */
export function rowsOf(
  questions: readonly TypedQuestion[],
  state: string,
  { tokenizer, glossary, limits }: TypedReader,
): readonly (readonly Row[])[] {
  const beside = wordsBeside(state);
  let left = limits.questions;
  return questions.map((question, number) =>
    readApart(glossary, rowTexts(question)).map((text) => {
      const stretches = stretchesOf(text, tokenizer, limits.row);
      const size = sizeOf(stretches);
      if (size > limits.question) throw new TooLong(number);
      left -= size;
      if (left < 0) throw new TooLong();
      return { stretches, features: beside(text) };
    }),
  );
}

/** A question and its options as texts. */
export function rowTexts({ type, instructions, options }: TypedQuestion): readonly string[] {
  const texts =
    type === 'noul'
      ? [proposition(instructions, options)]
      : [instructions, ...options.map(({ name, description = '' }) => described(name, description))];
  return texts.map((text) => text.toWellFormed());
}

/** Pieces of stretches. */
export function sizeOf(stretches: Row['stretches']): number {
  return stretches.reduce((sum, { length }) => sum + length, 0);
}

function stretchesOf(text: string, { pieces, begin, end }: Tokenizer, most: number): Row['stretches'] {
  const ids = text === '' ? [] : pieces(text);
  const size = most - begin.length - end.length;
  return Array.from({ length: Math.max(1, Math.ceil(ids.length / size)) }, (_, at) => [
    ...begin,
    ...ids.slice(at * size, (at + 1) * size),
    ...end,
  ]);
}

/** The question, with the descriptions of true and false if given. */
function proposition(instructions: string, options: TypedQuestion['options']): string {
  const told = options.filter(({ description = '' }) => description !== '');
  return [instructions, ...told.map(({ name, description = '' }) => described(name, description))].join('\n');
}

function described(name: string, description: string): string {
  return description === '' ? name : `${name}: ${description}`;
}

/**
 * Of a row's words the shares that the state has, and that begin as one of its words does; of its numbers the share that the
 * state has; and whether it has any.
 */
export function wordsBeside(state: string): (text: string) => readonly number[] {
  const known = spoken(state);
  const words = new Set(known);
  const beginnings = new Set(known.map(beginningOf));
  return (text) => {
    const own = spoken(text);
    const numbers = own.filter((word) => /^\p{N}/u.test(word));
    const share = (of: readonly string[], isKnown: (word: string) => boolean): number =>
      of.filter(isKnown).length / Math.max(1, of.length);
    return [
      share(own, (word) => words.has(word)),
      share(own, (word) => beginnings.has(beginningOf(word))),
      share(numbers, (word) => words.has(word)),
      numbers.length > 0 ? 1 : 0,
    ];
  };
}

function beginningOf(word: string): string {
  return Array.from(word).slice(0, 4).join('');
}

function spoken(text: string): readonly string[] {
  return wordsOf(text)
    .map(({ start, end }) => text.slice(start, end))
    .filter((word) => /^[\p{L}\p{M}\p{N}]/u.test(word))
    .map(folded);
}
