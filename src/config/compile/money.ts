import type { NanoEuro } from '#/values/money.ts';

/** A currency in which amounts may be written. */
export type Currency = 'EUR' | 'USD';

/** A rate as it was read, as a fraction. */
function toFraction(rate: string): { readonly numerator: bigint; readonly denominator: bigint } {
  const [whole = '', fraction = ''] = rate.split('.');
  return { numerator: BigInt(whole + fraction), denominator: 10n ** BigInt(fraction.length) };
}

/**
 * Converts an amount that the schemas accept (at most nine fraction digits) to nano-euro, at `usdToEur` euro to a
 * dollar. A remainder is
 * rounded `up` for a price and `down` for a limit: never in the caller's favour.
 */
export function toNanoEuro(amount: string, currency: Currency, usdToEur: string, round: 'up' | 'down'): NanoEuro {
  const [whole = '0', fraction = ''] = amount.split('.');
  const nano = BigInt(whole + fraction.padEnd(9, '0'));
  if (currency === 'EUR') return nano;
  const { numerator, denominator } = toFraction(usdToEur);
  const dividend = nano * numerator;
  return (round === 'up' ? dividend + denominator - 1n : dividend) / denominator;
}
