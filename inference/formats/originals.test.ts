import { expect, test } from 'vitest';
import { findOriginals } from './originals.ts';

const found = (text: string, ...originals: string[]): readonly string[] =>
  findOriginals(text, originals).map(({ start, end }) => text.slice(start, end));

test('blanks, signs, case and accents do not hide an original', () => {
  expect(found('IBAN DE89 3704-0044\n0532 0130 00 ok', 'DE89370400440532013000')).toEqual([
    'DE89 3704-0044\n0532 0130 00',
  ]);
  expect(found('an  MULLER, Jo', 'Müller')).toEqual(['MULLER']);
  expect(found('M u\u0308ller', 'müller')).toEqual(['M u\u0308ller']);
});

test('capitals and letters without accents do not hide one, in whatever language', () => {
  expect(found('AN K\u00c4THE GR\u00dcSSMANN', 'K\u00e4the Gr\u00fc\u00dfmann')).toEqual(['K\u00c4THE GR\u00dcSSMANN']);
  expect(found('Lukasz Wislak', '\u0141ukasz Wi\u015blak')).toEqual(['Lukasz Wislak']);
  expect(found('S\u00f8ren \u00c6r\u00f8', 'soren aero')).toEqual(['S\u00f8ren \u00c6r\u00f8']);
});

test('a short one is whole words, a long one may be within a word', () => {
  expect(found('Canada, Ada', 'Ada')).toEqual(['Ada']);
  expect(found('xada.lovelace@example.comx', 'ada.lovelace@example.com')).toEqual(['ada.lovelace@example.com']);
  expect(found('Li and Lima', 'Li')).toEqual(['Li']);
  expect(found('a b', 'a')).toEqual([]);
});

test('every occurrence is found', () => {
  expect(found('Ada Ada, ada', 'Ada')).toHaveLength(3);
});

test('originals that begin alike are told apart, and many are as quick as one', () => {
  const many = Array.from({ length: 20_000 }, (_, at) => `ada.lovelace.${at}@example.com`);
  const text = many.map((original) => `to ${original};`).join('\n');
  expect(found('ada.lovelace.7@example.com', ...many)).toEqual(['ada.lovelace.7@example.com']);
  expect(new Set(findOriginals(text, many).map(({ original }) => original)).size).toBe(many.length);
});

test('letters that are two in lower case, marks and halves of characters do not hide an original', () => {
  expect(
    found('STRASSE \ufb01nk \u03a3\u0399\u03a3\u03a5\u03a6\u039f\u03a3', '\u03c3\u03b9\u03c3\u03c5\u03c6\u03bf\u03c3'),
  ).toHaveLength(1);
  expect(found('Er\u{1d400}ika Mustermann', 'Erika Mustermann')).toHaveLength(1);
  expect(found('the \ufb01nkenstein', 'Finkenstein')).toEqual(['\ufb01nkenstein']);
});
