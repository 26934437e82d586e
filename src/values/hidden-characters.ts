/**
 * Characters that a reader does not see, or that change the order or place of what a reader sees: controls other than line
 * breaks and tabs, formats and bidirectional controls, fillers, variation selectors, tags, private use, lone surrogates.
 */
const HIDDEN = /\p{Cc}|\p{Cf}|\p{Co}|\p{Cs}|\p{Zl}|\p{Zp}|\p{Default_Ignorable_Code_Point}|\u2800/gu;
const LAYOUT = new Set(['\n', '\r', '\t']);
/** The selector that asks for the picture of a character, as in ⚠️. */
const PICTURE = '\ufe0f';
const HAS_PICTURE = /\p{Emoji}$/u;

/** How many hidden characters a text has. The one that only asks for a picture of the character before it is not counted. */
export function countHidden(text: string): number {
  let count = 0;
  for (const { 0: character, index } of text.matchAll(HIDDEN)) {
    if (LAYOUT.has(character)) continue;
    if (character === PICTURE && HAS_PICTURE.test(text.slice(Math.max(0, index - 2), index))) continue;
    count++;
  }
  return count;
}

/** The text with hidden characters written as `<U+202E>`, line breaks and tabs too: safe to show in a terminal, on one line. */
export function showHidden(text: string): string {
  return text.replace(HIDDEN, (character) => {
    return `<U+${character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}>`;
  });
}
