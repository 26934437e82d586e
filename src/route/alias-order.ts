import type { AliasConfig, OrganizationConfig } from '#/config/snapshot.ts';
import type { PriceBook } from '#/meter/pricing/price-book.ts';
import { cost } from '#/meter/pricing/price.ts';
import type { RouterVerdict } from '#/ports/local-models.ts';
import { NO_USAGE } from '#/wire/answer/usage.ts';
import { capabilitiesInWords, type RequiredCapabilities } from './fitness.ts';

/** The models of an alias in the order they are considered, and how that order came about. */
export interface AliasOrder {
  readonly models: readonly string[];
  readonly how: string;
}

/** What an automatic alias is decided by. */
export interface AutomaticInput {
  readonly required: RequiredCapabilities;
  /** The local router's verdict; undefined without a router, or if it abstains. */
  readonly verdict: RouterVerdict | undefined;
  readonly organization: OrganizationConfig;
  readonly prices: PriceBook;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/** Input up to this size, in estimated tokens, with nothing special about it, is a plain request. */
export const PLAIN_TOKENS = 2000;
/** Output that the prices of a plain request are compared by. */
const PLAIN_ANSWER_TOKENS = 500;

/** Orders the models of an alias. `automatic` is asked for strategy `auto` only. */
export function aliasOrder(alias: AliasConfig, automatic: () => AutomaticInput): AliasOrder {
  switch (alias.strategy) {
    case 'weighted':
      return { models: drawn(alias.targets), how: `${alias.alias}: drawn by weight` };
    case 'failover':
      return { models: byPriority(alias), how: `${alias.alias}: by priority` };
    case 'auto':
      return automaticOrder(alias, automatic());
    default:
      return alias.strategy satisfies never;
  }
}

/**
 * The rule of automatic aliases. The first route whose conditions hold is tried first; a condition on task or complexity
 * holds only where the local router says so. Then the alias' targets: for a plain request (text only, no tools, no JSON
 * mode, at most `PLAIN_TOKENS`) the cheapest first by the price book, those without a price last, unless the router says
 * that it needs more than the fast route; for any other by priority. Equals keep the order of the resource. The models
 * of the other routes come last, should nothing else do.
 */
function automaticOrder(alias: AliasConfig, input: AutomaticInput): AliasOrder {
  const { required, verdict } = input;
  const route = alias.routes.find(({ task, maxComplexity }) => {
    const ofTask = task === undefined || task === verdict?.task;
    return ofTask && (maxComplexity === undefined || (verdict?.complexity ?? Infinity) <= maxComplexity);
  });
  const special = capabilitiesInWords(required);
  const small = special.length === 0 && required.inputTokens <= PLAIN_TOKENS;
  const plain = small && (verdict === undefined || verdict.route === 'fast');
  const rest = plain ? byPrice(alias, input) : byPriority(alias);
  const models = new Set([...(route ? [route.model] : []), ...rest, ...alias.routes.map(({ model }) => model)]);
  const judged = verdict
    ? `the router reports ${verdict.task}, complexity ${verdict.complexity}, ${verdict.route}; `
    : '';
  const routed = route ? `first the route to ${route.model}, then ` : '';
  const larger = small ? 'more than a simple request' : 'not a small request';
  const shown = special.length === 0 ? larger : `a request with ${special.join(', ')}`;
  const rule = plain ? 'a simple request, cheapest first' : `${shown}, by priority`;
  return { models: [...models], how: `${alias.alias}: automatic: ${judged}${routed}${rule}` };
}

function byPriority({ targets }: AliasConfig): readonly string[] {
  return targets.toSorted((a, b) => a.priority - b.priority).map(({ model }) => model);
}

function byPrice(alias: AliasConfig, { required, organization, prices, at }: AutomaticInput): readonly string[] {
  const usage = { ...NO_USAGE, input: required.inputTokens, output: PLAIN_ANSWER_TOKENS };
  const amounts = new Map(
    alias.targets.map(({ model: id }) => {
      const slash = id.indexOf('/');
      const provider = organization.providers.get(id.slice(0, slash));
      const price = provider && prices.find(organization, provider, id.slice(slash + 1), at);
      return [id, price && cost(price, usage)] as const;
    }),
  );
  return byPriority(alias).toSorted((a, b) => {
    const [one, other] = [amounts.get(a), amounts.get(b)];
    if (one === undefined || other === undefined) return Number(one === undefined) - Number(other === undefined);
    return one < other ? -1 : Number(one > other);
  });
}

function drawn(targets: AliasConfig['targets']): readonly string[] {
  const left = [...targets];
  const models: string[] = [];
  while (left.length > 0) {
    const total = left.reduce((sum, { weight }) => sum + weight, 0);
    let at = Math.random() * total;
    const index = left.findIndex(({ weight }) => (at -= weight) < 0);
    models.push(left.splice(Math.max(0, index), 1)[0]!.model);
  }
  return models;
}
