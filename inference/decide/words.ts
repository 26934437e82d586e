/**
 * Words of a text and the numbers that stand for them, as the model was trained on them: inference/training/common/words.py
 * does the same to the letter, and a test holds both to the same examples.
 */

/** Hashed features of a word: itself, its beginning, its ends, its shape, with their number of buckets. 0 is unused. */
const BUCKETS = { word: 32_768, prefix: 8192, suffix3: 8192, suffix2: 4096, shape: 1024 } as const;
/** Letters of a word that are looked at. */
const LONGEST = 32;
const MOST_KNOWN = 50_000;

/** A run of letters, a run of digits, or another character. UTF-16 offsets. */
export interface Word {
  readonly start: number;
  readonly end: number;
  /** Text before it: 0 nothing, 1 space, 2 the beginning of a line. */
  readonly gap: number;
}

/** How many numbers a word has. */
export const NUMBERS = 5;

const WORD = /(?<space>[\p{Z}\t\n\v\f\r]+)|[\p{L}\p{M}]+|\p{N}+|[^]/gu;

/** Splits a text into words, without spaces. */
export function wordsOf(text: string): readonly Word[] {
  const words: Word[] = [];
  let gap = 2;
  for (const match of text.matchAll(WORD)) {
    const [said] = match;
    if (match.groups?.['space'] !== undefined) {
      gap = /[\n\r]/.test(said) ? 2 : Math.max(gap, 1);
      continue;
    }
    words.push({ start: match.index, end: match.index + said.length, gap });
    gap = 0;
  }
  return words;
}

/** Lower case, cut to the letters that are looked at: as lists of names have it. */
export function folded(word: string): string {
  return first(word, LONGEST).toLowerCase();
}

/** FNV-1a, 32 bits, of the UTF-8 bytes. */
export function hashOf(text: string): number {
  let value = 0x811c9dc5;
  for (const byte of encoder.encode(text)) value = Math.imul(value ^ byte, 0x01000193);
  return value >>> 0;
}

const encoder = new TextEncoder();

/** Upper, lower and other letters, digits and the rest; no more than two of a kind in a row. */
function shapeOf(word: string): string {
  let shape = '';
  for (const char of word) {
    const mark = /[\p{Lu}\p{Lt}]/u.test(char)
      ? 'X'
      : /\p{Ll}/u.test(char)
        ? 'x'
        : /[\p{L}\p{M}]/u.test(char)
          ? 'o'
          : /\p{N}/u.test(char)
            ? 'd'
            : char;
    if (!shape.endsWith(mark + mark)) shape += mark;
  }
  return shape;
}

/** Remembers the numbers of words that it was asked for: most of a text's words are few. */
export function createNumbers(): (word: string) => readonly number[] {
  const known = new Map<string, readonly number[]>();
  return (word) => {
    const found = known.get(word);
    if (found) return found;
    if (known.size >= MOST_KNOWN) known.clear();
    const made = numbersOf(word);
    known.set(word, made);
    return made;
  };
}

function numbersOf(word: string): readonly number[] {
  const lower = folded(word);
  const letters = Array.from(lower);
  return [
    bucket(lower, BUCKETS.word),
    bucket(`p${letters.slice(0, 3).join('')}`, BUCKETS.prefix),
    bucket(`s${letters.slice(-3).join('')}`, BUCKETS.suffix3),
    bucket(`t${letters.slice(-2).join('')}`, BUCKETS.suffix2),
    bucket(shapeOf(first(word, LONGEST)), BUCKETS.shape),
  ];
}

function bucket(text: string, size: number): number {
  return 1 + (hashOf(text) % (size - 1));
}

/** The beginning of a text, counted in characters and not in halves of them. */
export function first(text: string, characters: number): string {
  if (text.length <= characters) return text;
  return Array.from(text.slice(0, 2 * characters))
    .slice(0, characters)
    .join('');
}
