import { expect, test } from 'vitest';
import { parseRate, toNanoEuro } from './money.ts';

const EUR = { numerator: 1n, denominator: 1n };

test.each([
  ['0', 0n],
  ['1', 1_000_000_000n],
  ['12.5', 12_500_000_000n],
  ['0.000000001', 1n],
  ['999999999999.999999999', 999_999_999_999_999_999_999n],
])('%s euro', (amount, nano) => {
  expect(toNanoEuro(amount, 'EUR', EUR, 'up')).toBe(nano);
  expect(toNanoEuro(amount, 'EUR', EUR, 'down')).toBe(nano);
});

test.each([
  ['1', '0.92', 920_000_000n, 920_000_000n],
  ['0.000000001', '0.92', 1n, 0n],
  ['0.15', '0.8613', 129_195_000n, 129_195_000n],
  ['0.000000003', '0.333333333333333333', 1n, 0n],
  ['3', '1.1', 3_300_000_000n, 3_300_000_000n],
  // Beyond what a double holds exactly.
  ['123456789012.123456789', '0.912345678901234567', 112_635_267_986_232_251_193n, 112_635_267_986_232_251_192n],
])('%s dollars at %s: a price rounds up, a limit down', (amount, rate, up, down) => {
  expect(toNanoEuro(amount, 'USD', parseRate(rate)!, 'up')).toBe(up);
  expect(toNanoEuro(amount, 'USD', parseRate(rate)!, 'down')).toBe(down);
});

test.each(['', '0', '0.000', '-1', '1e3', '.5', '1.', ' 1', '0x1', 'NaN', '1,5'])('%j is not a rate', (text) => {
  expect(parseRate(text)).toBeUndefined();
});
