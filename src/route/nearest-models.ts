import { LOCAL_PROVIDER } from '#/config/local-provider.ts';
import { nearestFew } from '#/values/nearest.ts';
import type { VirtualKeyConfig } from '#/config/snapshot.ts';
import { GatewayError } from '#/errors/gateway-error.ts';
import { modelsKnownOf, reachableModel, type DiscoveryDeps } from './reachable.ts';

const MOST_TOLD = 3;
/** Of the models of one provider, those that are looked at. */
const MOST_CANDIDATES = 1000;
/** Names near the one that was asked for which are tried: not each of them can be reached. */
const MOST_TRIED = 8;

/** Adds the nearest names that the caller can reach to the refusal of an unknown model; other errors stay unchanged. */
export function withNearest(thrown: unknown, asked: string, key: VirtualKeyConfig, deps: DiscoveryDeps): unknown {
  const isUnknown = thrown instanceof GatewayError && UNKNOWN.has(thrown.code);
  if (!isUnknown) return thrown;
  const near = nearestModels(asked, key, deps);
  if (near.length === 0) return thrown;
  const message = `${thrown.message} Did you mean ${near.join(' or ')}?`;
  const { code, param, shouldRetry } = thrown;
  return new GatewayError(code, message, { shouldRetry, ...(param !== undefined && { param }) }, { cause: thrown });
}

const UNKNOWN: ReadonlySet<string> = new Set(['model_not_found', 'model_not_prefixed', 'price_unknown']);

/** Reachable names near one, the nearest first. */
function nearestModels(asked: string, key: VirtualKeyConfig, deps: DiscoveryDeps): readonly string[] {
  const near = new Set<string>();
  for (const id of candidates(asked, key, deps)) {
    if (near.size === MOST_TOLD) break;
    if (id !== asked && reachableModel(id, key, deps)) near.add(id);
  }
  return [...near];
}

/** The same name elsewhere first, then names like it: of the provider that it names, or of the one that it may mean. */
function* candidates(asked: string, { workload }: VirtualKeyConfig, deps: DiscoveryDeps): Generator<string> {
  const { aliases, providers } = workload.organization;
  const slash = asked.indexOf('/');
  const [slug, model] = slash < 0 ? [undefined, asked] : [asked.slice(0, slash), asked.slice(slash + 1)];
  const meant = slug === undefined ? [] : nearestFew(slug, [...providers.keys(), LOCAL_PROVIDER.slug], MOST_TRIED);
  const known = new Map(
    [...providers].map(([name, config]) => [name, modelsKnownOf(config, deps).slice(0, MOST_CANDIDATES)] as const),
  );
  const first = [...meant, ...known.keys()];
  for (const name of new Set(first)) if (known.get(name)?.includes(model)) yield `${name}/${model}`;
  const local = [
    ...aliases.keys(),
    ...Array.from(LOCAL_PROVIDER.models.keys(), (id) => `${LOCAL_PROVIDER.slug}/${id}`),
  ];
  yield* nearestFew(slug === undefined ? `${LOCAL_PROVIDER.slug}/${model}` : asked, local, MOST_TRIED);
  for (const name of new Set(slug === undefined ? first : meant)) {
    for (const one of nearestFew(model, known.get(name) ?? [], MOST_TRIED)) yield `${name}/${one}`;
  }
}
