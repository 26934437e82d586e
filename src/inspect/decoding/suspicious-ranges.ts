import { isAlphanumeric, isBlank, isDigit, isHex, isLetter } from '../detectors/characters.ts';
import type { TextRange } from '../match.ts';
import { AT_WORDS, DOT_WORDS } from './spelled-addresses.ts';
import { MARKS, maySplitNumber } from './split-numbers.ts';

const NONE: readonly TextRange[] = Object.freeze([]);
/** So much around a sign is read again: an address, and the words that tell a number. */
const AROUND = 240;
/** A shorter run contains no recognizable address or number. */
export const SHORTEST_RUN = 16;
/** Nothing hides in a shorter text: `a%40b.de`. */
const SHORTEST = 8;
/** So far behind a number the next one is looked for without the engine. */
const NEAR = 24;

/**
 * The next sign of hidden text: a digit or the sign of an address, whose neighbours are then checked,
 * or the beginning of an escape. Its first characters are few, so that the engine runs over prose.
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
 * The ranges of a text in which something may hide from detectors, which look at a text as it is written; in order and
 * without overlaps. None for most texts: a few passes stop at digits and a few signs only, and look at their neighbours.
 */
export function suspiciousRangesIn(text: string): readonly TextRange[] {
  if (text.length < SHORTEST) return NONE;
  const found: TextRange[] = [];
  for (let at = nextSign(text, 0); at >= 0;) {
    const code = text.charCodeAt(at);
    const start = at;
    let end = at + 1;
    let isSuspect = true;
    if (isDigit(code)) {
      while (isDigit(text.charCodeAt(end))) end += 1;
      at = nextNear(text, end);
      isSuspect = maySplitNumber(text, start, end);
    } else {
      at = nextSign(text, end);
      if (code === 64) isSuspect = isSetApart(text, start);
    }
    if (isSuspect) found.push({ start, end });
  }
  BRACKETED.lastIndex = 0;
  while (BRACKETED.test(text)) found.push({ start: BRACKETED.lastIndex - 1, end: BRACKETED.lastIndex });
  if (!isPlain(text)) for (const at of lookalikesIn(text)) found.push({ start: at, end: at + 1 });
  for (let at = nextInWords(text, 0); at >= 0; at = nextInWords(text, at + 1)) found.push({ start: at, end: at + 1 });
  for (let at = nextRun(text, 0); at >= 0;) {
    const end = runEnd(text, at);
    if (mayBeEncoded(text, at, end)) found.push({ start: at, end });
    at = nextRun(text, end);
  }
  return found.length === 0 ? NONE : around(found, text.length);
}

/** One word of few letters, as most names of members are: nothing is found in it, and nothing hides. */
export const SHORT_WORD = new RegExp(`^[A-Za-z_]{0,${SHORTEST_RUN - 1}}$`);

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

/** The same ranges with their surroundings, merged where they touch. */
function around(found: readonly TextRange[], length: number): readonly TextRange[] {
  const wide: { start: number; end: number }[] = [];
  for (const { start, end } of found.toSorted((a, b) => a.start - b.start)) {
    const last = wide.at(-1);
    const reach = Math.min(length, end + AROUND);
    if (last && start - AROUND <= last.end) last.end = Math.max(last.end, reach);
    else wide.push({ start: Math.max(0, start - AROUND), end: reach });
  }
  return wide;
}

/** Whether the sign of an address is apart from its name or host, or has marks in or next to them. */
function isSetApart(text: string, at: number): boolean {
  let end = at + 1;
  while (end - at < 256 && isOfAddress(text.charCodeAt(end))) end += 1;
  let start = at;
  while (at - start < 256 && isOfAddress(text.charCodeAt(start - 1))) start -= 1;
  const before = text.charCodeAt(start - 1);
  const next = text.charCodeAt(end);
  if (start === at && isBlank(before)) return isBlank(next) || text.slice(at, end - 2).includes('.');
  if (start === at) return MARKS.has(before) || before === 93 || before === 125 || before === 41;
  if (end === at + 1) return isBlank(next) || MARKS.has(next) || next === 60 || next === 91 || next === 92;
  if (before === 62) return isLetter(text.charCodeAt(start - 2)) || isHex(text.charCodeAt(start - 2));
  return (
    MARKS.has(before) ||
    (MARKS.has(next) && next !== 62) ||
    (next === 60 && isLetter(text.charCodeAt(end + 1))) ||
    !text.slice(at, end - 2).includes('.')
  );
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

const NOT_PLAIN = /[^\t\n\r -~]/g;
/** Control characters of ASCII, in classes of few rows of sixteen each, so that the engine looks at many characters at once. */
// oxlint-disable-next-line no-control-regex -- the pattern searches for them
const CONTROLS = /[\u0000-\u0008\u000b\u000e\u000f\u007f]/;
// oxlint-disable-next-line no-control-regex -- as above
const MORE_CONTROLS = /[\u0010-\u001f]/;

/** 1: a character that `lookalike-characters.ts` decodes; 2: the first half of what may be one. */
const HIDING = new Uint8Array(0x10000);
for (const [first, last] of [
  [0x00, 0x08],
  [0x0b, 0x0b],
  [0x0e, 0x1f],
  [0x7f, 0x9f],
  [0xb2, 0xb3],
  [0xb9, 0xb9],
  [0x2b0, 0x2b8],
  [0x2e1, 0x2e3],
  [0x300, 0x36f],
  [0x1ab0, 0x1aff],
  [0x1d2c, 0x1d6a],
  [0x1dc0, 0x1dff],
  [0x2070, 0x209c],
  [0x20d0, 0x20ff],
  [0x2100, 0x2145],
  [0x2460, 0x24ff],
  [0x2776, 0x2793],
  [0x3002, 0x3002],
  [0xfe20, 0xfe2f],
  [0xff61, 0xff61],
] as const) {
  HIDING.fill(1, first, last + 1);
}
for (const lead of [0xd83c, 0xd83e, 0xdb40]) HIDING[lead] = 2;

function isPlain(text: string): boolean {
  return Buffer.byteLength(text) === text.length && !CONTROLS.test(text) && !MORE_CONTROLS.test(text);
}

/** Positions of characters that read as others, or as nothing: none in a text that `isPlain`. */
function lookalikesIn(text: string): readonly number[] {
  const found: number[] = [];
  NOT_PLAIN.lastIndex = 0;
  while (NOT_PLAIN.test(text)) {
    let at = NOT_PLAIN.lastIndex - 1;
    for (let code = text.charCodeAt(at); code > 126 || HIDING[code] === 1; code = text.charCodeAt(++at)) {
      if (HIDING[code] !== 0 && isHiding(text, at, HIDING[code])) found.push(at);
    }
    NOT_PLAIN.lastIndex = Math.max(at, NOT_PLAIN.lastIndex);
  }
  return found;
}

function isHiding(text: string, at: number, kind: number | undefined): boolean {
  if (kind === 1) return true;
  const point = text.codePointAt(at) ?? 0;
  return (
    (point >= 0x1f110 && point <= 0x1f189) ||
    (point >= 0x1f1e6 && point <= 0x1f1ff) ||
    (point >= 0x1fbf0 && point <= 0x1fbf9) ||
    (point >= 0xe0020 && point <= 0xe007e)
  );
}

/** One of `DOT_WORDS` among blanks, from a letter on that is rare enough for the engine to run over prose. */
const RARE_DOT = /[dp](?:(?<= d)ot |(?<= p)(?:unkt|oint|unto|onto|unt) |(?<= krop)ka )/gi;
/** Text before a dot in an address: the other sign as a word, and a name. Signs in brackets are found by themselves. */
const BEFORE_DOT = new RegExp(` (?:${AT_WORDS}) [^\\s]{1,63} (?:${DOT_WORDS}) $`, 'i');
const LONGEST_IN_WORDS = 100;

/** Where an address in words may stand, from `from` on: the place of its first sign; -1 where none does. */
function nextInWords(text: string, from: number): number {
  RARE_DOT.lastIndex = from;
  while (RARE_DOT.test(text)) {
    const end = RARE_DOT.lastIndex;
    const start = Math.max(from, end - LONGEST_IN_WORDS);
    const before = BEFORE_DOT.exec(text.slice(start, end));
    if (before) return start + before.index;
  }
  return -1;
}

/** The value of each character of base64; 64 for other characters. */
const VALUES = new Uint8Array(128).fill(64);
for (const alphabet of [
  'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/',
  'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_',
]) {
  for (let value = 0; value < 64; value += 1) VALUES[alphabet.charCodeAt(value)] = value;
}

/** Whether the first twelve bytes that base64 stands for may begin a text; most words and ids tell at once that they do not. */
export function mayBeText(run: string, start: number): boolean {
  let bits = 0;
  let following = 0;
  for (let at = 0; at < 16; at += 1) {
    bits = (bits << 6) | (VALUES[run.charCodeAt(start + at)] ?? 0);
    if (at % 4 !== 3) continue;
    for (let shift = 16; shift >= 0; shift -= 8) {
      following = followingIn((bits >> shift) & 255, following);
      if (following < 0) return false;
    }
    bits = 0;
  }
  return true;
}

/** The same of the first eight bytes that hexadecimal digits stand for. */
export function mayBeHexText(run: string, start: number): boolean {
  let following = 0;
  for (let at = start; at < start + 16; at += 2) {
    const byte = Number.parseInt(run.slice(at, at + 2), 16);
    if (!isHex(run.charCodeAt(at)) || !isHex(run.charCodeAt(at + 1))) return false;
    following = followingIn(byte, following);
    if (following < 0) return false;
  }
  return true;
}

/** How many bytes of a character of UTF-8 are still to come behind a byte; -1 where it is of no text. */
function followingIn(byte: number, expected: number): number {
  if (expected > 0) return byte >= 0x80 && byte < 0xc0 ? expected - 1 : -1;
  if (byte < 0x80) return (byte >= 32 && byte !== 127) || byte === 9 || byte === 10 || byte === 13 ? 0 : -1;
  if (byte < 0xc2 || byte > 0xf4) return -1;
  return byte < 0xe0 ? 1 : byte < 0xf0 ? 2 : 3;
}

/** The end of the run of characters of base64 at `at`, or `at` where it is too short to hold a text. */
export function runEnd(text: string, at: number): number {
  let end = at;
  for (let code = text.charCodeAt(end); code < 128 && VALUES[code] !== 64; code = text.charCodeAt(end)) end += 1;
  return end - at >= SHORTEST_RUN ? end : at;
}

/**
 * Where the next run of characters of base64 begins that is long enough for a text, from `from` on; -1 where there is
 * none. One character in sixteen is looked at where words are short.
 */
export function nextRun(text: string, from: number): number {
  for (let at = from + SHORTEST_RUN - 1; at < text.length;) {
    let start = at;
    for (
      let code = text.charCodeAt(start);
      start >= from && code < 128 && VALUES[code] !== 64;
      code = text.charCodeAt(start)
    )
      start -= 1;
    if (at - start >= SHORTEST_RUN) return start + 1;
    at = start + SHORTEST_RUN;
  }
  return -1;
}
