import { isDigit } from './characters.ts';
import { hashOf, mixed, stepOfHash } from './login-hash.ts';
import { isUnusual, mayBeUnmarked } from './login-value.ts';
import { LONGEST, type Cue, type Token } from './login-tokens.ts';

/** How many numbers stand for all features, which are hashed into them. */
export const BUCKETS = 16384;
/** Most features that a word has. */
const MOST = 160;

/** The features of one word: the first `length` of `buckets`. */
export interface Features {
  readonly buckets: Uint16Array;
  length: number;
  /** Where those of the word itself end, of the words before it, of those behind, and of all around it in no order; the rest is of what announces. */
  readonly ends: [number, number, number, number];
}

/** Room for features, to be used again. */
export function createFeatures(): Features {
  return { buckets: new Uint16Array(MOST), length: 0, ends: [0, 0, 0, 0] };
}

/** Words that are no logins, as `known` of the model. */
export type Known = (word: string) => boolean;

function add(features: Features, hash: number): void {
  if (features.length === MOST) return;
  features.buckets[features.length] = mixed(hash) & (BUCKETS - 1);
  features.length += 1;
}

function addText(features: Features, group: number, text: string, end = text.length): void {
  add(features, hashOf(seedOf(group), text, 0, end));
}

/** Two texts as one, which is not built: a text of several parts is slow to read. */
function addJoined(features: Features, group: number, first: string, second: string): void {
  add(features, over(over(seedOf(group), first), second));
}

/** Words with blanks between. */
function addWords(features: Features, group: number, first: string, second: string, third?: string): void {
  const hash = over(stepOfHash(over(seedOf(group), first), BLANK), second);
  add(features, third === undefined ? hash : over(stepOfHash(hash, BLANK), third));
}

const BLANK = 32;

function seedOf(group: number): number {
  return Math.imul(group, 0x9e3779b1);
}

function over(hash: number, text: string): number {
  return hashOf(hash, text, 0, text.length);
}

/** What a word is made of: a letter for each run of small and capital letters, digits or signs, as `Aa9!`. */
function shapeOf(value: string): string {
  let shape = '';
  let last = '';
  for (let at = 0; at < value.length; at += 1) {
    const code = value.charCodeAt(at);
    const kind = code < 128 ? (ASCII_KINDS[code] as string) : wideKindOf(value[at] as string);
    if (kind !== last) shape += kind;
    last = kind;
  }
  return shape;
}

const ASCII_KINDS = Array.from({ length: 128 }, (_, code) => {
  const character = String.fromCharCode(code);
  if (character >= '0' && character <= '9') return '9';
  return '._-!@#$%&'.includes(character) ? character : wideKindOf(character);
});

function wideKindOf(character: string): string {
  if (character.toLowerCase() === character.toUpperCase()) return '~';
  return character === character.toLowerCase() ? 'a' : 'A';
}

const CUE_LETTERS: Readonly<Record<Cue, string>> = {
  login: 'l',
  user: 'u',
  entry: 'e',
  password: 'p',
  code: 'c',
  access: 'x',
};
const STEM = 5;
const LEFT = 8;
const RIGHT = 5;
const GRAM = 3;
const GRAMS = 24;

/** Fills `features` with those of the word at `index`. */
export function featuresOf(
  features: Features,
  text: string,
  tokens: readonly Token[],
  index: number,
  known: Known,
): void {
  features.length = 0;
  const token = tokens[index] as Token;
  const value = text.slice(token.start, token.end);
  const shape = shapeOf(value);
  addValue(features, value, shape, token.lower, known);
  features.ends[0] = features.length;
  addAround(features, tokens, index, shape);
}

function addValue(features: Features, value: string, shape: string, lower: string, known: Known): void {
  const around = `^${lower.slice(0, GRAMS)}$`;
  for (let at = 0; at + GRAM <= around.length; at += 1) add(features, hashOf(0x1001, around, at, at + GRAM));
  addText(features, 2, around);
  addText(features, 3, around.slice(0, 5));
  addText(features, 4, around.slice(-5));
  addText(features, 5, shape);
  addText(features, 6, `${shape.slice(0, 4)}${Math.min(value.length, 16)}`);
  addText(features, 7, String(Math.min(value.length, LONGEST) >> 1));
  const parts = partsOf(lower, known);
  addText(features, 8, parts);
  addWords(features, 9, parts, shape);
  if (shape === 'a' || shape === 'a.a') addText(features, 11, mayBeUnmarked(value) ? `u${shape}` : shape);
  if (shape === 'a')
    addText(
      features,
      12,
      `${isUnusual(value, 0) ? 'u' : ''}${known(lower.slice(1)) ? 'k' : ''}${known(lower.slice(0, -1)) ? 'e' : ''}`,
    );
  let digits = 0;
  for (let at = 0; at < value.length; at += 1) if (isDigit(value.charCodeAt(at))) digits += 1;
  addText(features, 10, `${Math.min(digits, 8)}${Math.min(shape.length, 6)}`);
}

/** Its runs of letters: how long those of one or two are, and whether others are known words. */
function partsOf(lower: string, known: Known): string {
  let parts = '';
  for (const part of lower.split(LETTERS_END)) {
    if (part === '') continue;
    if (part.length < SHORTEST_PART) parts += String(part.length);
    else parts += known(part) ? 'k' : 'u';
  }
  return parts;
}

const LETTERS_END = /[^\p{L}]+/u;
const SHORTEST_PART = 3;

/** The first letters of a word. */
function addStem(features: Features, group: number, word: string): void {
  addText(features, group, word, Math.min(STEM, word.length));
}

function addAround(features: Features, tokens: readonly Token[], index: number, shape: string): void {
  const token = tokens[index] as Token;
  const word = (place: number): string => tokens[place]?.lower ?? '^';
  const [left, right] = [word(index - 1), word(index + 1)];
  const signs = `${token.before}${token.after === ' ' ? (tokens[index + 1]?.before ?? '\n') : token.after}`;
  addWords(features, 22, word(index - 2), left);
  addWords(features, 25, left, shape);
  addWords(features, 26, word(index - 3), word(index - 2), left);
  addJoined(features, 27, left, token.before);
  for (let back = 1; back <= 4 && tokens[index - back] !== undefined; back += 1)
    addText(features, 30 + back, word(index - back));
  features.ends[1] = features.length;
  addWords(features, 23, left, right);
  addWords(features, 24, right, word(index + 2));
  addWords(features, 28, right, shape);
  for (let on = 1; on <= 3; on += 1) addText(features, 50 + on, word(index + on));
  features.ends[2] = features.length;
  const before = reachOf(tokens, index, -1);
  const behind = reachOf(tokens, index, 1);
  for (let back = 1; back <= before; back += 1) {
    addText(features, 40, word(index - back));
    if (back > 1) addStem(features, 41, word(index - back));
  }
  for (let on = 1; on <= behind; on += 1) {
    addText(features, 60, word(index + on));
    addStem(features, 61, word(index + on));
  }
  features.ends[3] = features.length;
  const [nearest, cues] = cuesOf(tokens, index, -before);
  const [next, later] = cuesOf(tokens, index, behind);
  addText(features, 20, signs);
  addJoined(features, 21, token.before, shape);
  addText(features, 70, nearest);
  addText(features, 71, cues);
  addText(features, 72, next);
  addText(features, 73, later);
  addJoined(features, 74, nearest, signs);
  addJoined(features, 75, nearest, shape);
  addWords(features, 76, nearest, next, token.before);
  addWords(features, 77, nearest, left);
  addJoined(features, 78, next, shape);
  addText(features, 79, `${nearest.slice(0, 1)}${shape}${token.before}`);
}

/** How many words before or behind the one at `index` are read: those of its line, a few. */
function reachOf(tokens: readonly Token[], index: number, step: 1 | -1): number {
  const most = step < 0 ? LEFT : RIGHT;
  for (let count = 1; count <= most; count += 1) {
    const other = tokens[index + count * step];
    if (other === undefined || (step > 0 ? other : (tokens[index + count * step + 1] as Token)).before === '\n')
      return count - 1;
  }
  return most;
}

/** The nearest word that announces something, of so many before (negative) or behind, with how far it is, and all of them. */
function cuesOf(tokens: readonly Token[], index: number, reach: number): readonly [string, string] {
  let nearest = '';
  let all = '';
  for (let count = 1; count <= Math.abs(reach); count += 1) {
    const cue = tokens[index + count * Math.sign(reach)]?.cue;
    if (cue === undefined) continue;
    if (nearest === '') nearest = `${CUE_LETTERS[cue]}${count}`;
    all += CUE_LETTERS[cue];
  }
  return [nearest, all];
}
