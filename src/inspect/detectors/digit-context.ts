import { digitsEnd, isCapital, isDigit, isLetter } from './characters.ts';

/** All ten digits, for detectors that start from any number. */
export const ANY_DIGIT = '0123456789';

/**
 * What a character is to a number next to it. `wide` is any from À on, `ordinal` is º, `degree` ª or °; `other` is the rest
 * and the end of a text.
 */
const KINDS = [
  'other',
  'digit',
  'lower',
  'capital',
  'wide',
  'space',
  'hyphen',
  'dot',
  'slash',
  'comma',
  'plus',
  'bracket',
  'backslash',
  'ordinal',
  'degree',
] as const;

/** What a character near a number is. */
export type Neighbour = (typeof KINDS)[number];

/** What surrounds a run of digits: enough to tell of most runs in a text that they are nothing. */
export interface DigitContext {
  readonly earlier: Neighbour;
  readonly before: Neighbour;
  /** How many digits there are; 7 stands for seven and more. */
  readonly length: number;
  readonly next: Neighbour;
  readonly later: Neighbour;
}

const SIGNS: ReadonlyMap<string, Neighbour> = new Map([
  [' ', 'space'],
  ['-', 'hyphen'],
  ['.', 'dot'],
  ['/', 'slash'],
  [',', 'comma'],
  ['+', 'plus'],
  ['(', 'bracket'],
  [')', 'bracket'],
  ['\\', 'backslash'],
  ['º', 'ordinal'],
  ['ª', 'degree'],
  ['°', 'degree'],
]);

const MOST = 7;
const KIND_BITS = 4;
const KIND_BY_CODE = Uint8Array.from({ length: 192 }, (_, code) => KINDS.indexOf(kindOf(code)));
const WIDE = KINDS.indexOf('wide');

function kindOf(code: number): Neighbour {
  if (isDigit(code)) return 'digit';
  if (isLetter(code)) return isCapital(code) ? 'capital' : 'lower';
  return SIGNS.get(String.fromCharCode(code)) ?? 'other';
}

/** How many contexts there are: those of all keys of `digitContextKey`. */
export const DIGIT_CONTEXTS = 1 << (4 * KIND_BITS + 3);

/** The context of the digits from `at` to `end` as one number. */
export function digitContextKey(text: string, at: number, end: number): number {
  const head = (kindAt(text, at - 2) << KIND_BITS) | kindAt(text, at - 1);
  const tail = (kindAt(text, end) << KIND_BITS) | kindAt(text, end + 1);
  return (((head << (2 * KIND_BITS)) | tail) << 3) | Math.min(end - at, MOST);
}

function kindAt(text: string, at: number): number {
  if (at < 0 || at >= text.length) return 0;
  const code = text.charCodeAt(at);
  return code > 191 ? WIDE : (KIND_BY_CODE[code] as number);
}

/** The context of the digits that begin at `at`. */
export function digitContextAt(text: string, at: number): DigitContext {
  return digitContextOf(digitContextKey(text, at, digitsEnd(text, at)));
}

/** The context that a key stands for. */
export function digitContextOf(key: number): DigitContext {
  const kind = (place: number): Neighbour => KINDS[(key >> (3 + place * KIND_BITS)) & 15] ?? 'other';
  return { earlier: kind(3), before: kind(2), next: kind(1), later: kind(0), length: key & MOST };
}

/** Whether it is a letter of ASCII. */
export function isLetterKind(kind: Neighbour): boolean {
  return kind === 'lower' || kind === 'capital';
}

/** Whether the sentence ends after the digits: a full stop, comma, bracket, quote or line break, or the end. */
export function endsSaying(next: Neighbour): boolean {
  return next === 'dot' || next === 'comma' || next === 'bracket' || next === 'other';
}

/** Whether a token may start at the digits: as `startsToken` of `characters.ts`, or more often. */
export function mayStartToken({ before, earlier }: DigitContext): boolean {
  return !isLetterKind(before) || (before === 'lower' && earlier === 'backslash');
}
