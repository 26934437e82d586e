import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { marked } from '../../../test/harness/marked-text.ts';
import { createScanner } from './scanner.ts';

const detection = createScanner();
const only = new Set(['NATIONAL_ID', 'TAX_ID']);
const expectFinds = (source: string): void => {
  const { text, spans } = marked(source);
  expect(detection.find(text, only)).toEqual(spans);
};

/** Examples that authorities and registers have published, or made by their rule, with a word that is written before them. */
const EXAMPLES: readonly (readonly [word: string, number: string, category: string])[] = [
  ['Steuer-ID', '86095742719', 'TAX_ID'],
  ['Steuer-ID', '47036892816', 'TAX_ID'],
  ['Steuer-ID', '86 095 742 719', 'TAX_ID'],
  ['Rentenversicherungsnummer', '15070649C103', 'NATIONAL_ID'],
  ['Krankenversichertennummer', 'A123456780', 'NATIONAL_ID'],
  ['NIR', '255081416802538', 'NATIONAL_ID'],
  ['sécurité sociale', '253072B07300470', 'NATIONAL_ID'],
  ['SIREN', '732829320', 'TAX_ID'],
  ['SIRET', '73282932000074', 'TAX_ID'],
  ['DNI', '54362315K', 'NATIONAL_ID'],
  ['DNI', '12.345.678-Z', 'NATIONAL_ID'],
  ['NIE', 'X2482300W', 'NATIONAL_ID'],
  ['CIF', 'A13585625', 'TAX_ID'],
  ['codice fiscale', 'RSSMRA85T10A562S', 'NATIONAL_ID'],
  ['partita IVA', '00743110157', 'TAX_ID'],
  ['BSN', '111222333', 'NATIONAL_ID'],
  ['rijksregisternummer', '85.07.30-033.28', 'NATIONAL_ID'],
  ['PESEL', '44051401359', 'NATIONAL_ID'],
  ['NIP', '8567346215', 'TAX_ID'],
  ['NIP', '856-734-62-15', 'TAX_ID'],
  ['REGON', '192598184', 'TAX_ID'],
  ['NIF', '501964843', 'TAX_ID'],
  ['personnummer', '880320-0016', 'NATIONAL_ID'],
  ['henkilötunnus', '131052-308T', 'NATIONAL_ID'],
  ['henkilötunnus', '131052A308T', 'NATIONAL_ID'],
  ['fødselsnummer', '15108695088', 'NATIONAL_ID'],
  ['SVNR', '1237 010180', 'NATIONAL_ID'],
  ['rodné číslo', '710319/2745', 'NATIONAL_ID'],
  ['CNP', '1630615123457', 'NATIONAL_ID'],
  ['EGN', '7523169263', 'NATIONAL_ID'],
  ['OIB', '33392005961', 'NATIONAL_ID'],
  ['EMŠO', '0101006500006', 'NATIONAL_ID'],
  ['isikukood', '37605030299', 'NATIONAL_ID'],
  ['asmens kodas', '33309240064', 'NATIONAL_ID'],
  ['personas kods', '161175-19997', 'NATIONAL_ID'],
  ['AMKA', '01013099997', 'NATIONAL_ID'],
  ['PPSN', '6433435F', 'NATIONAL_ID'],
  ['AHV-Nr.', '756.9217.0769.85', 'NATIONAL_ID'],
  ['kennitala', '120174-3399', 'NATIONAL_ID'],
  ['NHS', '943 476 5870', 'NATIONAL_ID'],
  ['UTR', '1955839661', 'TAX_ID'],
  ['AFM', '094259216', 'TAX_ID'],
  ['adószám', '12892312-1-42', 'TAX_ID'],
  ['NUSS', '281234567840', 'NATIONAL_ID'],
  ['número de la Seguridad Social', '28/12345678/40', 'NATIONAL_ID'],
  ['NAF', '480123456710', 'NATIONAL_ID'],
  ['NISS', '12345678902', 'NATIONAL_ID'],
  ['segurança social', '20987654329', 'NATIONAL_ID'],
  ['személyi azonosító', '18503141235', 'NATIONAL_ID'],
  ['személyi szám', '3-011224-0174', 'NATIONAL_ID'],
  ['Steuernummer', '59-119/9013', 'TAX_ID'],
  ['Abgabenkontonummer', '591199013', 'TAX_ID'],
  ['VAT ID', 'ATU13585627', 'TAX_ID'],
];

describe('published numbers', () => {
  test.each(EXAMPLES)('%s %s', (word, number, category) => {
    expectFinds(`Ada Byron, ${word} ‹${category}:${number}›, since 2021.`);
    expectFinds(`${word}: ‹${category}:${number}›`);
  });
});

/** VAT numbers of the Union, its neighbours and Switzerland. */
const VAT_NUMBERS = [
  'ATU13585627',
  'BE0428759497',
  'BG175074752',
  'CY10259033P',
  'CZ25123891',
  'DE136695976',
  'DK13585628',
  'EE100931558',
  'EL094259216',
  'ES54362315K',
  'ESA13585625',
  'FI20774740',
  'FR83404833048',
  'FR40303265045',
  'GB980780684',
  'HR33392005961',
  'HU12892312',
  'IE6433435F',
  'IE8D79739I',
  'IT00743110157',
  'LT119511515',
  'LT100001919017',
  'LU15027442',
  'LV40003521600',
  'MT11679112',
  'NL004495445B01',
  'PL8567346215',
  'PT501964843',
  'RO18547290',
  'SE556188840401',
  'SI50223054',
  'SK2022749619',
  'CHE-100.155.212',
];

describe('VAT numbers', () => {
  test.each(VAT_NUMBERS)('%s needs no word', (number) => {
    expectFinds(`They buy from ‹TAX_ID:${number}› now.`);
  });

  test('a slip in one is told by the word before it, and is nothing alone', () => {
    expectFinds('USt-IdNr. ‹TAX_ID:DE136695977›');
    expectFinds('part DE136695977 is sold out');
  });

  test('is no part of an IBAN that is wrong', () => {
    expectFinds('IBAN PL21 4892 8837 1920 2290 1368 7603');
  });
});

describe('without a word', () => {
  test.each([
    'layouts that leave no doubt: ‹NATIONAL_ID:RSSMRA85T10A562S›, ‹NATIONAL_ID:54362315K›, ‹NATIONAL_ID:AB 12 34 56 C›',
    'groups of their own: ‹NATIONAL_ID:123-45-6789›, ‹NATIONAL_ID:85.07.30-033.28›, ‹TAX_ID:856-734-62-15›',
    'bare digits are any number: 111222333, 44051401359, 8567346215, 86095742719, 732829320',
    'the south and the east too: 281234567840, 12345678902, 18503141235, 591199013',
    'an order is one even so: order 111222333, Bestellung 86095742719',
    'none starts so: 000-12-3456, 666-12-3456, 123-00-4567, 123-45-0000',
    'no insured is called BG123456A or QQ123456C',
  ])('%s', expectFinds);
});

describe('words', () => {
  test.each([
    'after it too: ‹NATIONAL_ID:44051401359› is my PESEL',
    'the nearest decides: BSN asked for, order 111222333',
    'a sentence ends their reach: 111222333. The BSN comes later',
    "INSERT INTO users (name, dob, tax_id) VALUES ('Ada, B.', '1980-11-24', '‹TAX_ID:86095742719›')",
    "INSERT INTO orders (tax_id, amount) VALUES ('‹TAX_ID:86095742719›', 111222333)",
    '{"pesel":"‹NATIONAL_ID:44051401359›","count":44051401359}',
  ])('%s', expectFinds);
});

describe('a wrong check digit behind its word', () => {
  test.each([
    'NUSS 281234567841, 28/12345678/41',
    // What the digits give with the leading 0 of the number counted.
    'NAF 480123456756',
    'NISS 12345678903',
    // The last has no such month.
    'személyi szám 18503141236, 1-850314-1234, 30112240173, 18513141235',
    'Steuernummer 59-119/9014',
  ])('%s', expectFinds);
});

describe('not inside something else', () => {
  test.each([
    'https://example.com/54362315K',
    '3f2504e0-54362315K-11d3',
    'x54362315K y_54362315K',
    '54362315K@example.com',
    'a-54362315K.5',
    'AMOUNT 111222333.50 EUR BSN',
  ])('%s', expectFinds);
});

describe('one character changed', () => {
  // Where a remainder of ten is written as another digit, or the century is free, some slips cannot be seen.
  const numbers = EXAMPLES.filter(([word]) => !['VAT ID', 'henkilötunnus'].includes(word));

  test('the last one: it is none any more', () => {
    fc.assert(
      fc.property(fc.constantFrom(...numbers), fc.integer({ min: 1, max: 9 }), ([word, number, category], by) => {
        const changed = number.slice(0, -1) + shifted(number.at(-1) as string, by);
        const found = detection.find(`${word} ${changed}`, only).map(({ start, end }) => [start, end]);
        const whole = [word.length + 1, word.length + 1 + changed.length];
        if (!ENDS_UNCHECKED.has(number)) expect([category, found]).not.toContainEqual([whole]);
      }),
      { numRuns: 2000 },
    );
  });

  test('any other: hardly ever', () => {
    let found = 0;
    let tried = 0;
    for (const [word, number] of numbers) {
      for (let at = 0; at < number.length; at += 1) {
        if (!/\d/.test(number[at] as string)) continue;
        for (let by = 1; by < 10; by += 1) {
          const changed = number.slice(0, at) + shifted(number[at] as string, by) + number.slice(at + 1);
          tried += 1;
          if (detection.find(`${word} ${changed}`, only).some(({ end, start }) => end - start === changed.length))
            found += 1;
        }
      }
    }
    expect(tried).toBeGreaterThan(3_000);
    expect(found / tried).toBeLessThan(0.04);
  });

  /** Numbers whose check digit is not the last: others of the country may end so. */
  const ENDS_UNCHECKED = new Set(['12892312-1-42', '1237 010180', '120174-3399', '1955839661']);

  function shifted(character: string, by: number): string {
    if (/\d/.test(character)) return String((Number(character) + by) % 10);
    return String.fromCharCode(((character.charCodeAt(0) - 65 + by) % 26) + 65);
  }
});
