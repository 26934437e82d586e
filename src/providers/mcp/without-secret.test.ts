import fc from 'fast-check';
import { expect, test } from 'vitest';
import { SecretFilter } from './without-secret.ts';

/** A secret in answers: as it is written, in JSON and in addresses, in every spelling that writers of those choose. */

const SECRET = 'a+b/c="d\\e%f-g.h_1~';
const numbered = (text: string, write: (digits: string) => string): string =>
  text.replaceAll(/[^A-Za-z0-9]/g, (sign) => `\\u${write(sign.charCodeAt(0).toString(16).padStart(4, '0'))}`);
const turned = (digits: string): string => digits.replace(/[a-f]/, (digit) => digit.toUpperCase());
const encoded = (text: string): string =>
  text.replaceAll(/[^A-Za-z0-9]/g, (sign) => `%${sign.charCodeAt(0).toString(16).padStart(2, '0')}`);
const json = (text: string): string => JSON.stringify(text).slice(1, -1);

const SPELLINGS: readonly (readonly [string, (secret: string) => string])[] = [
  ['as it is', (secret) => secret],
  ['in JSON', json],
  ['in JSON with slashes behind backslashes', (secret) => json(secret).replaceAll('/', '\\/')],
  ['by numbers in small letters', (secret) => numbered(secret, (digits) => digits)],
  ['by numbers in capital letters', (secret) => numbered(secret, (digits) => digits.toUpperCase())],
  ['by numbers in letters of both kinds', (secret) => numbered(secret, turned)],
  [
    'in JSON with some signs by numbers',
    (secret) => json(secret).replaceAll('=', '\\u003D').replaceAll('+', '\\u002b'),
  ],
  ['in an address', encodeURIComponent],
  ['in an address with all signs encoded', encoded],
  ['in an address in capital letters', (secret) => encoded(secret).replaceAll(/%../g, (sign) => sign.toUpperCase())],
];

test.each(SPELLINGS)('a secret is found %s', (_, spell) => {
  for (const secret of [SECRET, SECRET.repeat(9), SECRET.replace('"', '').repeat(300)]) {
    const filter = new SecretFilter(secret);
    const text = `ä "${spell(secret)}" and ${spell(secret)} "x"`;
    expect(filter.text(text)).toBe('ä "[credential]" and [credential] "x"');
    expect(filter.bytes(Buffer.from(text)).toString()).toBe('ä "[credential]" and [credential] "x"');
  }
});

test('any secret is found in each spelling of JSON', () => {
  const unit = fc.constantFrom('a', 'b', '1', '/', '\\', '"', '%', '+', '=', '-', '.', ' ', 'é');
  fc.assert(
    fc.property(fc.string({ unit, minLength: 6, maxLength: 80 }), (secret) => {
      const filter = new SecretFilter(secret);
      for (const form of [secret, json(secret), numbered(secret, turned), encodeURIComponent(secret)])
        expect(filter.text(`<${form}>`)).toBe('<[credential]>');
      expect(filter.bytes(Buffer.from(`<${secret}>`)).toString()).toBe('<[credential]>');
    }),
  );
});

test('short secrets and other texts stay as they are, byte by byte', () => {
  const bytes = Buffer.from([0, 255, 92, 117, 0, 37]);
  expect(new SecretFilter(SECRET).bytes(bytes)).toBe(bytes);
  expect(new SecretFilter('abc').text('abc')).toBe('abc');
  expect(new SecretFilter(undefined).text('undefined')).toBe('undefined');
  const long = 'x'.repeat(100);
  expect(new SecretFilter(`${long}y`).text(`${long}z ${long}y`)).toBe(`${long}z [credential]`);
});

test('what begins like the secret everywhere takes no time by the square', () => {
  const filter = new SecretFilter(`${'a'.repeat(60_000)}b`);
  const text = filter.text('a'.repeat(4_000_000));
  expect(text.length).toBeLessThan(4_000_000);
}, 10_000);
