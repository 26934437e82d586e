/** An amount of money: whole nano-euro. One typed-decision token costs 10. */
export type NanoEuro = bigint;

/** Writes an amount as decimal euro without trailing zeros: `12.5`, `-0.00000001`. */
export function formatEuro(amount: NanoEuro): string {
  const digits = (amount < 0n ? -amount : amount).toString().padStart(10, '0');
  const fraction = digits.slice(-9).replace(/(?<!0)0+$/, '');
  return `${amount < 0n ? '-' : ''}${digits.slice(0, -9)}${fraction && `.${fraction}`}`;
}
