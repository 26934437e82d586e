import type { PriceConfig } from '../snapshot.ts';
import { toSnapshot } from '../resources/names.ts';
import type { PriceRow } from '../resources/price-book.ts';
import type { Resource } from './catalog.ts';
import { toInstant, type Compilation } from './context.ts';
import { toNanoEuro } from './money.ts';

/** A book's prices by model id as written, which may be `<provider>/*`. */
export type Prices = ReadonlyMap<string, readonly PriceConfig[]>;

/** No prices: the built-in ones hold. */
export const NO_PRICES: Prices = new Map();

/** Compiles every PriceBook, by id. Dollars become euro here, rounded up to the nano-euro, by each rate from its date. */
export function compilePrices(compilation: Compilation): ReadonlyMap<string, Prices> {
  const books = new Map<string, Prices>();
  for (const book of compilation.catalog.all('PriceBook')) {
    const { effectiveFrom, prices } = book.body.spec;
    const from = effectiveFrom && toInstant(compilation.faults, book, 'spec.effectiveFrom', effectiveFrom);
    checkTiers(compilation, book);
    const rows = new Map<string, PriceConfig[]>();
    for (const row of prices) {
      const dated = compilePrice(compilation, book, row, from || 0);
      const others = rows.get(row.model);
      if (others) others.push(...dated);
      else rows.set(row.model, [...dated]);
    }
    for (const list of rows.values()) Object.freeze(list);
    books.set(book.id, rows);
  }
  return books;
}

/** A tier is a deviation from the price of the model: the row without one must be there. */
function checkTiers({ faults }: Compilation, book: Resource<'PriceBook'>): void {
  const { prices } = book.body.spec;
  const keyOf = (model: string, tier: string, above: number): string => `${tier} ${above} ${model}`;
  const known = new Set(
    prices
      .filter(({ unit }) => unit === 'MillionTokens')
      .map(({ model, serviceTier, aboveInputTokens }) => keyOf(model, serviceTier, aboveInputTokens)),
  );
  for (const [index, { model, serviceTier, aboveInputTokens }] of prices.entries()) {
    const isTier = serviceTier !== 'Standard' || aboveInputTokens > 0;
    if (!isTier) continue;
    const field = `spec.prices[${index}]`;
    if (!known.has(keyOf(model, 'Standard', 0)))
      faults.add(book, field, `needs a row for ${model} without serviceTier and aboveInputTokens`);
    else if (!known.has(keyOf(model, serviceTier, 0)))
      faults.add(book, field, `needs a row for ${model} with serviceTier ${serviceTier} and without aboveInputTokens`);
  }
}

const AMOUNTS = [
  'output',
  'reasoning',
  'cacheRead',
  'cacheWritePremium',
  'cacheWrite1h',
  'inputAudio',
  'inputImage',
  'cacheReadAudio',
  'outputAudio',
  'outputImage',
] as const satisfies readonly (keyof PriceRow & keyof PriceConfig)[];

/** The row, once for each rate that amounts in dollars are converted by while it holds. */
function compilePrice(
  { usdToEur }: Compilation,
  book: Resource<'PriceBook'>,
  row: PriceRow,
  effectiveFrom: number,
): readonly PriceConfig[] {
  const { currency } = book.body.spec;
  const rates = currency === 'EUR' ? usdToEur.slice(0, 1) : usdToEur;
  const held = rates.filter((_, index) => (rates[index + 1]?.from ?? Infinity) > effectiveFrom);
  return held.map(({ from, rate }) => {
    const amount = (text: string) => toNanoEuro(text, currency, rate, 'up');
    const named = AMOUNTS.flatMap((name) => (row[name] === undefined ? [] : [[name, amount(row[name])] as const]));
    return Object.freeze({
      book: book.id,
      unit: toSnapshot('unit', row.unit),
      ...(row.serviceTier !== 'Standard' && { serviceTier: toSnapshot('serviceTier', row.serviceTier) }),
      ...(row.aboveInputTokens > 0 && { aboveInputTokens: row.aboveInputTokens }),
      effectiveFrom: Math.max(effectiveFrom, from),
      ...(currency === 'USD' && { usdToEur: rate }),
      input: amount(row.input),
      ...Object.fromEntries(named),
    });
  });
}
