import type { Disguise } from './disguises.ts';

/** Words for the sign of an address, and for the one within its host. */
export const AT_WORDS = 'at|ät|arroba|arobase|chiocciola|małpa|apenstaartje';
export const DOT_WORDS = 'dot|punkt|point|punto|ponto|kropka|punt';
/** Where a name of ASCII or of any script may end and begin. */
const NAME = '[\\p{L}\\d]';
/** The sign of an address in brackets. */
const BRACKETED_AT = new RegExp(`(?<=${NAME}) ?[[({<] ?(?:${AT_WORDS}|@) ?[\\])}>] ?(?=${NAME})`, 'giu');
const BRACKETED_DOT = new RegExp(`(?<=${NAME}) ?[[({<] ?(?:${DOT_WORDS}|\\.) ?[\\])}>] ?(?=${NAME})`, 'giu');
/** What an address in words ends with: most words of prose are no end of a host. */
const COMMON_ENDS =
  'com|org|net|edu|gov|info|io|eu|dev|app|de|fr|es|it|pl|pt|nl|at|ch|be|lu|uk|us|cz|sk|se|dk|no|fi|ie|ca|au|jp|cn|ru|br|mx';
/** As words, one after the other: `ada at corp dot de`. */
const IN_WORDS = new RegExp(
  `(?<=${NAME})(?: (?:${AT_WORDS}) | ?[[({<] ?(?:${AT_WORDS}|@) ?[\\])}>] ?|@)` +
    `(?:[\\p{L}\\d-]{1,63} (?:${DOT_WORDS}) ){1,4}(?=(?:${COMMON_ENDS})(?!${NAME}))`,
  'giu',
);
const DOT_WORD = new RegExp(` (?:${DOT_WORDS}) `, 'giu');
const DOT_AMONG_BLANKS = new RegExp(` (?:${DOT_WORDS}) `, 'i');
/** The `@` among blanks, before a host: not a decorator or a matrix product. */
const SET_APART =
  /(?<=[\p{L}\d])(?:\s{1,4}@\s{0,4}|@\s{1,4})(?=[\p{L}\d-]{1,63}(?:\.[\p{L}\d-]{1,63}){0,3}\.(?:com|org|net|edu|gov|info|[a-z]{2})(?![\p{L}\d_([@.-]))/gu;
const MAYBE_BRACKETED = /[[({<] ?(?:at|ät|aro?ba?se|arroba|chiocciola|małpa|apenstaartje|@) ?[\])}>]/iu;

/** Signs of an address of mail that are written out, bracketed or set apart, and what they stand for. */
export function spelledAddressesIn(text: string): readonly Disguise[] {
  const found: Disguise[] = [];
  const add = (start: number, written: string, read: string): void => {
    found.push({ start, end: start + written.length, read });
  };
  if (text.includes('@')) for (const { 0: written, index } of text.matchAll(SET_APART)) add(index, written, '@');
  if (MAYBE_BRACKETED.test(text)) {
    for (const { 0: written, index } of text.matchAll(BRACKETED_AT)) add(index, written, '@');
    for (const { 0: written, index } of text.matchAll(BRACKETED_DOT)) add(index, written, '.');
  }
  if (DOT_AMONG_BLANKS.test(text)) {
    for (const { 0: row, index } of text.matchAll(IN_WORDS)) {
      const dots = Array.from(row.matchAll(DOT_WORD));
      const host = row.slice(0, dots[0]?.index).search(/(?<![\p{L}\d-])[\p{L}\d-]+$/u);
      add(index, row.slice(0, host), '@');
      for (const { 0: dot, index: at } of dots) add(index + at, dot, '.');
    }
  }
  return apart(found);
}

/** In order, the first of those that overlap. */
function apart(found: Disguise[]): readonly Disguise[] {
  let end = 0;
  return found
    .sort((a, b) => a.start - b.start)
    .filter((one) => {
      if (one.start < end) return false;
      end = one.end;
      return true;
    });
}
