import { findProvider, type ModelInfo } from '@pydantic/genai-prices';
import { VENDOR_IDS, VENDORS } from '#/vendors/list.ts';
import { GENAI_PRICES_VERSION, matchGenaiModel } from './genai-prices.ts';
import { tiersOf, unitsOf } from './genai-rates.ts';
import { ownPrice } from './own-prices.ts';
import { quantityOf, type ListedPeriod, type Quantities } from './price-list.ts';
import type { PriceSource } from './price-merge.ts';
import type { Bucket } from './price.ts';

/** Providers of the data whose models are put into snapshots: those that we have vendors for, and hosts alike. */
const PROVIDERS: readonly string[] = [
  ...new Set([
    ...VENDOR_IDS.flatMap((id) => VENDORS[id].prices.bundled ?? []),
    ...['cohere', 'moonshotai', 'novita', 'perplexity', 'voyageai'],
  ]),
].sort();
const DOLLAR = { numerator: 1n, denominator: 1n };

/** The data of genai-prices that came with this build, as a source of prices. */
export function bundledSource(): PriceSource {
  return {
    name: 'genai-prices',
    revision: GENAI_PRICES_VERSION,
    names: PROVIDERS.flatMap((id) =>
      (findProvider({ providerId: id })?.models ?? []).map((model) => `${id}/${model.id}`),
    ),
    find(provider, model) {
      // What the data has otherwise than the vendor goes into snapshots as the vendor has it.
      const own = ownPrice(provider, model);
      if (own?.corrects) return own.periods;
      // Some models of the data are not found by their own names.
      const exact = PROVIDERS.includes(provider) ? findProvider({ providerId: provider })?.models : [];
      const found = exact?.find(({ id }) => id === model) ?? matchGenaiModel(provider, model);
      return found && periodsOf(found.prices);
    },
  };
}

function periodsOf(prices: ModelInfo['prices']): readonly ListedPeriod[] {
  if (!Array.isArray(prices)) return [{ usd: quantities(prices) }];
  return prices.map(({ constraint, prices: amounts }) => {
    const usd = quantities(amounts);
    if (constraint === undefined) return { usd };
    if (constraint.type === 'start_date') return { from: Date.parse(constraint.start_date), usd };
    return { daily: [secondOf(constraint.start_time), secondOf(constraint.end_time)], usd };
  });
}

function quantities(prices: Parameters<typeof tiersOf>[0]): Quantities {
  const found = new Map(Object.entries(unitsOf(prices, DOLLAR)));
  for (const { above, perMillion } of tiersOf(prices, DOLLAR)) {
    for (const [bucket, amount] of Object.entries(perMillion)) found.set(quantityOf(bucket as Bucket, above), amount);
  }
  return found;
}

/** `16:30:00Z` */
function secondOf(time: string): number {
  const [hours = 0, minutes = 0, seconds = 0] = time.replace(/Z$/, '').split(':').map(Number);
  return hours * 3600 + minutes * 60 + seconds;
}
