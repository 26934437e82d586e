import { expect, test } from 'vitest';
import { misreadNumbers } from './ocr-numbers.ts';

function foundIn(text: string): readonly string[] {
  return misreadNumbers(text).map(({ start, end, category }) => `${category} ${text.slice(start, end)}`);
}

test.each([
  ['a digit is wrong', 'an DE89 3704 0044 0532 0130 01 heute', 'IBAN DE89 3704 0044 0532 0130 01'],
  ['a digit is a letter', 'an DES9 3704 0044 0532 0130 00 heute', 'IBAN DES9 3704 0044 0532 0130 00'],
  ['a blank is a dot or a colon', 'DE93 6771:8294 2835 5791.80, heute', 'IBAN DE93 6771:8294 2835 5791.80'],
  ['dust is a dot', 'DE93. 6771 8294 . 2835 5791 80, heute', 'IBAN DE93. 6771 8294 . 2835 5791 80'],
  ['a digit is missing', 'PL93 4426 6902 7906 914 1284 9306, x', 'IBAN PL93 4426 6902 7906 914 1284 9306'],
  ['the country is wrong', 'IBAN 0E89 3704 0044 0532 0130 00, x', 'IBAN 0E89 3704 0044 0532 0130 00'],
  ['letters are of it', 'IBAN NL41 ABNA 8993 5847 13, voor', 'IBAN NL41 ABNA 8993 5847 13'],
])('an account of which %s', (_, text, expected) => {
  expect(foundIn(text)).toContain(expected);
});

test.each(['QUÍROZIIGARAY', 'GONÇÁUDEIRINHÃES', 'DE'])(
  'an account begins where its country stands, not in %s',
  (name) => {
    const found = foundIn(`A ${name}, IBAN ES24 0538 1351 3721 3777 4445, X`);
    expect(found[0]).toBe('IBAN ES24 0538 1351 3721 3777 4445');
  },
);

test.each([
  ['Visa 4589 325 3341 2720, x', 'CREDIT_CARD 4589 325 3341 2720'],
  ['card 4589-3259-3341-2721.', 'CREDIT_CARD 4589-3259-3341-2721'],
  ['Visa 4065. 1849 4157 . 3962, x', 'CREDIT_CARD 4065. 1849 4157 . 3962'],
  ['IP 81,208.62,218, x', 'IP_ADDRESS 81,208.62,218'],
  ['is 81.198. 120.203, x', 'IP_ADDRESS 81.198. 120.203'],
])('%j has a number whose check digits or dots are wrong', (text, expected) => {
  expect(foundIn(text)).toEqual([expected]);
});

test.each([
  'in 2019 2020 2021 2022 and 2023',
  'von 41.200 und 97.650 zu 47.550 Euro',
  '1.250.000,00 and 12.250.000,50',
  'section 3.2.1.4 of 12.11.2024',
  'THE ANNUAL REPORT OF 2024 AND 2025',
  'order 1234567890123456',
  'tel. 030 9018 2345',
  'ROZIIGARAY, TEL 4820 0538 1351 AND BEISPIEL',
])('%j has none', (text) => {
  expect(foundIn(text)).toEqual([]);
});

test('hostile text takes a time in proportion', () => {
  for (const piece of ['O', 'DE', 'DE89 ', 'IBAN ', '1', '1234 ', '1.', 'DE1O,:'])
    expect(misreadNumbers(piece.repeat(40_000)).length).toBeLessThan(40_000);
});
