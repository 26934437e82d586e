/** A non-negative rational number in lowest terms: prices are computed without floating point. */
export interface Fraction {
  readonly numerator: bigint;
  readonly denominator: bigint;
}

/**
 * Reads a non-negative decimal exactly, with or without an exponent (`"0.0375"`, `"1e-7"`). A number is read as its
 * shortest decimal text, which is what the price list it came from says. Throws a RangeError on anything else.
 */
export function fraction(decimal: string | number): Fraction {
  const match = /^(\d{1,30})(?:\.(\d{1,30}))?(?:e([+-]\d{1,2}))?$/.exec(String(decimal));
  if (!match) throw new RangeError(`not a non-negative decimal: ${decimal}`);
  const [, whole = '', digits = '', exponent = '0'] = match;
  const shift = Number(exponent) - digits.length;
  const value = BigInt(whole + digits);
  return shift >= 0 ? reduce(value * 10n ** BigInt(shift), 1n) : reduce(value, 10n ** BigInt(-shift));
}

/** The fraction of two integers, in lowest terms. The denominator is positive. */
export function reduce(numerator: bigint, denominator: bigint): Fraction {
  const divisor = greatestCommonDivisor(numerator, denominator);
  return { numerator: numerator / divisor, denominator: denominator / divisor };
}

export function times(a: Fraction, b: Fraction): Fraction {
  return reduce(a.numerator * b.numerator, a.denominator * b.denominator);
}

/** The larger of two fractions; the first when they are equal. */
export function larger(a: Fraction, b: Fraction): Fraction {
  return b.numerator * a.denominator > a.numerator * b.denominator ? b : a;
}

/** The smallest denominator that all fractions can be written over. */
export function commonDenominator(fractions: Iterable<Fraction>): bigint {
  let common = 1n;
  for (const { denominator } of fractions) common *= denominator / greatestCommonDivisor(denominator, common);
  return common;
}

function greatestCommonDivisor(a: bigint, b: bigint): bigint {
  while (b !== 0n) [a, b] = [b, a % b];
  return a;
}
