import fc from 'fast-check';
import { expect, test } from 'vitest';
import { nearest } from './nearest.ts';

const NAMES = ['email', 'iban', 'credit_card', 'location', 'EU', 'US'];

test.each([
  ['emial', 'email'],
  ['e_mail', 'email'],
  ['emails', 'email'],
  ['credit-card', 'credit_card'],
  ['Location', 'location'],
  ['localion', 'location'],
  ['EUU', 'EU'],
  ['starsign', undefined],
  ['', undefined],
  ['x'.repeat(65), undefined],
])('%j is probably %j', (written, meant) => {
  expect(nearest(written, NAMES)).toBe(meant);
});

test('two neighbours in the wrong order are one mistake, wherever they are', () => {
  const word = 'allowedjurisdictions';
  fc.assert(
    fc.property(fc.integer({ min: 0, max: word.length - 2 }), (at) => {
      const swapped = word.slice(0, at) + word[at + 1] + word[at] + word.slice(at + 2);
      expect(nearest(swapped, ['allowedmodels', word])).toBe(word);
    }),
  );
});
