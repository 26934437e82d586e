import { isAlphanumeric, isBlank, isCapital, isDigit, isHex, isLetter } from '../detectors/characters.ts';
import { mayBeHexText, mayBeText, nextRun, runEnd, SHORTEST_RUN } from './encoded-text.ts';
import { hidingIn } from './hiding-places.ts';
import { nextInWords } from './spelled-addresses.ts';

/** A stretch of a text around something that may read as something else. */
export interface Stretch {
  readonly start: number;
  readonly end: number;
}

const NONE: readonly Stretch[] = Object.freeze([]);
/** So much around a sign is read again: an address, and the words that tell a number. */
const AROUND = 240;
/** What parts two groups of a number is no longer. */
const LONGEST_GAP = 200;
const BLANK = 32;
/** Nothing hides in a shorter text: `a%40b.de`. */
const SHORTEST = 8;
/** So far behind a number the next one is looked for without the engine. */
const NEAR = 24;

/**
 * The next sign that may tell of something hidden: a digit or the sign of an address, which are asked about what stands
 * beside them, else the beginning of an escape. Its first characters are few, so that the engine runs over prose.
 */
const SIGN = new RegExp(
  `(?=[\\d@\\\\%&=])(?:${[
    '[\\d@]',
    '\\\\(?=\\\\{0,15}(?:u[\\da-fA-F]{4}|x[\\da-fA-F]{2}|[@._+*/#-]))',
    '%(?=[\\da-fA-F]{2})',
    '&(?=#|[A-Za-z]{2,8};)',
    // Quoted-printable: an escape of one of the signs of addresses and numbers, one of several, or the end of a line.
    '=(?=40|2[0DE]|[\\dA-F]{2}=[\\dA-F]|[ \\t]{0,20}\\r?\\n)',
  ].join('|')})`,
  'g',
);
const BRACKETED = /[[({<](?= ?(?:at|AT|At|ät|arroba|arobase|chiocciola|małpa|apenstaartje|@) ?[\])}>])/g;

/**
 * Stretches of a text in which something may hide from detectors, which look at a text as it is written; in order and
 * apart. None for most texts: a few passes stop at digits and a few signs only, and ask there what stands beside.
 */
export function suspectsIn(text: string): readonly Stretch[] {
  if (text.length < SHORTEST || isShortWord(text)) return NONE;
  const found: Stretch[] = [];
  for (let at = nextSign(text, 0); at >= 0;) {
    const code = text.charCodeAt(at);
    const start = at;
    let end = at + 1;
    let isSuspect = true;
    if (isDigit(code)) {
      while (isDigit(text.charCodeAt(end))) end += 1;
      at = nextNear(text, end);
      isSuspect = isParted(text, start, end);
    } else {
      at = nextSign(text, end);
      if (code === 64) isSuspect = isSetApart(text, start);
    }
    if (isSuspect) found.push({ start, end });
  }
  BRACKETED.lastIndex = 0;
  while (BRACKETED.test(text)) found.push({ start: BRACKETED.lastIndex - 1, end: BRACKETED.lastIndex });
  for (const at of hidingIn(text)) found.push({ start: at, end: at + 1 });
  for (let at = nextInWords(text, 0); at >= 0; at = nextInWords(text, at + 1)) found.push({ start: at, end: at + 1 });
  for (let at = nextRun(text, 0); at >= 0;) {
    const end = runEnd(text, at);
    if (mayBeEncoded(text, at, end)) found.push({ start: at, end });
    at = nextRun(text, end);
  }
  return found.length === 0 ? NONE : around(found, text.length);
}

/** Whether a text is one word too short for an encoded text, as most names of members are: nothing hides in it. */
function isShortWord(text: string): boolean {
  if (text.length >= SHORTEST_RUN) return false;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (!isLetter(code) && code !== 95) return false;
  }
  return true;
}

function nextSign(text: string, from: number): number {
  SIGN.lastIndex = from;
  return SIGN.test(text) ? SIGN.lastIndex - 1 : -1;
}

/** The next sign behind a number, where another number is often close: the engine is asked only where none is. */
function nextNear(text: string, from: number): number {
  const far = Math.min(text.length, from + NEAR);
  for (let at = from; at < far; at += 1) {
    const code = text.charCodeAt(at);
    if (isDigit(code) || code === 64) return at;
    if (code === 92 || code === 37 || code === 38 || code === 61) return nextSign(text, at);
  }
  return nextSign(text, far);
}

/** The same with what stands around them, as one where they meet. */
function around(found: readonly Stretch[], length: number): readonly Stretch[] {
  const wide: { start: number; end: number }[] = [];
  for (const { start, end } of found.toSorted((a, b) => a.start - b.start)) {
    const last = wide.at(-1);
    const reach = Math.min(length, end + AROUND);
    if (last && start - AROUND <= last.end) last.end = Math.max(last.end, reach);
    else wide.push({ start: Math.max(0, start - AROUND), end: reach });
  }
  return wide;
}

/** Signs that may end a group of a number which goes on behind them. */
const PARTING = new Set(Array.from('\n\r\t_,|*`~<\\•·–—=', (sign) => sign.charCodeAt(0)));
/** Those that part groups of four only. */
const FOURS = new Set(Array.from('_,|•·–—', (sign) => sign.charCodeAt(0)));
const MARKS = new Set(Array.from('*_~>`', (sign) => sign.charCodeAt(0)));
/** Digits of a number that may hide, and how far from a sign they are looked for. */
const FEWEST_DIGITS = 7;
const REACH = 48;

/** Whether a row of digits touches a word, or marks, or goes on in a way that detectors do not know. */
function isParted(text: string, start: number, end: number): boolean {
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

/** Whether the sign of an address stands apart from its name or host, or marks stand among or beside them. */
function isSetApart(text: string, at: number): boolean {
  let end = at + 1;
  while (end - at < 256 && isOfAddress(text.charCodeAt(end))) end += 1;
  let start = at;
  while (at - start < 256 && isOfAddress(text.charCodeAt(start - 1))) start -= 1;
  const before = text.charCodeAt(start - 1);
  const next = text.charCodeAt(end);
  if (start === at && isBlank(before)) return isBlank(next) || hasDot(text, at, end);
  if (start === at) return MARKS.has(before) || before === 93 || before === 125 || before === 41;
  if (end === at + 1) return isBlank(next) || MARKS.has(next) || next === 60 || next === 91 || next === 92;
  if (before === 62) return isLetter(text.charCodeAt(start - 2)) || isHex(text.charCodeAt(start - 2));
  return (
    MARKS.has(before) ||
    (MARKS.has(next) && next !== 62) ||
    (next === 60 && isLetter(text.charCodeAt(end + 1))) ||
    !hasDot(text, at, end)
  );
}

function hasDot(text: string, start: number, end: number): boolean {
  for (let at = start; at < end - 2; at += 1) if (text.charCodeAt(at) === 46) return true;
  return false;
}

function isOfAddress(code: number): boolean {
  return isAlphanumeric(code) || code === 45 || code === 46 || code === 95 || code === 43 || code > 127;
}

/** Whether a long run may be a text in base64 or in hexadecimal digits; one that is parted by slashes, from any of them. */
function mayBeEncoded(text: string, start: number, end: number): boolean {
  if (mayBeText(text, start) || mayBeHexText(text, start)) return true;
  for (let at = start; at < end - 16; at += 1) {
    if (text.charCodeAt(at) === 47 && (mayBeText(text, at + 1) || mayBeHexText(text, at + 1))) return true;
  }
  return false;
}
