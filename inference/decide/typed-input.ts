import { folded, wordsOf } from './words.ts';

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

/** A question or one of its options: its pieces, and plain facts of its words beside the state's. */
export interface Row {
  readonly ids: readonly number[];
  readonly features: readonly number[];
}

/** Cuts a text into numbered pieces, without marks at its ends. */
export type Pieces = (text: string) => readonly number[];

/** Kinds of questions, in the order of the graph's columns. */
export const KINDS = ['noul', 'choice', 'score'] as const;

const CLS = 101;
const SEP = 102;
/** Words of a state that are read. // spec 4.4.4 */
const MOST_WORDS = 384;
/** Pieces of a state that are read together, marks included; and how many times that, where words are of many pieces. */
const WINDOW = 128;
const WINDOWS = 10;
/** Pieces of a question and of an option, marks included. */
const ASKED = 256;
const OFFERED = 96;
const WORD = /[^ \t\n\r\f\v\u00a0\u2028\u2029\u3000]+/g;

/** The first words of a state as text: members as `name: value`, a line each; lists as lines. */
export function stateText(state: unknown): string {
  const text = said(state).toWellFormed();
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

/** A state's pieces in stretches, each between marks; at least one. */
export function windowsOf(text: string, pieces: Pieces): readonly (readonly number[])[] {
  const ids = text === '' ? [] : pieces(text);
  const size = WINDOW - 2;
  const count = Math.min(WINDOWS, Math.max(1, Math.ceil(ids.length / size)));
  return Array.from({ length: count }, (_, at) => [CLS, ...ids.slice(at * size, (at + 1) * size), SEP]);
}

/** The rows of a question beside a state: itself, and then its options but for those of a proposition. */
export function rowsOf({ type, instructions, options }: TypedQuestion, state: string, pieces: Pieces): readonly Row[] {
  const beside = wordsBeside(state);
  const row = (text: string, most: number): Row => {
    const sound = text.toWellFormed();
    return { ids: [CLS, ...pieces(sound).slice(0, most - 2), SEP], features: beside(sound) };
  };
  if (type === 'noul') return [row(proposition(instructions, options), ASKED)];
  const offered = options.map(({ name, description = '' }) => row(described(name, description), OFFERED));
  return [row(instructions, ASKED), ...offered];
}

/** What is asked, with what it is like when it holds and when it does not, where that is told. */
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
function wordsBeside(state: string): (text: string) => readonly number[] {
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
