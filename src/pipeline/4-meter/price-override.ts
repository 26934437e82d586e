import type { PriceConfig } from '#config/snapshot.ts';
import type { Fraction } from './fraction.ts';
import type { NanoEuro } from './money.ts';
import { createPrice, type PriceSheet } from './price-sheet.ts';
import type { Price, Unit } from './price.ts';

type PriceUnit = PriceConfig['unit'];

/** The rows in force: the newest of each unit that has begun. Undefined when none has. */
export function rowsInForce(rows: readonly PriceConfig[], at: number): readonly PriceConfig[] | undefined {
  if (rows.length === 1) return rows[0]!.effectiveFrom <= at ? rows : undefined;
  const newest = new Map<PriceUnit, PriceConfig>();
  for (const row of rows) {
    const rival = newest.get(row.unit);
    if (row.effectiveFrom <= at && (!rival || row.effectiveFrom > rival.effectiveFrom)) newest.set(row.unit, row);
  }
  return newest.size > 0 ? [...newest.values()] : undefined;
}

/**
 * The price that rows of a PriceBook make together: tokens and units add up. What a row leaves out costs as much as
 * its input; the write premium is added to the input rate, for both lifetimes. // spec 4.3.3
 * `pattern`: the model the rows are for, as the book names it.
 */
export function overridePrice(rows: readonly PriceConfig[], pattern: string, anthropicFamily: boolean): Price {
  const tokens = rows.find((row) => row.unit === 'million_tokens');
  const units: { [U in Unit]?: Fraction } = {};
  for (const row of rows) {
    if (row.unit !== 'million_tokens') units[UNIT_OF[row.unit]] = whole(row.input);
  }
  const sheet: PriceSheet = {
    source: [...new Set(rows.map((row) => sourceOf(row, pattern)))].join(', '),
    tiers: tokens ? [{ above: 0, perMillion: ratesOf(tokens) }] : [],
    units,
  };
  return createPrice(sheet, anthropicFamily);
}

const UNIT_OF = { page: 'pages', image: 'images', call: 'calls' } as const satisfies Record<
  Exclude<PriceUnit, 'million_tokens'>,
  Unit
>;

function ratesOf({
  input,
  output,
  cacheRead,
  cacheWritePremium,
}: PriceConfig): PriceSheet['tiers'][number]['perMillion'] {
  return {
    input: whole(input),
    ...(output !== undefined && { output: whole(output) }),
    ...(cacheRead !== undefined && { cacheRead: whole(cacheRead) }),
    ...(cacheWritePremium !== undefined && { cacheWrite5m: whole(input + cacheWritePremium) }),
  };
}

function whole(amount: NanoEuro): Fraction {
  return { numerator: amount, denominator: 1n };
}

/** `PriceBook default/local openai/gpt-4o 2026-01-01`; the time is told when it is not midnight, none when always. */
function sourceOf({ book, effectiveFrom }: PriceConfig, pattern: string): string {
  const since = effectiveFrom === 0 ? '' : ` ${new Date(effectiveFrom).toISOString().replace('T00:00:00.000Z', '')}`;
  return `PriceBook ${book} ${pattern}${since}`;
}
