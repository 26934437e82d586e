import type { AliasConfig, VirtualKeyConfig } from '#config/snapshot.ts';
import type { Providers } from './plan.ts';
import { allowListReason, residencyReason } from './policy.ts';

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
  for (const pattern of policy.allowedModels.flat()) if (!pattern.includes('*')) ids.add(pattern);
  return [...ids]
    .sort()
    .map((id) => reachableModel(id, key, providers))
    .filter((model) => model !== undefined);
}

/** One model, if a call for it would be let through and could be served; undefined otherwise. */
export function reachableModel(id: string, key: VirtualKeyConfig, providers: Providers): ReachableModel | undefined {
  const alias = key.workload.organization.aliases.get(id);
  if (alias) {
    const reachable = modelsOf(alias).some((model) => isReachable(model, [id, model], key, providers));
    return reachable ? { id, ownedBy: ALIAS_OWNER } : undefined;
  }
  return isReachable(id, [id], key, providers) ? { id, ownedBy: id.slice(0, id.indexOf('/')) } : undefined;
}

function modelsOf({ targets, routes }: AliasConfig): readonly string[] {
  return [...targets, ...routes].map(({ model }) => model);
}

/** `names`: what the allow-lists may know it by. */
function isReachable(id: string, names: readonly string[], key: VirtualKeyConfig, providers: Providers): boolean {
  const { organization, policy } = key.workload;
  const slash = id.indexOf('/');
  const model = id.slice(slash + 1);
  const config = organization.providers.get(id.slice(0, slash));
  if (slash <= 0 || model === '' || !config) return false;
  if (config.credentials.length === 0 && config.vendor !== 'custom') return false;
  if (config.models.size > 0 && !config.models.has(model)) return false;
  const provider = providers(config);
  if (!provider || provider.families(model).length === 0) return false;
  return (
    allowListReason(names, policy) === undefined &&
    residencyReason(config.slug, provider.jurisdiction(model), policy) === undefined
  );
}
