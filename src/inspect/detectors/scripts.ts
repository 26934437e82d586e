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
  return isTrail(text.charCodeAt(end - 1)) && isLead(text.charCodeAt(end - 2)) ? 2 : 1;
}

function pointAt(text: string, index: number): number {
  return text.codePointAt(isWithinCharacter(text, index) ? index - 1 : index) ?? 0;
}

/** Whether the code units before and at `index` are one character. */
export function isWithinCharacter(text: string, index: number): boolean {
  return isTrail(text.charCodeAt(index)) && isLead(text.charCodeAt(index - 1));
}

function isLead(code: number): boolean {
  return code >= 0xd800 && code <= 0xdbff;
}

function isTrail(code: number): boolean {
  return code >= 0xdc00 && code <= 0xdfff;
}
