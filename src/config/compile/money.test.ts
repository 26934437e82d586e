import { expect, test } from 'vitest';
import { toNanoEuro } from './money.ts';

test.each([
  ['0', 0n],
  ['1', 1_000_000_000n],
  ['12.5', 12_500_000_000n],
  ['0.000000001', 1n],
  ['999999999999.999999999', 999_999_999_999_999_999_999n],
])('%s euro', (amount, nano) => {
  expect(toNanoEuro(amount, 'EUR', '1', 'up')).toBe(nano);
  expect(toNanoEuro(amount, 'EUR', '1', 'down')).toBe(nano);
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
  expect(toNanoEuro(amount, 'USD', rate, 'up')).toBe(up);
  expect(toNanoEuro(amount, 'USD', rate, 'down')).toBe(down);
});
