import { contextWords } from './context-words.ts';
import { isAlphanumeric, isCapital, isDigit, startsToken } from './characters.ts';
import { digitAt } from './check-digits.ts';
import { ANY_DIGIT, type DigitContext, mayStartToken } from './digit-context.ts';
import type { Detector } from './detector.ts';
import { endsNumber } from './number-groups.ts';

const SHORTEST = 6;
const LONGEST = 10;

const words = contextWords({
  en: /passport|pas(?:s)?num/,
  de: /reisepass|\bpass(?:nummer|nr|-nr|\b(?= (?:nr|no|number)))/,
  fr: /passeport/,
  es: /pasaporte/,
  it: /passaporto/,
  pt: /passaporte/,
  nl: /paspoort/,
  pl: /paszport/,
  fi: /\bpas[s]?i(?:n|numero)/,
  cs: /cestovn[ií] pas/,
  ro: /pa[sš]aport/,
});

/**
 * Passport numbers behind a word about passports, and the machine-readable lines of passports, visas and identity cards
 * whose check digits agree (ICAO Doc 9303).
 */
export const passport: Detector = {
  category: 'PASSPORT',
  evidence: 'shaped',
  meaning: 'Passport numbers behind a word about passports, and the machine-readable lines of travel documents.',
  examples: ['Passport number ‹C68Z3V4C4›, issued 2019', 'Reisepass ‹444112041›'],
  ignores: ['Your passport was issued in 2019.'],
  triggers: `${ANY_DIGIT}<`,
  prefilter: mayBeNumbered,
  detect(text, at, floor, found): number {
    const match = text.charCodeAt(at) === 60 ? machineReadable(text, at, floor) : numbered(text, at, floor);
    if (match === undefined) return floor;
    found.push({ ...match, category: 'PASSPORT' });
    return match.end;
  },
};

interface Stretch {
  readonly start: number;
  readonly end: number;
}

/** Enough digits or a capital next to them, and no word that they are in. */
function mayBeNumbered(context: DigitContext): boolean {
  const { earlier, before, length, next } = context;
  if (next === 'lower') return false;
  if (before === 'capital') return earlier !== 'digit';
  if (!mayStartToken(context)) return false;
  return length > 5 || next === 'capital' || (before === 'space' && earlier === 'capital');
}

/** Six to ten capitals and digits; letters in front may be parted by a blank. */
function numbered(text: string, at: number, floor: number): Stretch | undefined {
  let start = at;
  while (at - start < LONGEST && isCapital(text.charCodeAt(start - 1))) start -= 1;
  let end = at + 1;
  while (end - start <= LONGEST && isCapitalOrDigit(text.charCodeAt(end))) end += 1;
  if (end - start > LONGEST) return undefined;
  if (start === at) start = lettersBefore(text, at);
  if (end - start < SHORTEST || start < floor || !startsToken(text, start) || !endsNumber(text, end)) return undefined;
  return isTold(text, start) ? { start, end } : undefined;
}

function isCapitalOrDigit(code: number): boolean {
  return isCapital(code) || isDigit(code);
}

/** Where `AB ` starts before the digits at `at`, else `at`. */
function lettersBefore(text: string, at: number): number {
  if (text.charCodeAt(at - 1) !== 32 || !isCapital(text.charCodeAt(at - 2))) return at;
  const start = isCapital(text.charCodeAt(at - 3)) ? at - 3 : at - 2;
  return startsToken(text, start) ? start : at;
}

/** A word about passports before it, with no number between. */
function isTold(text: string, start: number): boolean {
  return words.isColumn(text, start) ?? words.isBefore(text, start, true);
}

const BREAK = '(?:\\r?\\n|\\\\r?\\\\n|\\\\n| )';
/** The line with the numbers of a passport; before it the one with the names. Digits where check digits are. */
const SECOND = '[A-Z0-9<]{9}\\d[A-Z<]{3}\\d{6}\\d[MFX<]\\d{6}\\d';
const LAYOUTS: readonly (readonly [pattern: RegExp, numbers: number, isThree: boolean])[] = [
  [new RegExp(`[PV][A-Z<][A-Z<]{3}[A-Z<]{39}${BREAK}(?=${SECOND})[A-Z0-9<]{44}(?![A-Z0-9<])`, 'y'), 44, false],
  [new RegExp(`[PVIAC][A-Z<][A-Z<]{3}[A-Z<]{31}${BREAK}(?=${SECOND})[A-Z0-9<]{36}(?![A-Z0-9<])`, 'y'), 36, false],
  [
    new RegExp(
      `[IAC][A-Z0-9<][A-Z<]{3}[A-Z0-9<]{9}[\\d<][A-Z0-9<]{15}${BREAK}\\d{6}\\d[MFX<]\\d{6}\\d[A-Z<]{3}[A-Z0-9<]{12}${BREAK}[A-Z<]{30}`,
      'y',
    ),
    30,
    true,
  ],
  [new RegExp(`(?=${SECOND})[A-Z0-9<]{44}(?![A-Z0-9<])`, 'y'), 44, false],
];

/** The lines around a `<`, when their check digits agree. */
function machineReadable(text: string, at: number, floor: number): Stretch | undefined {
  let start = at;
  while (start > floor && at - start < 44 && isAlphanumeric(text.charCodeAt(start - 1))) start -= 1;
  if (start === at || !isCapitalOrDigit(text.charCodeAt(at - 1))) return undefined;
  for (const [pattern, length, isThree] of LAYOUTS) {
    pattern.lastIndex = start;
    if (!pattern.test(text)) continue;
    const end = pattern.lastIndex;
    const lines = text.slice(start, end).split(new RegExp(BREAK));
    const rights = isThree ? threeLines(lines) : secondLine((lines.at(-1) as string).slice(0, length));
    if (rights) return { start, end };
  }
  return undefined;
}

function secondLine(line: string): boolean {
  return isChecked(line, 0, 9) && isChecked(line, 13, 6) && isChecked(line, 21, 6);
}

function threeLines([first = '', second = '']: readonly string[]): boolean {
  return (first[14] === '<' || isChecked(first, 5, 9)) && isChecked(second, 0, 6) && isChecked(second, 8, 6);
}

/** Weights 7-3-1 over characters from `from` on, `<` as 0; the check digit follows them. */
function isChecked(line: string, from: number, length: number): boolean {
  let sum = 0;
  for (let index = 0; index < length; index += 1) {
    const value = line[from + index] === '<' ? 0 : digitAt(line, from + index);
    sum += value * ([7, 3, 1][index % 3] as number);
  }
  return sum % 10 === digitAt(line, from + length);
}
