import { parseArgs } from 'node:util';
import { UNITS, type Units } from '#meter/price.ts';
import { NO_USAGE, type Usage } from '#wire/usage.ts';
import type { Output } from './output.ts';
import { priceExplain } from './price-explain.ts';
import { UsageError } from './usage-error.ts';

export const PRICE_HELP = `gwctl price PROVIDER/MODEL [--BUCKET NUMBER]… [--at TIME] [--usd-to-eur RATE]

Tells how a call would be priced by the built-in price book, bucket by bucket. Ends with 1 when no price is known.

  --input, --output, --reasoning, --cache-read, --cache-write-5m, --cache-write-1h   Tokens
  --pages, --images, --calls, --seconds, --searches                                 Units
  --at TIME           When the call is made (RFC 3339; default: now)
  --usd-to-eur RATE   Euro per US dollar (default: GW_USD_TO_EUR, or 0.92)
`;

/** Explains a price. Returns the exit status; throws UsageError. */
export function price(args: readonly string[], defaults: { readonly usdToEur: string }, { out }: Output): number {
  const counts = [...Object.keys(NO_USAGE), ...UNITS];
  const options = Object.fromEntries(
    [...counts.map(flagOf), 'at', 'usd-to-eur'].map((name) => [name, { type: 'string' }] as const),
  );
  const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true });
  const [target = '', ...others] = positionals;
  const slash = target.indexOf('/');
  if (slash < 1 || slash === target.length - 1 || others.length > 0)
    throw new UsageError('name one model: PROVIDER/MODEL');
  const at = values['at'] === undefined ? Date.now() : Date.parse(values['at']);
  if (Number.isNaN(at)) throw new UsageError(`"${values['at']}" is not a time: write it as 2027-01-31T00:00:00Z`);
  const usdToEur = values['usd-to-eur'] ?? defaults.usdToEur;
  if (!/^\d{1,3}(\.\d{1,6})?$/.test(usdToEur)) throw new UsageError('--usd-to-eur takes a decimal number such as 0.92');
  const given = (names: readonly string[]): Record<string, number> =>
    Object.fromEntries(
      names.flatMap((name) => (values[flagOf(name)] === undefined ? [] : [[name, countOf(values[flagOf(name)]!)]])),
    );
  const usage = given(Object.keys(NO_USAGE)) as Partial<Usage>;
  const units = given(UNITS) as Units;
  return priceExplain(
    { provider: { slug: target.slice(0, slash) }, model: target.slice(slash + 1), usage, units, at, usdToEur },
    out,
  );
}

/** `cacheWrite5m` is `--cache-write-5m`. */
function flagOf(name: string): string {
  return name.replace(/[A-Z]|\d+/g, (part) => `-${part.toLowerCase()}`);
}

function countOf(text: string): number {
  if (!/^\d{1,15}$/.test(text)) throw new UsageError(`"${text}" is not a whole number`);
  return Number(text);
}
