import { expect, test } from 'vitest';
import { hasAccountDigits, plainNumber } from './plain-number.ts';

test.each([
  ['4111111111111111', '4111111111111111'],
  ['4.111111111111111e15', '4111111111111111'],
  ['4.111111111111111E+15', '4111111111111111'],
  ['-4111111111111111', '4111111111111111'],
  ['4111111111111111.0', '4111111111111111'],
  ['411111111111111100e-2', '4111111111111111'],
  ['-0.4111111111111111e16', '4111111111111111'],
  ['41111111111.5', '41111111111.5'],
  ['1e15', '1000000000000000'],
])('%s reads as %s', (source, digits) => {
  expect(plainNumber(source)).toBe(digits);
  expect(hasAccountDigits(source)).toBe(true);
});

test.each(['1', '0.5', '1e3', '1e-300', '1e999', '-0.0', '1.5e1'])('%s is no account', (source) => {
  expect(hasAccountDigits(source)).toBe(false);
});
