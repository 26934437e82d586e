import { remainderOf } from '../detectors/check-digits.ts';
import { ACCOUNT_SHAPES } from '../detectors/iban.ts';
import type { Span } from '../detectors/detector.ts';
import type { Disguise } from './disguises.ts';
import { writtenIn, type Reading } from './reading.ts';

/**
 * What may stand between two groups of a number beside one blank, hyphen or dot, which detectors know of. Each begins with
 * one of few signs, so that most of a text is passed by.
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
export function partedNumbersIn(text: string): readonly Disguise[] {
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
    const isDialled = word.endsWith('+');
    if (word === '' || word === '+') return [];
    const behind = index + digits.length;
    // One letter is added to a number in a formula.
    const goesOn = word.length > 2 && DIALLED_ON.test(text.slice(behind, behind + 2));
    if (isDialled && digits.length < 7 && !goesOn) return [];
    if (word.length < 3 && digits.length < 12 && !isDialled) return [];
    const at = isDialled ? index - 1 : isAccount(text, index - 2) ? index - 2 : index;
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
/** Groups of four before or behind it: a row of numbers that are none. */
const GROUP_BEFORE = /(?<!\d)\d{4}[ -]$/;
const GROUP_BEHIND = /^[ -]\d{4}(?!\d)/;

/** What counts of the finds in a reading of `partedNumbersIn`, where it is written: numbers that are parted, or touch a word. */
export function partedSpans(text: string, reading: Reading, spans: readonly Span[]): readonly Span[] {
  return writtenIn(reading, spans).filter(({ start, end, category }, index) => {
    if (!NUMBERS.has(category)) return false;
    const span = spans[index] as Span;
    const written = text.slice(start, end);
    if (LETTER.test(text.charAt(start - 1)) || LETTER.test(text.charAt(end))) return true;
    if (written === reading.text.slice(span.start, span.end)) return false;
    if (!SURE.has(category)) return WIDE_GAP.test(written);
    if (category === 'IBAN') return true;
    const before = reading.text.slice(Math.max(0, span.start - 6), span.start);
    return !GROUP_BEFORE.test(before) && !GROUP_BEHIND.test(reading.text.slice(span.end, span.end + 6));
  });
}
