import { commonDenominator, larger, times, type Fraction } from './fraction.ts';
import { INPUT_BUCKETS, OUTPUT_BUCKETS, UNITS, type Bucket, type Price, type PriceTier, type Unit } from './price.ts';

/** A price as its source tells it, with gaps. All amounts are exact nano-euro. */
export interface PriceSheet {
  readonly source: string;
  /** In ascending order of `above`, the first for any size; empty when tokens are not billed. */
  readonly tiers: readonly { readonly above: number; readonly perMillion: PartialRates }[];
  /** Per one unit. */
  readonly units?: { readonly [U in Unit]?: Fraction };
  readonly minimumSeconds?: number;
}

/** Rates that a source names; only that of uncached input is never missing. */
export type PartialRates = { readonly input: Fraction } & { readonly [B in Bucket]?: Fraction };

const BUCKETS: readonly Bucket[] = [...INPUT_BUCKETS, ...OUTPUT_BUCKETS];
const TWO: Fraction = { numerator: 2n, denominator: 1n };
const MILLION = 1_000_000n;

/**
 * Makes a price of a sheet: fills its gaps and brings all amounts over one denominator.
 * `anthropicFamily`: a missing rate of writes for an hour is twice the input rate, as that vendor bills them anywhere.
 */
export function createPrice(sheet: PriceSheet, anthropicFamily: boolean): Price {
  const full = sheet.tiers.map(({ above, perMillion }) => ({ above, rates: fillGaps(perMillion, anthropicFamily) }));
  const units = sheet.units ?? {};
  const denominator = commonDenominator([
    ...full.flatMap(({ rates }) => Object.values(rates)),
    ...Object.values(units),
  ]);
  const over = (amount: Fraction): bigint => amount.numerator * (denominator / amount.denominator);
  const tiers = full.map(({ above, rates }): PriceTier => {
    const entries = BUCKETS.map((bucket) => [bucket, over(rates[bucket])] as const);
    return { above, rates: Object.fromEntries(entries) as Record<Bucket, bigint> };
  });
  const perMillionUnits: { [U in Unit]?: bigint } = {};
  for (const unit of UNITS) {
    const amount = units[unit];
    if (amount) perMillionUnits[unit] = over(amount) * MILLION;
  }
  const { source, minimumSeconds } = sheet;
  return {
    source,
    tiers,
    units: perMillionUnits,
    denominator,
    ...(minimumSeconds !== undefined && { minimumSeconds }),
  };
}

/**
 * A token whose rate the source does not name is never free: cached input and writes cost as much as input, output at
 * least as much as input, reasoning as much as output, and an hour of cache no less than five minutes.
 */
function fillGaps(named: PartialRates, anthropicFamily: boolean): Record<Bucket, Fraction> {
  const { input, cacheRead = input, cacheWrite5m = input, output = input, reasoning = output } = named;
  const inferred = anthropicFamily ? larger(cacheWrite5m, times(input, TWO)) : cacheWrite5m;
  return { input, cacheRead, cacheWrite5m, cacheWrite1h: named.cacheWrite1h ?? inferred, output, reasoning };
}
