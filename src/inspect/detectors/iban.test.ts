import { describe, expect, test } from 'vitest';
import { marked } from '../../../test/harness/marked-text.ts';
import { createScanner } from './scanner.ts';
import { ACCOUNT_SHAPES } from './iban.ts';

const detection = createScanner();
const only = new Set(['IBAN']);
const expectFinds = (source: string): void => {
  const { text, spans } = marked(source);
  expect(detection.find(text, only)).toEqual(spans);
};

/** The check digits by the definition of ISO 13616, with whole numbers. */
function withCheckDigits(country: string, account: string): string {
  const digits = Array.from(`${account}${country}00`, (character) => Number.parseInt(character, 36)).join('');
  return `${country}${String(98n - (BigInt(digits) % 97n)).padStart(2, '0')}${account}`;
}

const FILL: Readonly<Record<string, string>> = { n: '7', a: 'Q', c: '4' };
const samples = Array.from(ACCOUNT_SHAPES, ([country, shape]): [string, string] => [
  country,
  withCheckDigits(country, Array.from(shape, (kind) => FILL[kind]).join('')),
]);

describe('every country of the registry', () => {
  test('lengths are those published', () => {
    const lengths = Object.fromEntries([...ACCOUNT_SHAPES].map(([country, shape]) => [country, shape.length + 4]));
    expect(lengths).toMatchObject({
      AT: 20,
      BE: 16,
      BG: 22,
      CH: 21,
      CY: 28,
      CZ: 24,
      DE: 22,
      DK: 18,
      EE: 20,
      ES: 24,
      FI: 18,
      FR: 27,
      GB: 22,
      GR: 27,
      HR: 21,
      HU: 28,
      IE: 22,
      IS: 26,
      IT: 27,
      LI: 21,
      LT: 20,
      LU: 20,
      LV: 21,
      MC: 27,
      MT: 31,
      NL: 18,
      NO: 15,
      PL: 28,
      PT: 25,
      RO: 24,
      SE: 24,
      SI: 19,
      SK: 24,
      SM: 27,
      UA: 29,
      TR: 26,
      SA: 24,
      AE: 23,
      BR: 29,
      LC: 32,
      RU: 33,
    });
    expect(ACCOUNT_SHAPES.size).toBeGreaterThanOrEqual(86);
  });

  test.each(samples)('%s %s', (_, iban) => {
    expectFinds(`‹IBAN:${iban}›`);
    expectFinds(`pay ‹IBAN:${iban.replace(/(.{4})(?=.)/g, '$1 ')}›.`);
    expectFinds(`(‹IBAN:${iban.toLowerCase().replace(/(.{4})(?=.)/g, '$1-')}›)`);
    expectFinds(`${iban}0`);
    expectFinds(`x${iban}`);
    expectFinds(iban.slice(0, -1));
  });

  test.each(samples)('%s: one wrong character is none', (_, iban) => {
    const at = iban.length - 1;
    const other = /\d/.test(iban[at] as string) ? String((Number(iban[at]) + 1) % 10) : 'R';
    expectFinds(iban.slice(0, at) + other);
  });
});

describe('finds', () => {
  test.each([
    'IBAN: ‹IBAN:DE89 3704 0044 0532 0130 00›',
    'IBAN‹IBAN:DE89370400440532013000›',
    'iban‹IBAN:de89370400440532013000›',
    '‹IBAN:DE 89 3704 0044 0532 0130 00›',
    '‹IBAN:DE89.3704.0044.0532.0130.00›',
    '‹IBAN:NL91 ABNA 0417 1643 00› and more words',
    '‹IBAN:BE71 0961 2345 6769› is mine',
    '‹IBAN:GB82WEST12345698765432›,‹IBAN:FR1420041010050500013M02606›',
    '‹IBAN:NO93 8601 1117 947› 5 kr',
    'memo\\n‹IBAN:DE89370400440532013000›\\n',
    '账号‹IBAN:DE89370400440532013000›谢谢',
    '‹IBAN:DE89\u00a03704\u202f0044 0532 0130 00›',
    '‹IBAN:D\u200bE8\u00ad9370400440532013000›',
    '‹IBAN:ＤＥ８９３７０４００４４０５３２０１３０００›',
  ])('%s', expectFinds);
});

describe('finds none in', () => {
  test.each([
    'DE88 3704 0044 0532 0130 00',
    'DE89 3704  0044 0532 0130 00',
    'DE89 3704 0044 0532 0130 0O',
    'ZZ89370400440532013000',
    'no 12345678901',
    'SE10 3AB is a postcode, AT10 minutes to go',
    'in de 89 370400440532013000',
    'sha1 de89370400440532013000abcdef0123456789abcd',
    'DE8',
    'DE89',
  ])('%s', expectFinds);
});
