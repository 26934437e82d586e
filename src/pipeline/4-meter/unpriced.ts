import { GatewayError } from '#errors/gateway-error.ts';
import type { Target } from '#route/plan.ts';
import { STANDARD, type Quantity } from './price.ts';

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
    const row = `{model: ${models[0]}, unit: Call, input: "<EUR per call>"}`;
    const message =
      `No price is known for ${models.join(', ')}, which names no model; what has no price is not served. ` +
      `Add a row to spec.prices of ${bookOf(candidates)}: ${row}. 0 is a price.`;
    return new GatewayError('price_unknown', message);
  }
  return new GatewayError(
    'price_unknown',
    `No price is known for ${models.join(', ')}${inTier}${why}; a model without a price is not served. ` +
      `Add a row to spec.prices of ${bookOf(candidates)}: ` +
      `{model: ${models[0]}, input: "<EUR per million tokens>", output: "<EUR per million tokens>"}. ` +
      `0 is a price, and ${wild.join(' or ')} stands for all models of a provider. ` +
      'Or set price: Estimated in a Policy, to serve it at the price of the nearest older model of its line.',
    { param: 'model' },
  );
}

/** Whose prices hold for these models. */
function bookOf(candidates: readonly Target[]): string {
  const managed = candidates.every(({ provider }) => provider.config.keyOwnership === 'managed');
  return managed ? "the provider's PriceBook (priceBookRef)" : "the organization's PriceBook (priceBookRef)";
}
