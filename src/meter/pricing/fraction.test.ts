import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { commonDenominator, fraction, larger, reduce, times } from './fraction.ts';

describe('fraction', () => {
  test.each([
    ['0', 0n, 1n],
    ['0.0375', 3n, 80n],
    ['2.50', 5n, 2n],
    ['1e-7', 1n, 10_000_000n],
    ['1.5e+21', 1_500_000_000_000_000_000_000n, 1n],
    ['0.08333333333333334', 4_166_666_666_666_667n, 50_000_000_000_000_000n],
  ])('reads %s exactly', (text, numerator, denominator) => {
    expect(fraction(text)).toEqual({ numerator, denominator });
  });

  test('reads a number as the decimal it was written as, not as the double it became', () => {
    expect(fraction(0.1)).toEqual({ numerator: 1n, denominator: 10n });
    expect(fraction(0.0000028)).toEqual({ numerator: 7n, denominator: 2_500_000n });
    expect(fraction(1e-7)).toEqual(fraction('0.0000001'));
  });

  test.each(['', '-1', '+1', '1.', '.5', 'NaN', 'Infinity', '1e999', '0x10', ' 1', '1,5', '1e5'])(
    'refuses %j',
    (text) => {
      expect(() => fraction(text)).toThrow(RangeError);
    },
  );

  test('every number that a price can be survives: its fraction divides back to it', () => {
    fc.assert(
      fc.property(fc.double({ min: 1e-12, max: 1e9, noNaN: true }), (value) => {
        const { numerator, denominator } = fraction(value);
        expect(Number(`${(numerator * 10n ** 40n) / denominator}e-40`)).toBeCloseTo(value, 12);
        expect(fraction(String(value))).toEqual({ numerator, denominator });
      }),
    );
  });

  test('products and comparisons are exact and in lowest terms', () => {
    const amount = fc.tuple(fc.bigInt(0n, 10n ** 30n), fc.bigInt(1n, 10n ** 30n));
    fc.assert(
      fc.property(amount, amount, ([a, b], [c, d]) => {
        const left = reduce(a, b);
        const right = reduce(c, d);
        expect(left.numerator * b).toBe(a * left.denominator);
        const product = times(left, right);
        expect(product.numerator * b * d).toBe(a * c * product.denominator);
        expect(reduce(product.numerator, product.denominator)).toEqual(product);
        expect(larger(left, right)).toBe(a * d >= c * b ? left : right);
        const common = commonDenominator([left, right]);
        expect([common % left.denominator, common % right.denominator]).toEqual([0n, 0n]);
      }),
    );
  });
});
