/** Whether the code unit is `0` to `9`; false past the end of a text (NaN). */
export function isDigit(code: number): boolean {
  return code >= 48 && code <= 57;
}

/** Whether the code unit is an ASCII letter. */
export function isLetter(code: number): boolean {
  const lower = code | 32;
  return lower >= 97 && lower <= 122 && code < 128;
}

/** Whether the code unit is a small ASCII letter. */
export function isSmall(code: number): boolean {
  return code > 96 && code < 123;
}

/** Whether the code unit is an ASCII letter or digit. Letters of other scripts end a token, as CJK text has no spaces. */
export function isAlphanumeric(code: number): boolean {
  return isDigit(code) || isLetter(code);
}

/** Whether the code unit is a hexadecimal digit. */
export function isHex(code: number): boolean {
  return isDigit(code) || ((code | 32) >= 97 && (code | 32) <= 102 && code < 128);
}

const ESCAPE_LETTERS = new Set(['b', 'f', 'n', 'r', 't'].map((letter) => letter.charCodeAt(0)));

/**
 * Whether the character at `at` is the letter of an escape such as `\n`, as in JSON that is itself held in a JSON
 * string (tool-call arguments). A tag must not swallow that letter, and a number may start right after it.
 */
export function isEscapeLetter(text: string, at: number): boolean {
  return at > 0 && text.charCodeAt(at - 1) === 92 && ESCAPE_LETTERS.has(text.charCodeAt(at));
}

/** Whether a token may start at `at`: nothing alphanumeric stands right before it. */
export function startsToken(text: string, at: number): boolean {
  return at === 0 || !isAlphanumeric(text.charCodeAt(at - 1)) || isEscapeLetter(text, at - 1);
}

/** Whether a token may end before `at`: nothing alphanumeric stands there. */
export function endsToken(text: string, at: number): boolean {
  return !isAlphanumeric(text.charCodeAt(at));
}

/** The index after the run of digits that starts at `at`. */
export function digitsEnd(text: string, at: number): number {
  let end = at;
  while (isDigit(text.charCodeAt(end))) end += 1;
  return end;
}

/** Blanks and signs that may stand between a word and the number it is about. */
const BETWEEN = new Set([' ', '\t', ':', '.', '=', '"', "'", '(', '#'].map((sign) => sign.charCodeAt(0)));

/** The word right before `at`, in lower case, with at most four blanks or signs between; empty without one. */
export function wordBefore(text: string, at: number): string {
  let end = at;
  while (end > at - 4 && BETWEEN.has(text.charCodeAt(end - 1))) end -= 1;
  let start = end;
  while (start > end - 20 && isWordPart(text.charCodeAt(start - 1))) start -= 1;
  return start === end ? '' : text.slice(start, end).toLowerCase();
}

function isWordPart(code: number): boolean {
  return isLetter(code) || code > 160;
}

const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/gi;

/** Whether the stretch, shorter than a UUID, lies in one. Reads at most 36 characters to either side. */
export function isInUuid(text: string, start: number, end: number): boolean {
  if (text.charCodeAt(start - 1) !== 45 && text.charCodeAt(end) !== 45) return false;
  const from = Math.max(0, start - 36);
  for (const match of text.slice(from, end + 36).matchAll(UUID)) {
    const at = from + match.index;
    if (at < end && start < at + match[0].length) return true;
  }
  return false;
}

/** Whether the code unit is `A` to `Z`. */
export function isCapital(code: number): boolean {
  return code >= 65 && code <= 90;
}

/** Whether the code unit is a blank of ASCII, the ends of lines among them. */
export function isBlank(code: number): boolean {
  return code === 32 || (code >= 9 && code <= 13);
}

const LETTER = /[\p{L}\p{M}\p{N}]/u;

/** Whether a letter, mark or digit outside ASCII holds the code unit at `index` (either half of a pair). */
export function isWideLetter(text: string, index: number): boolean {
  const point = pointAt(text, index);
  return point > 127 && LETTER.test(String.fromCodePoint(point));
}

/** Whether the letter at `index` is of a script written without spaces, where a Latin address touches the words around it. */
export function isUnspaced(text: string, index: number): boolean {
  const point = pointAt(text, index);
  return (
    point >= 0x0e00 &&
    (point <= 0x0eff ||
      (point >= 0x1000 && point <= 0x109f) ||
      (point >= 0x1780 && point <= 0x17ff) ||
      (point >= 0x2e80 && point <= 0xa4cf) ||
      (point >= 0xac00 && point <= 0xd7af) ||
      (point >= 0xf900 && point <= 0xfaff) ||
      (point >= 0x20000 && point <= 0x3ffff))
  );
}

/** How many code units the character before `end` has: 2 for a surrogate pair, 1 for all else. */
export function widthBefore(text: string, end: number): number {
  return isWithinCharacter(text, end - 1) ? 2 : 1;
}

function pointAt(text: string, index: number): number {
  return text.codePointAt(isWithinCharacter(text, index) ? index - 1 : index) ?? 0;
}

/** Whether the code units before and at `index` are one character. */
export function isWithinCharacter(text: string, index: number): boolean {
  const code = text.charCodeAt(index);
  if (!(code >= 0xdc00 && code <= 0xdfff)) return false;
  const before = text.charCodeAt(index - 1);
  return before >= 0xd800 && before <= 0xdbff;
}
