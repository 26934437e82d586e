import type { NanoEuro } from '#meter/money.ts';

/** A currency in which amounts may be written. */
export type Currency = 'EUR' | 'USD';

/** Euro per dollar, as a fraction. */
export interface ExchangeRate {
  readonly numerator: bigint;
  readonly denominator: bigint;
}

/** Reads a decimal rate such as `0.92`; undefined when it is not one, or zero. */
export function parseRate(text: string): ExchangeRate | undefined {
  const match = /^(\d{1,9})(?:\.(\d{1,18}))?$/.exec(text);
  if (!match) return undefined;
  const fraction = match[2] ?? '';
  const numerator = BigInt(match[1]! + fraction);
  return numerator === 0n ? undefined : { numerator, denominator: 10n ** BigInt(fraction.length) };
}

/**
 * An amount as the schemas let it through (at most nine fraction digits) in nano-euro. What does not divide evenly
 * is rounded `up` for a price and `down` for a limit: never in the caller's favour.
 */
export function toNanoEuro(amount: string, currency: Currency, usdToEur: ExchangeRate, round: 'up' | 'down'): NanoEuro {
  const [whole = '0', fraction = ''] = amount.split('.');
  const nano = BigInt(whole + fraction.padEnd(9, '0'));
  if (currency === 'EUR') return nano;
  const dividend = nano * usdToEur.numerator;
  return (round === 'up' ? dividend + usdToEur.denominator - 1n : dividend) / usdToEur.denominator;
}
