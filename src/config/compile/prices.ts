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

/** Compiles every PriceBook, by id. Dollars become euro here, rounded up to the nano-euro. */
export function compilePrices(compilation: Compilation): ReadonlyMap<string, Prices> {
  const books = new Map<string, Prices>();
  for (const book of compilation.catalog.all('PriceBook')) {
    const { effectiveFrom, prices } = book.body.spec;
    const from = effectiveFrom && toInstant(compilation.faults, book, 'spec.effectiveFrom', effectiveFrom);
    const rows = new Map<string, PriceConfig[]>();
    for (const row of prices) {
      const price = compilePrice(compilation, book, row, from || 0);
      const others = rows.get(row.model);
      if (others) others.push(price);
      else rows.set(row.model, [price]);
    }
    for (const list of rows.values()) Object.freeze(list);
    books.set(book.id, rows);
  }
  return books;
}

function compilePrice(
  { usdToEur }: Compilation,
  book: Resource<'PriceBook'>,
  row: PriceRow,
  effectiveFrom: number,
): PriceConfig {
  const { currency } = book.body.spec;
  const amount = (text: string) => toNanoEuro(text, currency, usdToEur, 'up');
  return Object.freeze({
    book: book.id,
    unit: toSnapshot('unit', row.unit),
    effectiveFrom,
    input: amount(row.input),
    ...(row.output !== undefined && { output: amount(row.output) }),
    ...(row.cacheRead !== undefined && { cacheRead: amount(row.cacheRead) }),
    ...(row.cacheWritePremium !== undefined && { cacheWritePremium: amount(row.cacheWritePremium) }),
  });
}
