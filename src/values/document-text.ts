/** A comment ends at its first end: were that left open, a head of many comments would take for ever. */
const FRONT = '^\\s*(?:<\\?xml[^>]*>\\s*)?(?:<!--(?:(?!-->)[^])*-->\\s*)*';
const HTML = new RegExp(`${FRONT}<(?:!doctype\\s+html|html|head|body)\\b`, 'i');
/** It may give its own names to letters. */
const DOCTYPE = new RegExp(`${FRONT}<!(?:doctype|entity)\\b`, 'i');
const HEADER = /^\s*(?:From [^\n]*\n)?[A-Z][\w-]{1,40}:[ \t][^\n]*\n(?:[ \t][^\n]*\n)*[A-Z][\w-]{1,40}:[ \t]/i;
const ENCODED = /^content-transfer-encoding:\s*(?:base64|quoted-printable)|=\?[\w-]{1,40}\?[bq]\?/im;
const RICH = /^\s*\{\\rtf/;
/** A card or calendar of an old version with a line in an encoding of its own. */
const CARD = /^\s*BEGIN:V(?:CARD|CALENDAR)/i;
const CARD_ENCODING = /;(?:ENCODING=)?(?:QUOTED-PRINTABLE|BASE64|B)[;:]/i;
const HEAD_LENGTH = 4096;

/**
 * What a text is that says other words than it is written with, so that it must not be searched as plain text; both sides
 * of the port of documents tell it the same way. `mail`: with parts or headers in base64 or quoted-printable; `card`: with
 * lines in them.
 */
export function disguisedKindOf(text: string, mediaType: string): 'html' | 'xml' | 'mail' | 'rtf' | 'card' | undefined {
  const head = text.slice(0, HEAD_LENGTH);
  if (mediaType === 'message/rfc822' || (HEADER.test(head) && ENCODED.test(text))) return 'mail';
  if (RICH.test(head)) return 'rtf';
  if (CARD.test(head) && CARD_ENCODING.test(text)) return 'card';
  if (HTML.test(head)) return 'html';
  return DOCTYPE.test(head) ? 'xml' : undefined;
}

/** Letters that Unicode does not take apart, as they are written where they are not at hand; and the sigma that ends a word. */
const WRITTEN: Readonly<Record<string, string>> = {
  ß: 'ss',
  æ: 'ae',
  œ: 'oe',
  ø: 'o',
  ł: 'l',
  đ: 'd',
  ð: 'd',
  þ: 'th',
  ħ: 'h',
  ŧ: 't',
  ŋ: 'n',
  ı: 'i',
  ς: 'σ',
};
const SPECIAL = new RegExp(`[${Object.keys(WRITTEN).join('')}]`, 'g');
const MARKS = /[\u0300-\u036f]+/g;

/**
 * A text in the letters that every spelling of it comes to: lower case, without accents, compatibility forms taken apart,
 * `ß` as `ss` as capitals write it. Both sides of the port of documents look for originals in these letters.
 */
export function plainLetters(text: string): string {
  return text
    .normalize('NFKD')
    .toLowerCase()
    .replace(MARKS, '')
    .replace(SPECIAL, (letter) => WRITTEN[letter] ?? letter);
}
