import { isWordLetter } from './announced.ts';
import { isCapital, isDigit, isSmall } from './characters.ts';
import { endsAsInCode } from './login-value.ts';

const SMALL = 1;
const CAPITAL = 2;
/** A letter beyond ASCII. */
const WIDE = 4;
const DIGIT = 8;
const UNDERSCORE = 16;
/** `.` and `-` */
const JOINT = 32;
/** `+`, which logins may hold. */
const PLUS = 64;
/** `!#$%&` */
const MARK = 128;
const OTHER = 256;
/** A capital letter behind a small one. */
const CAMEL = 512;

const KINDS = Uint16Array.from({ length: 0x250 }, (_, code) => {
  if (isSmall(code)) return SMALL;
  if (isCapital(code)) return CAPITAL;
  if (isDigit(code)) return DIGIT;
  if (isWordLetter(code)) return WIDE;
  const sign = String.fromCharCode(code);
  if (sign === '_') return UNDERSCORE;
  if (sign === '.' || sign === '-') return JOINT;
  if (sign === '+') return PLUS;
  return '!#$%&'.includes(sign) ? MARK : OTHER;
});

/** What the word from `start` to `end` is made of: a bit for each kind of letters and signs. */
export function madeOf(text: string, start: number, end: number): number {
  let kinds = 0;
  let last = 0;
  for (let at = start; at < end; at += 1) {
    const code = text.charCodeAt(at);
    const kind = code < KINDS.length ? (KINDS[code] as number) : OTHER;
    if (kind === CAPITAL && last === SMALL) kinds |= CAMEL;
    kinds |= kind;
    last = kind;
  }
  return kinds;
}

/** Whether letters stand with digits or signs that only logins and passwords have. */
export function isMixed(kinds: number): boolean {
  return (kinds & (SMALL | CAPITAL | WIDE)) !== 0 && (kinds & (DIGIT | UNDERSCORE | MARK)) !== 0;
}

const ENDING = '.?!…*';

/** Numbers of accounts, documents, versions and hosts, of which other detectors decide, and ids of commits and chunks: `eafa73`. */
const NUMBER = /\d\.\d|\d{10}|^(?=(?:.*\d){2})[\da-f]{6,}$/i;

/** Whether a word that begins with a letter may be a login; `DE89` and `ab1` are too short to be one. */
export function mayBeLogin(text: string, start: number, end: number, isShort: boolean): boolean {
  let last = end;
  while (last > start && ENDING.includes(text[last - 1] as string)) last -= 1;
  const kinds = madeOf(text, start, last);
  if ((kinds & (WIDE | MARK | OTHER)) !== 0 || endsAsInCode(text, start, last)) return false;
  if (!isShort && (kinds & DIGIT) !== 0) return !NUMBER.test(text.slice(start, last));
  if ((kinds & CAMEL) !== 0) return false;
  // Of capitals: a constant.
  return (!isShort && (kinds & UNDERSCORE) !== 0 && (kinds & SMALL) !== 0) || isJoined(text, start, end);
}

/** Whether a word is two of small letters with a full stop or a hyphen between. */
function isJoined(text: string, start: number, end: number): boolean {
  let joints = 0;
  for (let at = start; at < end; at += 1) {
    const code = text.charCodeAt(at);
    if (KINDS[code] === JOINT) joints += at + 1 < end ? 1 : 0;
    else if (!isSmall(code)) return at + 1 === end && joints === 1;
  }
  return joints === 1;
}
