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
