/** An amount of money: whole nano-euro. One typed-decision token costs 10. */
export type NanoEuro = bigint;

const NANO = 1_000_000_000n;

/** Reads a decimal amount of euro, at most nine fraction digits (`"12.5"` is 12 500 000 000). Throws on anything else. */
export function parseEuro(amount: string): NanoEuro {
  const match = /^(\d{1,12})(?:\.(\d{1,9}))?$/.exec(amount);
  if (!match) throw new RangeError(`not a decimal amount with at most nine fraction digits: ${amount}`);
  return BigInt(match[1]!) * NANO + BigInt((match[2] ?? '').padEnd(9, '0'));
}

/** Writes an amount as decimal euro without trailing zeros: `12.5`, `-0.00000001`. */
export function formatEuro(amount: NanoEuro): string {
  const digits = (amount < 0n ? -amount : amount).toString().padStart(10, '0');
  const fraction = digits.slice(-9).replace(/0+$/, '');
  return `${amount < 0n ? '-' : ''}${digits.slice(0, -9)}${fraction && `.${fraction}`}`;
}

/** Integer division rounding up, for non-negative numbers: money is never rounded in the caller's favour. */
export function ceilDiv(dividend: bigint, divisor: bigint): bigint {
  return (dividend + divisor - 1n) / divisor;
}
