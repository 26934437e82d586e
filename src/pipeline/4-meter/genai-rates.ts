import type { ModelPrice } from '@pydantic/genai-prices';
import { fraction, larger, times, type Fraction } from './fraction.ts';
import type { PartialRates, PriceSheet } from './price-sheet.ts';
import type { Unit } from './price.ts';

type Amount = ModelPrice[string];

/**
 * The tiers of a price of the data, at `rate` nano-euro to its dollar; none when it does not bill tokens.
 * Input that is listed without a charge means a free offer of that vendor's, or that nobody looked: not a price to bill
 * by. An operator can still set a price of zero.
 */
export function tiersOf(prices: ModelPrice, rate: Fraction, model: string): PriceSheet['tiers'] {
  if (!isCharged(amountAt(prices['input_mtok'], 0, rate))) return [];
  const starts = new Set([0]);
  for (const amount of Object.values(prices)) {
    if (typeof amount === 'object') for (const { start } of amount.tiers) starts.add(start);
  }
  const sizes = [...starts].sort((a, b) => a - b);
  return sizes.map((above) => ({ above, perMillion: ratesOf((key) => amountAt(prices[key], above, rate), model) }));
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

/**
 * A `Usage` does not tell the modality of a token. Output is billed at the dearest modality that the model answers in;
 * input as text, but for models that only listen.
 */
const OUTPUTS = ['output_mtok', 'output_audio_mtok', 'output_image_mtok', 'output_video_mtok'];
const LISTENS_ONLY = /transcribe/;

function ratesOf(amount: (key: string) => Fraction | undefined, model: string): PartialRates {
  const text = amount('input_mtok')!;
  const heard = LISTENS_ONLY.test(model) ? amount('input_audio_mtok') : undefined;
  const rates: { -readonly [B in keyof PartialRates]: PartialRates[B] } = { input: heard ?? text };
  const cacheRead = amount('cache_read_mtok');
  const cacheWrite5m = amount('cache_write_mtok');
  const cacheWrite1h = amount('cache_write_1h_mtok');
  const reasoning = amount('output_reasoning_mtok');
  const outputs = OUTPUTS.map(amount).filter((output) => output !== undefined);
  if (cacheRead) rates.cacheRead = cacheRead;
  if (cacheWrite5m) rates.cacheWrite5m = cacheWrite5m;
  if (cacheWrite1h) rates.cacheWrite1h = cacheWrite1h;
  if (reasoning) rates.reasoning = reasoning;
  if (outputs.length > 0) rates.output = outputs.reduce(larger);
  return rates;
}

/** The data's keys for units, and how many units their amounts are for. */
const UNIT_KEYS: readonly (readonly [key: string, unit: Unit, per: bigint])[] = [
  ['input_document_kpages', 'pages', 1000n],
  ['requests_kcount', 'calls', 1000n],
  ['audio_hours', 'seconds', 3600n],
  ['web_searches_kcount', 'searches', 1000n],
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
