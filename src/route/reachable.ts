import type { AliasConfig, ProviderConfig, VirtualKeyConfig } from '#/config/snapshot.ts';
import { LOCAL_PROVIDER } from '#/config/local-provider.ts';
import { UNITS } from '#/meter/pricing/price.ts';
import type { Quantity } from '#/call/units.ts';
import { isDenial, offerOf } from './offer.ts';
import type { RouteDeps } from './plan.ts';

/** A model that a caller can ask for. */
export interface ReachableModel {
  /** `<provider>/<model>`, or an alias. */
  readonly id: string;
  /** The provider's slug, or `gw` for an alias. */
  readonly ownedBy: string;
}

export interface DiscoveryDeps extends RouteDeps {
  /** Milliseconds since the epoch: prices change. */
  readonly at: number;
}

/** For all providers together: the lookup blocks other calls. With more models, each provider gets a share. */
const MOST_KNOWN = 10_000;
const ALIAS_OWNER = 'gw';

/**
 * The models that a caller's policy and credentials reach, sorted by id: those that providers are configured with, and
 * unless they serve no others, those that the model catalogue, the price data and the organization's own prices know of
 * them, or what its vendor has listed lately; those that an allow-list names; aliases; and what the gateway itself can answer now.
 * No provider is asked. // spec 2.1, 4.5.2
 */
export function reachableModels(key: VirtualKeyConfig, deps: DiscoveryDeps): readonly ReachableModel[] {
  const { organization, policy } = key.workload;
  const ids = new Set<string>(organization.aliases.keys());
  const known = Array.from(organization.providers, ([slug, config]) => [slug, modelsKnownOf(config, deps)] as const);
  const isTooMuch = known.reduce((sum, [, models]) => sum + models.length, 0) > MOST_KNOWN;
  const share = isTooMuch ? Math.floor(MOST_KNOWN / known.length) : MOST_KNOWN;
  for (const [slug, models] of known) for (const model of models.slice(0, share)) ids.add(`${slug}/${model}`);
  for (const name of organization.prices.keys()) if (!name.includes('*')) ids.add(name);
  for (const model of LOCAL_PROVIDER.models.keys()) ids.add(`${LOCAL_PROVIDER.slug}/${model}`);
  for (const pattern of policy.allowedModels.flatMap(({ models }) => models))
    if (!pattern.includes('*')) ids.add(pattern);
  return [...ids]
    .sort()
    .map((id) => reachableModel(id, key, deps))
    .filter((model) => model !== undefined);
}

/** The configured models of a provider, and the known models of its vendor unless it serves no others. */
export function modelsKnownOf(config: ProviderConfig, { providers, prices, lists }: RouteDeps): readonly string[] {
  const configured = [...config.models.keys()];
  if (config.onlyListedModels === true) return configured;
  const known = [...(providers(config)?.known ?? []), ...prices.models(config)];
  const listed = lists?.of(config);
  if (!listed) return [...configured, ...known];
  // A vendor lists the models that an account can call; known short names for one of these stay too.
  return [...configured, ...listed.models, ...known.filter((model) => listed.names.has(model))];
}

/** One model, if a call for it would be let through and could be served; undefined otherwise. */
export function reachableModel(id: string, key: VirtualKeyConfig, deps: DiscoveryDeps): ReachableModel | undefined {
  const alias = key.workload.organization.aliases.get(id);
  if (alias) {
    const reachable = modelsOf(alias).some((model) => isReachable(model, id, key, deps));
    return reachable ? { id, ownedBy: ALIAS_OWNER } : undefined;
  }
  return isReachable(id, undefined, key, deps) ? { id, ownedBy: id.slice(0, id.indexOf('/')) } : undefined;
}

function modelsOf({ targets, routes }: AliasConfig): readonly string[] {
  return [...targets, ...routes].map(({ model }) => model);
}

/** Whether policy lets a model through, the account with its provider can be used, and a price is known. */
function isReachable(
  id: string,
  alias: string | undefined,
  { workload }: VirtualKeyConfig,
  { providers, prices, at }: DiscoveryDeps,
): boolean {
  const slash = id.indexOf('/');
  if (slash <= 0 || slash === id.length - 1) return false;
  const offer = offerOf(id, alias, workload, providers);
  if (isDenial(offer)) return false;
  const { provider, model } = offer;
  const { organization, policy } = workload;
  if (provider.answers?.(model) === false) return false;
  const { credentials, vendor } = provider.config;
  if ((credentials.length === 0 && vendor !== 'custom') || provider.families(model).length === 0) return false;
  return prices.find(organization, provider.config, model, at, QUANTITIES, policy.estimatesPrices) !== undefined;
}

/** Which of them a call is billed by is not known before it is made. */
const QUANTITIES: readonly Quantity[] = ['tokens', ...UNITS];
