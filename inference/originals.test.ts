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

test('a short one is whole words, a long one may be within a word', () => {
  expect(found('Canada, Ada', 'Ada')).toEqual(['Ada']);
  expect(found('xada.lovelace@example.comx', 'ada.lovelace@example.com')).toEqual(['ada.lovelace@example.com']);
  expect(found('Li and Lima', 'Li')).toEqual(['Li']);
  expect(found('a b', 'a')).toEqual([]);
});

test('every occurrence is found', () => {
  expect(found('Ada Ada, ada', 'Ada')).toHaveLength(3);
});
