import type { AliasConfig, VirtualKeyConfig } from '#config/snapshot.ts';
import { isDenial, offerOf, type Providers } from './offer.ts';

/** A model that a caller can ask for. */
export interface ReachableModel {
  /** `<provider>/<model>`, or an alias. */
  readonly id: string;
  /** The provider's slug, or `gw` for an alias. */
  readonly ownedBy: string;
}

const ALIAS_OWNER = 'gw';

/**
 * The models that a caller's policy and credentials reach, sorted by id: those that providers are configured with, those
 * that an allow-list names where a provider offers whatever it has, and aliases. // spec 2.1
 */
export function reachableModels(key: VirtualKeyConfig, providers: Providers): readonly ReachableModel[] {
  const { organization, policy } = key.workload;
  const ids = new Set<string>(organization.aliases.keys());
  for (const [slug, config] of organization.providers) {
    for (const model of config.models.keys()) ids.add(`${slug}/${model}`);
  }
  for (const pattern of policy.allowedModels.flatMap(({ models }) => models))
    if (!pattern.includes('*')) ids.add(pattern);
  return [...ids]
    .sort()
    .map((id) => reachableModel(id, key, providers))
    .filter((model) => model !== undefined);
}

/** One model, if a call for it would be let through and could be served; undefined otherwise. */
export function reachableModel(id: string, key: VirtualKeyConfig, providers: Providers): ReachableModel | undefined {
  const alias = key.workload.organization.aliases.get(id);
  if (alias) {
    const reachable = modelsOf(alias).some((model) => isReachable(model, id, key, providers));
    return reachable ? { id, ownedBy: ALIAS_OWNER } : undefined;
  }
  return isReachable(id, undefined, key, providers) ? { id, ownedBy: id.slice(0, id.indexOf('/')) } : undefined;
}

function modelsOf({ targets, routes }: AliasConfig): readonly string[] {
  return [...targets, ...routes].map(({ model }) => model);
}

/** Whether policy lets a model through, and the account with its provider can be used. */
function isReachable(
  id: string,
  alias: string | undefined,
  { workload }: VirtualKeyConfig,
  providers: Providers,
): boolean {
  const slash = id.indexOf('/');
  if (slash <= 0 || slash === id.length - 1) return false;
  const offer = offerOf(id, alias, workload, providers);
  if (isDenial(offer)) return false;
  const { provider, model } = offer;
  const { credentials, vendor } = provider.config;
  return (credentials.length > 0 || vendor === 'custom') && provider.families(model).length > 0;
}
