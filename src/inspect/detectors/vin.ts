import { isEscapeLetter, isLetter, startsToken } from './characters.ts';
import { lettersAs, weighted } from './check-digits.ts';
import { hasContextWord, contextWords } from './context-words.ts';
import { ANY_DIGIT, isLetterKind } from './digit-context.ts';
import type { Detector } from './detector.ts';
import { endsNumber } from './number-groups.ts';

const LENGTH = 17;
/** No I, O or Q; the last four are digits (ISO 3779). */
const VIN = /^(?=.*[A-Z])[A-HJ-NPR-Z1-9][A-HJ-NPR-Z0-9]{12}\d{4}$/;
/** Makers of North America, where the ninth character checks the others (ISO 3780). */
const NORTH_AMERICAN = /^(?:[1-5]|7[F-Z0-9])/;
/** Those of cars, which end in five digits: told without a word (49 CFR 565.15). */
const TELLING = /^.{8}[0-9X].{3}\d{5}$/;
const WEIGHTS = [8, 7, 6, 5, 4, 3, 2, 10, 0, 9, 8, 7, 6, 5, 4, 3, 2];
/** What letters count, from A to Z; those that are not used as 0. */
const VALUES = '12345678012345070923456789';

const words = contextWords({
  en: /(?:\b|_)vin(?:\b|_)|vehicle[ _]id/,
  de: /fahrgestell|fahrzeug-?ident|\bfin\b/,
  fr: /n(?:um[eé]ro|[°º])[ _]de[ _]s[eé]rie|ch[aâ]ssis/,
  es: /chasis|bastidor/,
  it: /telaio/,
  pl: /nadwozi/,
});

/**
 * Vehicle identification numbers, plates that a vehicle keeps for life: with a word about them near, and without one where
 * the check digit identifies it. A North American one with a wrong check digit does not match.
 */
export const vin: Detector = {
  category: 'LICENSE_PLATE',
  evidence: 'shaped',
  meaning: 'Vehicle identification numbers near a word about them; North American ones by their check digit.',
  examples: ['VIN: ‹WVWZZZ1JZXW000001›', 'sold as ‹1M8GDM9AXKP042788›'],
  ignores: ['part WVWZZZ1JZXW000001'],
  triggers: ANY_DIGIT,
  prefilter({ earlier, before, length, next }): boolean {
    if (isLetterKind(before)) return earlier !== 'digit';
    return length < 7 && isLetterKind(next);
  },
  detect(text, at, floor, found): number {
    const start = startOf(text, at);
    const end = start + LENGTH;
    if (start < floor || end <= at || !startsToken(text, start) || !endsNumber(text, end)) return floor;
    if (isJoined(text.charCodeAt(start - 1)) || !isVin(text, start, end)) return floor;
    found.push({ start, end, category: 'LICENSE_PLATE' });
    return end;
  },
};

/** Where the letters start that the digits at `at` follow. */
function startOf(text: string, at: number): number {
  let start = at;
  while (at - start < LENGTH && isLetter(text.charCodeAt(start - 1)) && !isEscapeLetter(text, start - 1)) start -= 1;
  return start;
}

/** A hyphen, low line, slash, full stop, plus or at sign. */
function isJoined(code: number): boolean {
  return code === 45 || code === 95 || code === 47 || code === 46 || code === 43 || code === 64;
}

function isVin(text: string, start: number, end: number): boolean {
  const written = text.slice(start, end);
  const capitals = written.toUpperCase();
  if (!VIN.test(capitals)) return false;
  if (NORTH_AMERICAN.test(capitals)) {
    if (!isChecked(capitals)) return false;
    if (written === capitals && TELLING.test(capitals)) return true;
  }
  return hasContextWord(words, text, start, end);
}

/** Weights by place, letters as digits, mod 11; ten is written X (49 CFR 565.15(c)). */
function isChecked(capitals: string): boolean {
  return '0123456789X'[weighted(lettersAs(VALUES, capitals), WEIGHTS) % 11] === capitals[8];
}
