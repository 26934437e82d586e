import type { Match } from '../match.ts';

/** Signs that recognizers read where a digit is, by that digit. */
const DIGITS: Readonly<Record<string, string>> = {
  ...{ O: '0', o: '0', Q: '0', D: '0', I: '1', l: '1', '|': '1', '!': '1', Z: '2', z: '2', S: '5', s: '5' },
  ...{ G: '6', b: '6', B: '8', g: '9', q: '9' },
};
const NUMBER = /(?<!\S)[+(]?[\dOoQDIl|!ZzSsGbBgq.,:/()-]+(?: [\dOoQDIl|!ZzSsGbBgq.,:/()-]+)*(?!\S)/g;
/** Dirt between groups of a phone number, alone or next to the blank there. */
const DUST = /(?<=\d ?)[.,:;](?= ?\d)/g;

const TOKEN = /[^\s<>"«»,;]+/g;
/** What ends as the name of a host does. */
const HOSTED = /[\p{L}\d]\.[a-z]{2,24}\W*$/iu;
const ADDRESS_OF_WEB = /^\W*(?:www\.|[a-z]{3,6}:\/)/i;
/** What recognizers make of the sign, within an address: signs and letters of its round shape, one or two of them. */
const ROUND_SIGN =
  /(?<=[\p{L}\d._+-])[([{/\\|]?(?:[©®€¢&][aOQ0]?|[()[\]{}][aOQ0]?|(?<=[/\\|])[OQ0])(?=[\p{L}\d-]{2,}\.)/u;
const ROUND_LETTER = /(?<=[\p{Ll}\d._+-])[OQGCÓÔÖØ](?=[\p{Ll}\d-]{2,}\.)/u;
const CAPITAL = /\p{Lu}/gu;
/** A dot between the names of a host. */
const DOT = /(?<=[\p{Ll}\d])[,;](?=\p{Ll}{2,})/gu;
/** A sign before the `@` that no address contains: most likely a digit. */
const NO_LETTER = /(?<=[\p{L}\d])[/\\|!*()'’](?=[\p{L}\d])/gu;
/** A word that says that an address follows. */
const MAIL_WORD = /(?:e-?mail|\bmail|correo|courriel|\bmél|posta|poczta|correio)[^\p{L}\d]{0,4}$/iu;
/** The same anywhere in a text. */
const MAIL_WORDS = /(?<![\p{L}\d])(?:e-?mail|mail|correo|courriel|mél|posta|poczta|correio)[^\p{L}\d\r\n]{0,4}/giu;
/** A host is no longer, and has no more parts, however dirt parted it. */
const ADDRESS_LENGTH = 80;
const ADDRESS_PARTS = 3;
const HOST_ENDS = /^.{3,}\.[a-z]{2,24}(?=\W*$)/iu;

/** The `@` with blanks next to it, or in brackets as they are read. */
const APART =
  /(?<=[\p{L}\d])(?: (?:@|\([aQO0]\)?|[©®Q]) ?|(?:@|\([aQO0]\)|[©®]) )(?=[\p{Ll}\d-]+\.[\p{Ll}\d.-]*[a-z]{2})/gu;

/**
 * A text as it may have been written before it was misread: digits where letters look like them, and the sign of an address
 * of mail where a round one stands in its place. Of the same length. Undefined where nothing is to be changed.
 */
export function correctedReading(text: string): string | undefined {
  const numbers = text.replace(NUMBER, (read) => {
    const word = read.startsWith('+') ? withoutDust(read) : read;
    const digits = word.match(/\d/g)?.length ?? 0;
    if (digits < 2 || digits * 2 < word.replace(/[^\dA-Za-z|!]/g, '').length) return word;
    return word.replace(/[A-Za-z|!]/g, (sign) => DIGITS[sign] ?? sign);
  });
  const joined = numbers
    .replace(DOT, '.')
    .replace(APART, (sign) => `${sign.startsWith(' ') ? '_' : ''}${signOf(sign.trimStart())}`);
  const corrected = joined.replace(TOKEN, (word, at: number) =>
    HOSTED.test(word) && !ADDRESS_OF_WEB.test(word) ? withSign(word, joined.slice(Math.max(0, at - 20), at)) : word,
  );
  return corrected === text ? undefined : corrected;
}

/** Addresses of mail in text that was recognized, by the word before them, whatever was made of their sign. */
export function misreadAddresses(text: string): readonly Match[] {
  return Array.from(text.matchAll(MAIL_WORDS)).flatMap(({ 0: word, index }) => {
    const start = index + word.length;
    const length = addressLength(text.slice(start, start + ADDRESS_LENGTH).replace(/[\r\n,;][^]*$/, ''));
    return length > 0 ? [{ start, end: start + length, category: 'EMAIL' }] : [];
  });
}

/** Replaces dirt: next to a blank by `/`, a separator that detectors know there, elsewhere by a blank. */
function withoutDust(number: string): string {
  return number.replace(DUST, (_, at: number) => (number[at - 1] === ' ' || number[at + 1] === ' ' ? '/' : ' '));
}

/** How much of a text is an address: up to the name of a host, before which no word is of letters alone. */
function addressLength(text: string): number {
  let at = 0;
  for (const part of text.split(' ', ADDRESS_PARTS)) {
    const host = HOST_ENDS.exec(part);
    if (host) return ADDRESS_OF_WEB.test(part) ? 0 : at + host[0].length;
    if (/^\p{L}*$/u.test(part)) return 0;
    at += part.length + 1;
  }
  return 0;
}

/** The sign of an address in as many characters. */
function signOf(misread: string): string {
  return `@${'0'.repeat(misread.length - 1)}`;
}

/** An address of mail of which a sign was misread, or left out where the words before it say that it is one. */
function withSign(word: string, before: string): string {
  const at = word.lastIndexOf('@');
  if (at >= 0) return word.slice(0, at).replace(NO_LETTER, '1') + word.slice(at);
  const found = ROUND_SIGN.exec(word) ?? (word.match(CAPITAL)?.length === 1 ? ROUND_LETTER.exec(word) : undefined);
  if (found) return `${word.slice(0, found.index)}${signOf(found[0])}${word.slice(found.index + found[0].length)}`;
  // Any position before the name of the host is enough.
  const dot = word.indexOf('.');
  return dot < 4 || !MAIL_WORD.test(before) ? word : `${word.slice(0, dot - 2)}@${word.slice(dot - 1)}`;
}
