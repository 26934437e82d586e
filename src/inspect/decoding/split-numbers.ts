import { isAlphanumeric, isCapital, isDigit, isHex, isLetter } from '../detectors/characters.ts';
import { remainderOf } from '../detectors/check-digits.ts';
import { ACCOUNT_SHAPES } from '../detectors/iban.ts';
import type { Match } from '../match.ts';
import type { Disguise } from './disguises.ts';

/**
 * Separators between two groups of a number, apart from one blank, hyphen or dot, which detectors know. Each begins
 * with one of few characters, so that most of a text is skipped.
 */
const GAP = new RegExp(
  [
    '(?=[ \\t\\r\\n])(?<=[A-Z\\d])(?:[ \\t]{0,200}(?:\\r\\n|\\r|\\n)[ \\t>|]{0,200}(?=[A-Za-z\\d+])|(?:[ \\t]{2,200}|\\t)(?=[A-Za-z\\d]))',
    // Behind the code of a country, whatever parts the groups.
    '(?=[_,|])(?<=\\+\\d{1,3}(?:[ _,|-]\\d{1,8}){0,4})[_,|](?=\\d{2})',
    '(?=[ _,|•·–—])(?<=[A-Z\\d]{4})(?: ?[_,|•·–—] ?| - )(?=[A-Za-z\\d]{1,4}(?![A-Za-z\\d]))',
  ].join('|'),
  'g',
);
const DIGITS = /\d+/g;
/** A word that touches the number behind it, or the one in front. */
const WORD = /(?<![A-Za-z\d])[A-Za-z]{1,24}\+?$/;
/** One behind a digit, `1of4111…`, in front of a number that is long enough for an account. */
const LATER_WORD = /(?<=\d)[A-Za-z]{2,24}$/;
const LONGEST_WORD = 25;
/** How a number goes on behind the code of a country. */
const DIALLED_ON = /^[ .-]\d/;
const WORD_BEHIND = /(?=[A-Za-z])(?<=\d(?:[ ./-]?\d){6})/g;
const LONGEST_ACCOUNT = 34;

/** A number that is parted by more than one sign, or that touches a word: a blank stands there. */
export function splitNumbersIn(text: string): readonly Disguise[] {
  const gaps = Array.from(text.matchAll(GAP), ({ 0: gap, index }) => {
    return { start: index, end: index + gap.length, read: ' ' };
  });
  return [...gaps, ...wordsBefore(text), ...wordsBehind(text)].sort((a, b) => a.start - b.start || a.end - b.end);
}

function wordsBefore(text: string): readonly Disguise[] {
  return Array.from(text.matchAll(DIGITS)).flatMap(({ 0: digits, index }) => {
    const from = Math.max(0, index - LONGEST_WORD - 1);
    const before = text.slice(from, index);
    const [word = ''] = WORD.exec(before) ?? (digits.length > 11 ? LATER_WORD.exec(before) : undefined) ?? [];
    const hasPlus = word.endsWith('+');
    if (word === '' || word === '+') return [];
    const behind = index + digits.length;
    // One letter is added to a number in a formula.
    const dialsOn = word.length > 2 && DIALLED_ON.test(text.slice(behind, behind + 2));
    if (hasPlus && digits.length < 7 && !dialsOn) return [];
    if (word.length < 3 && digits.length < 12 && !hasPlus) return [];
    const at = hasPlus ? index - 1 : isAccount(text, index - 2) ? index - 2 : index;
    return at > index - word.length ? [{ start: at, end: at, read: ' ' }] : [];
  });
}

function wordsBehind(text: string): readonly Disguise[] {
  return Array.from(text.matchAll(WORD_BEHIND), ({ index }) => ({ start: index, end: index, read: ' ' }));
}

/** Whether an account number whose check digits hold stands there: `is` and `it` are countries, and words. */
function isAccount(text: string, start: number): boolean {
  const shape = ACCOUNT_SHAPES.get(text.slice(start, start + 2).toUpperCase());
  if (shape === undefined) return false;
  const compact = text.slice(start, start + 2 * LONGEST_ACCOUNT).replace(/[^A-Za-z\d]/g, '');
  const account = compact.slice(0, shape.length + 4).toUpperCase();
  if (account.length < shape.length + 4 || !/^\d\d$/.test(account.slice(2, 4))) return false;
  const digits = (account.slice(4) + account.slice(0, 4)).replace(/[A-Z]/g, (letter) =>
    String(letter.charCodeAt(0) - 55),
  );
  return remainderOf(digits, 97) === 1;
}

const LETTER = /[A-Za-z]/;
/** Kinds that are numbers; of those not named sure, groups are parted by a line that ends or wider blanks, or follow a plus. */
const NUMBERS: ReadonlySet<string> = new Set(['IBAN', 'CREDIT_CARD', 'PHONE', 'NATIONAL_ID', 'TAX_ID', 'BANK_ACCOUNT']);
const SURE: ReadonlySet<string> = new Set(['IBAN', 'CREDIT_CARD']);
const WIDE_GAP = /[\r\n\t\\]| {2}|^\+/;
/** Groups of four before or after it: a row of numbers, not a card. */
const GROUP_BEFORE = /(?<!\d)\d{4}[ -]$/;
const GROUP_BEHIND = /^[ -]\d{4}(?!\d)/;

/**
 * What counts of the matches in a view without `splitNumbersIn`: numbers that are split, or touch a word, in the text.
 * `matches` are at their places in the view, `inSource` the same at their places in the text.
 */
export function splitNumberMatches(
  text: string,
  view: string,
  matches: readonly Match[],
  inSource: readonly Match[],
): readonly Match[] {
  return inSource.filter(({ start, end, category }, index) => {
    if (!NUMBERS.has(category)) return false;
    const match = matches[index] as Match;
    const written = text.slice(start, end);
    if (LETTER.test(text.charAt(start - 1)) || LETTER.test(text.charAt(end))) return true;
    if (written === view.slice(match.start, match.end)) return false;
    if (!SURE.has(category)) return WIDE_GAP.test(written);
    if (category === 'IBAN') return true;
    const before = view.slice(Math.max(0, match.start - 6), match.start);
    return !GROUP_BEFORE.test(before) && !GROUP_BEHIND.test(view.slice(match.end, match.end + 6));
  });
}

/** What parts two groups of a number is no longer. */
const LONGEST_GAP = 200;
const BLANK = 32;
/** Signs that may end a group of a number which goes on behind them. */
const PARTING = new Set(Array.from('\n\r\t_,|*`~<\\•·–—=', (sign) => sign.charCodeAt(0)));
/** Those that part groups of four only. */
const FOURS = new Set(Array.from('_,|•·–—', (sign) => sign.charCodeAt(0)));
export const MARKS = new Set(Array.from('*_~>`', (sign) => sign.charCodeAt(0)));
/** Digits of a number that may hide, and how far from a sign they are looked for. */
const FEWEST_DIGITS = 7;
const REACH = 48;

/** Whether a row of digits touches a word, or marks, or goes on in a way that detectors do not know. */
export function maySplitNumber(text: string, start: number, end: number): boolean {
  return (touches(text, start, end) || goesOn(text, start, end)) && hasDigits(text, start - REACH, end + REACH);
}

function hasDigits(text: string, from: number, to: number): boolean {
  let count = 0;
  for (let at = Math.max(0, from); at < to; at += 1) {
    if (isDigit(text.charCodeAt(at)) && (count += 1) === FEWEST_DIGITS) return true;
  }
  return false;
}

function touches(text: string, start: number, end: number): boolean {
  const length = end - start;
  const before = text.charCodeAt(start - 1);
  if (before === 43 && isLetter(text.charCodeAt(start - 2)) && (length > 6 || isDialled(text, end))) return true;
  if (isLetter(before)) {
    const isWord = isLetter(text.charCodeAt(start - 2)) && isLetter(text.charCodeAt(start - 3));
    if (isWord && (length > 6 || isGrouped(text, end) || isGluedAccount(text, end))) return true;
    if (length > 14 && length < 17 && !isWord) return true;
  }
  if (MARKS.has(before) && isMarked(text, start, end)) return true;
  const next = text.charCodeAt(end);
  if (isLetter(next) && length > 2) {
    // Behind two capitals an account may have ended.
    if (isHex(next)) return length > 8 && before !== 45 && (!isLetter(before) || isCode(text, start));
    return length > 6 || isGroupedBefore(text, start);
  }
  return length < 3 && isPaired(text, end);
}

/** Whether the code of a country goes on as a number does. */
function isDialled(text: string, end: number): boolean {
  const sign = text.charCodeAt(end);
  return (sign === BLANK || sign === 45 || sign === 46) && isDigit(text.charCodeAt(end + 1));
}

function isCode(text: string, end: number): boolean {
  return isCapital(text.charCodeAt(end - 1)) && isCapital(text.charCodeAt(end - 2));
}

/** Whether marks part digits from a country or digits before them. */
function isMarked(text: string, start: number, end: number): boolean {
  let at = start - 1;
  while (start - at < 5 && MARKS.has(text.charCodeAt(at))) at -= 1;
  const before = text.charCodeAt(at);
  if (isDigit(before)) return true;
  return (
    isLetter(before) &&
    end - start >= 2 &&
    (isGrouped(text, end) || isAlphanumeric(text.charCodeAt(end)) || end - start > 6)
  );
}

/** Whether a group of three or more follows behind one blank, hyphen or dot. */
function isGrouped(text: string, end: number): boolean {
  const sign = text.charCodeAt(end);
  if (sign !== BLANK && sign !== 45 && sign !== 46) return false;
  return isDigit(text.charCodeAt(end + 1)) && isDigit(text.charCodeAt(end + 2)) && isDigit(text.charCodeAt(end + 3));
}

function isGroupedBefore(text: string, start: number): boolean {
  return text.charCodeAt(start - 1) === BLANK && isDigit(text.charCodeAt(start - 2));
}

/** Whether an account goes on with letters behind its check digits. */
function isGluedAccount(text: string, end: number): boolean {
  return isGroup(text, end) || (text.charCodeAt(end) === BLANK && isGroup(text, end + 1));
}

/** Whether a digit, or a group of capitals, follows behind blanks and signs that detectors do not know there. */
function goesOn(text: string, start: number, end: number): boolean {
  const next = text.charCodeAt(end);
  const isSimple = (next === BLANK || next === 45 || next === 46) && isAlphanumeric(text.charCodeAt(end + 1));
  if (isSimple || !(next === BLANK || PARTING.has(next))) return false;
  if (next === 60 || next === 92) return true;
  const limit = Math.min(text.length, end + LONGEST_GAP);
  let inFours = false;
  for (let at = end; at < limit; at += 1) {
    const code = text.charCodeAt(at);
    if (isDigit(code)) return !inFours || isGroup(text, at);
    if (isCapital(code)) return isGroup(text, at);
    if (FOURS.has(code)) {
      if (end - start < 4 && !MARKS.has(code) && text.charCodeAt(start - 1) !== 43) return false;
      inFours ||= end - start > 3;
    } else if (code === 60) return true;
    else if (code !== BLANK && code !== 45 && code !== 62 && code !== 43 && !PARTING.has(code)) return false;
  }
  return false;
}

/** Whether four capitals or digits stand there. */
function isGroup(text: string, start: number): boolean {
  for (let at = start; at < start + 4; at += 1) {
    const code = text.charCodeAt(at);
    if (!isDigit(code) && !isCapital(code)) return false;
  }
  return true;
}

/** Whether pairs of hexadecimal digits follow each other there, each behind the same sign. */
function isPaired(text: string, end: number): boolean {
  const sign = text.charCodeAt(end);
  if (sign !== BLANK && sign !== 58) return false;
  for (let at = end; at < end + 21; at += 3) {
    if (text.charCodeAt(at) !== sign || !isHex(text.charCodeAt(at + 1)) || !isHex(text.charCodeAt(at + 2)))
      return false;
  }
  return true;
}
