import type { ModelPrice } from '@pydantic/genai-prices';
import { fraction, larger, times, type Fraction } from './fraction.ts';
import type { PartialRates, PriceSheet } from './price-sheet.ts';
import type { Bucket } from './price.ts';
import type { Unit } from '#/call/units.ts';

type Amount = ModelPrice[string];

/**
 * The tiers of a price of the data, at `rate` nano-euro to its dollar; none when it does not bill tokens.
 * Input that is listed without a charge means a free offer of that vendor, or missing data: not a price to bill
 * by. An operator can still set a price of zero.
 */
export function tiersOf(prices: ModelPrice, rate: Fraction): PriceSheet['tiers'] {
  if (!isCharged(amountAt(prices['input_mtok'], 0, rate))) return [];
  const starts = new Set([0]);
  for (const amount of Object.values(prices)) {
    if (typeof amount === 'object') for (const { start } of amount.tiers) starts.add(start);
  }
  const sizes = [...starts].sort((a, b) => a - b);
  return sizes.map((above) => ({ above, perMillion: ratesOf((key) => amountAt(prices[key], above, rate)) }));
}

function isCharged(amount: Fraction | undefined): amount is Fraction {
  return amount !== undefined && amount.numerator > 0n;
}

/** What a key costs in calls with more input than `above`. */
function amountAt(amount: Amount, above: number, rate: Fraction): Fraction | undefined {
  if (amount === undefined) return undefined;
  if (typeof amount === 'number') return times(fraction(amount), rate);
  let price = amount.base;
  for (const tier of [...amount.tiers].sort((a, b) => a.start - b.start)) if (tier.start <= above) price = tier.price;
  return times(fraction(price), rate);
}

/** The data's keys of the rates of each bucket; of several, the dearest that is there. */
const KEYS: readonly (readonly [Exclude<Bucket, 'input' | 'output'>, ...string[]])[] = [
  ['cacheRead', 'cache_read_mtok'],
  ['cacheWrite5m', 'cache_write_mtok'],
  ['cacheWrite1h', 'cache_write_1h_mtok'],
  ['reasoning', 'output_reasoning_mtok'],
  ['inputAudio', 'input_audio_mtok'],
  ['inputImage', 'input_image_mtok', 'input_video_mtok'],
  ['cacheReadAudio', 'cache_audio_read_mtok'],
  ['outputAudio', 'output_audio_mtok'],
  ['outputImage', 'output_image_mtok', 'output_video_mtok'],
];

function ratesOf(amount: (key: string) => Fraction | undefined): PartialRates {
  const rates: { -readonly [B in keyof PartialRates]: PartialRates[B] } = { input: amount('input_mtok')! };
  for (const [bucket, ...keys] of KEYS) {
    const amounts = keys.map(amount).filter((one) => one !== undefined);
    if (amounts.length > 0) rates[bucket] = amounts.reduce(larger);
  }
  // A model that only speaks or draws has no rate for text: what it writes costs as much as its dearest.
  const spoken = [rates.outputAudio, rates.outputImage].filter((one) => one !== undefined);
  const output = amount('output_mtok') ?? (spoken.length > 0 ? spoken.reduce(larger) : undefined);
  if (output) rates.output = output;
  return rates;
}

/** The data's keys for units, and how many units their amounts are for. */
const UNIT_KEYS: readonly (readonly [key: string, unit: Unit, per: bigint])[] = [
  ['input_document_kpages', 'pages', 1000n],
  ['requests_kcount', 'calls', 1000n],
  ['audio_hours', 'seconds', 3600n],
  ['web_searches_kcount', 'searches', 1000n],
  ['storage_searches_kcount', 'fileSearches', 1000n],
];

/** Prices of units that the data has, in nano-euro per one. */
export function unitsOf(prices: ModelPrice, rate: Fraction): NonNullable<PriceSheet['units']> {
  const units: { [U in Unit]?: Fraction } = {};
  for (const [key, unit, per] of UNIT_KEYS) {
    const amount = amountAt(prices[key], 0, rate);
    if (isCharged(amount)) units[unit] = times(amount, { numerator: 1n, denominator: per });
  }
  return units;
}
