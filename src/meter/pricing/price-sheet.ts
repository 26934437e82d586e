import { commonDenominator, larger, times, type Fraction } from './fraction.ts';
import { BUCKETS, UNITS, type Bucket, type Price, type PriceTier } from './price.ts';
import type { Unit } from '#/call/units.ts';

/** A price as its source tells it, with gaps. All amounts are exact nano-euro. */
export interface PriceSheet {
  readonly source: string;
  /** In ascending order of `above`, the first for any size; empty when tokens are not billed. */
  readonly tiers: readonly SheetTier[];
  /** The same by service tier. What one of them leaves out costs as much as in the ordinary one, or more. */
  readonly services?: ReadonlyMap<string, readonly SheetTier[]>;
  readonly anyService?: true;
  /** Per one unit. */
  readonly units?: { readonly [U in Unit]?: Fraction };
  readonly minimumSeconds?: number;
}

/** Rates of calls with more input tokens than `above`. */
export interface SheetTier {
  readonly above: number;
  readonly perMillion: PartialRates;
}

/** Rates that a source names; only that of uncached input is never missing. */
export type PartialRates = { readonly input: Fraction } & { readonly [B in Bucket]?: Fraction };

const TWO: Fraction = { numerator: 2n, denominator: 1n };
const MILLION = 1_000_000n;

/**
 * Makes a price of a sheet: fills its gaps and brings all amounts over one denominator.
 * `anthropicFamily`: a missing rate of writes for an hour is twice the input rate, as that vendor bills them anywhere.
 */
export function createPrice(sheet: PriceSheet, anthropicFamily: boolean): Price {
  const fill = (tiers: readonly SheetTier[]): readonly FullTier[] =>
    tiers.map(({ above, perMillion }) => ({ above, rates: fillGaps(perMillion, anthropicFamily) }));
  const full = fill(sheet.tiers);
  const services = [...(sheet.services ?? [])].map(
    ([name, tiers]) => [name, fill(tiers).map((tier, index) => noCheaper(tier, tiers[index]!, sheet.tiers))] as const,
  );
  const units = sheet.units ?? {};
  const denominator = commonDenominator([
    ...[full, ...services.map(([, tiers]) => tiers)].flat().flatMap(({ rates }) => Object.values(rates)),
    ...Object.values(units),
  ]);
  const over = (amount: Fraction): bigint => amount.numerator * (denominator / amount.denominator);
  const exact = (tiers: readonly FullTier[]): readonly PriceTier[] =>
    tiers.map(({ above, rates }) => {
      const entries = BUCKETS.map((bucket) => [bucket, over(rates[bucket])] as const);
      return { above, rates: Object.fromEntries(entries) as Record<Bucket, bigint> };
    });
  const perMillionUnits: { [U in Unit]?: bigint } = {};
  for (const unit of UNITS) {
    const amount = units[unit];
    if (amount) perMillionUnits[unit] = over(amount) * MILLION;
  }
  const { source, anyService, minimumSeconds } = sheet;
  return {
    source,
    tiers: exact(full),
    ...(services.length > 0 && { services: new Map(services.map(([name, tiers]) => [name, exact(tiers)])) }),
    ...(anyService && { anyService }),
    units: perMillionUnits,
    denominator,
    ...(minimumSeconds !== undefined && { minimumSeconds }),
  };
}

interface FullTier {
  readonly above: number;
  readonly rates: Record<Bucket, Fraction>;
}

/** What a service tier leaves out and the ordinary one names costs no less than there. */
function noCheaper({ above, rates }: FullTier, own: SheetTier, ordinary: readonly SheetTier[]): FullTier {
  const like = ordinary.findLast((tier) => tier.above <= above)?.perMillion;
  const entries = BUCKETS.map((bucket) => {
    const named = like?.[bucket];
    return [bucket, named && !own.perMillion[bucket] ? larger(rates[bucket], named) : rates[bucket]] as const;
  });
  return { above, rates: Object.fromEntries(entries) as Record<Bucket, Fraction> };
}

/**
 * A token whose rate the source does not name is never free: cached input and writes cost as much as input, output at
 * least as much as input, reasoning as much as output, and an hour of cache no less than five minutes. Sound and pictures
 * cost as much as text, and cached sound as much as fresh where only that is named.
 */
function fillGaps(named: PartialRates, anthropicFamily: boolean): Record<Bucket, Fraction> {
  const { input, cacheRead = input, cacheWrite5m = input, output = input, reasoning = output } = named;
  const inferred = anthropicFamily ? larger(cacheWrite5m, times(input, TWO)) : cacheWrite5m;
  return {
    input,
    cacheRead,
    cacheWrite5m,
    cacheWrite1h: named.cacheWrite1h ?? inferred,
    inputAudio: named.inputAudio ?? input,
    inputImage: named.inputImage ?? input,
    cacheReadAudio: named.cacheReadAudio ?? named.inputAudio ?? cacheRead,
    output,
    reasoning,
    outputAudio: named.outputAudio ?? output,
    outputImage: named.outputImage ?? output,
  };
}
