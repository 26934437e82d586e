import type { PriceConfig } from '#/config/snapshot.ts';
import type { Fraction } from './fraction.ts';
import type { NanoEuro } from '#/values/money.ts';
import { createPrice, type PriceSheet, type SheetTier } from './price-sheet.ts';
import { STANDARD, type Bucket, type Price } from './price.ts';
import type { Unit } from '#/call/units.ts';

type PriceUnit = PriceConfig['unit'];

/** The rows in force: the newest of each unit, service tier and size that has begun. Undefined when none has. */
export function rowsInForce(rows: readonly PriceConfig[], at: number): readonly PriceConfig[] | undefined {
  if (rows.length === 1) return rows[0]!.effectiveFrom <= at ? rows : undefined;
  const newest = new Map<string, PriceConfig>();
  for (const row of rows) {
    const key = `${row.unit} ${row.serviceTier ?? STANDARD} ${row.aboveInputTokens ?? 0}`;
    const rival = newest.get(key);
    if (row.effectiveFrom <= at && (!rival || row.effectiveFrom > rival.effectiveFrom)) newest.set(key, row);
  }
  return newest.size > 0 ? [...newest.values()] : undefined;
}

/**
 * The price that rows of a PriceBook make together: tokens and units add up. What a row leaves out costs as much as
 * its input; the write premium is added to the input rate, for both lifetimes unless an hour has a price. // spec 4.3.3
 * `pattern`: the model the rows are for, as the book names it.
 */
export function overridePrice(rows: readonly PriceConfig[], pattern: string, anthropicFamily: boolean): Price {
  const units: { [U in Unit]?: Fraction } = {};
  const tiers = new Map<string, SheetTier[]>();
  for (const row of rows) {
    if (row.unit !== 'million_tokens') {
      units[UNIT_OF[row.unit]] = whole(row.input);
      continue;
    }
    const tier = { above: row.aboveInputTokens ?? 0, perMillion: ratesOf(row) };
    const others = tiers.get(row.serviceTier ?? STANDARD);
    if (others) others.push(tier);
    else tiers.set(row.serviceTier ?? STANDARD, [tier]);
  }
  for (const list of tiers.values()) list.sort((a, b) => a.above - b.above);
  const { [STANDARD]: standard = [], ...services } = Object.fromEntries(tiers);
  const sheet: PriceSheet = {
    source: [...new Set(rows.map((row) => sourceOf(row, pattern)))].join(', '),
    tiers: standard,
    services: new Map(Object.entries(services)),
    anyService: true,
    units,
  };
  return createPrice(sheet, anthropicFamily);
}

const UNIT_OF = {
  page: 'pages',
  image: 'images',
  call: 'calls',
  second: 'seconds',
  search: 'searches',
  file_search: 'fileSearches',
  container: 'containers',
} as const satisfies Record<Exclude<PriceUnit, 'million_tokens'>, Unit>;

/** Rates that a row names as a bucket is named. */
const NAMED = [
  'output',
  'reasoning',
  'cacheRead',
  'cacheWrite1h',
  'inputAudio',
  'inputImage',
  'cacheReadAudio',
  'outputAudio',
  'outputImage',
] as const satisfies readonly (Bucket & keyof PriceConfig)[];

function ratesOf(row: PriceConfig): SheetTier['perMillion'] {
  const { input, cacheWritePremium } = row;
  const rates: { -readonly [B in keyof SheetTier['perMillion']]: SheetTier['perMillion'][B] } = { input: whole(input) };
  if (cacheWritePremium !== undefined) rates.cacheWrite5m = whole(input + cacheWritePremium);
  for (const bucket of NAMED) {
    const amount = row[bucket];
    if (amount !== undefined) rates[bucket] = whole(amount);
  }
  return rates;
}

function whole(amount: NanoEuro): Fraction {
  return { numerator: amount, denominator: 1n };
}

/**
 * `PriceBook default/local openai/gpt-4o 2026-01-01 @0.92`; shows the time unless it is midnight, and no date if always
 * valid.
 */
function sourceOf({ book, effectiveFrom, usdToEur }: PriceConfig, pattern: string): string {
  const since = effectiveFrom === 0 ? '' : ` ${new Date(effectiveFrom).toISOString().replace('T00:00:00.000Z', '')}`;
  return `PriceBook ${book} ${pattern}${since}${usdToEur === undefined ? '' : ` @${usdToEur}`}`;
}
