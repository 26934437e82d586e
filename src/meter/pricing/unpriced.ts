import { GatewayError } from '#/errors/gateway-error.ts';
import type { Target } from '#/call/target.ts';
import { STANDARD } from './price.ts';
import type { Quantity, Unit } from '#/call/units.ts';

/** How a PriceBook names what is billed beside tokens. */
const UNIT_NAMES: Readonly<Record<Unit, string>> = {
  pages: 'Page',
  images: 'Image',
  calls: 'Call',
  seconds: 'Second',
  searches: 'Search',
  fileSearches: 'FileSearch',
  containers: 'Container',
};

/** A provider and the model it was asked for. */
export interface PricedTarget {
  readonly provider: string;
  readonly model: string;
}

export function asTarget({ provider, model }: Target): PricedTarget {
  return { provider: provider.config.slug, model };
}

export function targetId({ provider, model }: PricedTarget): string {
  return `${provider}/${model}`;
}

/** Says what is to be configured. A server of one's own has no price but the one that its owner sets. */
export function unpriced(
  candidates: readonly Target[],
  quantities: readonly Quantity[],
  serviceTier: string | undefined,
): GatewayError {
  const models = [...new Set(candidates.map((candidate) => targetId(asTarget(candidate))))];
  const inTier = serviceTier === undefined || serviceTier === STANDARD ? '' : ` in the service tier ${serviceTier}`;
  const wild = [...new Set(candidates.map(({ provider }) => `${provider.config.slug}/*`))];
  const custom = candidates.every(({ provider }) => provider.config.vendor === 'custom');
  const why = custom ? ', whose provider is a custom endpoint' : '';
  if (quantities.length === 1 && quantities[0] === 'calls') {
    const message =
      `No price is known for ${models.join(', ')}, a call without a model. Calls without a price are refused. ` +
      `Add a row to spec.prices of ${bookOf(candidates)}: ${rowFor(models[0], 'calls')}. 0 is a price.`;
    return new GatewayError('price_unknown', message);
  }
  return new GatewayError(
    'price_unknown',
    `No price is known for ${models.join(', ')}${inTier}${why}; models without a price are refused. ` +
      `Add a row to spec.prices of ${bookOf(candidates)}: ` +
      `${quantities.map((quantity) => rowFor(models[0], quantity)).join(' or ')}. ` +
      `0 is a price, and ${wild.join(' or ')} stands for all models of a provider. ` +
      'Or set price: Estimated in a Policy to serve it at the price of the nearest older model of its line.',
    { param: 'model' },
  );
}

/** A row of a PriceBook, by what a call is billed by. */
function rowFor(model: string | undefined, quantity: Quantity): string {
  if (quantity === 'tokens') {
    return `{model: ${model}, input: "<EUR per million tokens>", output: "<EUR per million tokens>"}`;
  }
  const unit = UNIT_NAMES[quantity];
  return `{model: ${model}, unit: ${unit}, input: "<EUR per ${unit.toLowerCase()}>"}`;
}

/** Whose prices hold for these models. */
function bookOf(candidates: readonly Target[]): string {
  const managed = candidates.every(({ provider }) => provider.config.keyOwnership === 'managed');
  return managed ? "the provider's PriceBook (priceBookRef)" : "the organization's PriceBook (priceBookRef)";
}
