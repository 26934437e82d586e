import type { ResolvedPolicy } from '../snapshot.ts';
import { toSnapshot } from '../resources/names.ts';
import type { PolicyFragment } from '../resources/policy-fragment.ts';
import type { WorkloadSpec } from '../resources/workload.ts';
import type { AppliedPolicy, Layer } from './policies.ts';

const DEFAULT_TTL_SECONDS = 3600;
const DEFAULT_RETENTION_DAYS = 30;

/**
 * The policy of one workload: overrides of its organization, then its own policy, then defaults of its organization,
 * field by field; lists of models and of jurisdictions always intersect. Where nobody says anything, personal data
 * is tokenized and every opt-in is off.
 */
export function mergePolicy(
  workload: Pick<WorkloadSpec, 'allowedModels' | 'answerTimeoutSeconds'>,
  ofOrganization: AppliedPolicy | undefined,
  ofWorkload: AppliedPolicy | undefined,
): ResolvedPolicy {
  const layers = [ofOrganization?.overrides, ofWorkload?.defaults, ofOrganization?.defaults].filter(
    (layer) => layer !== undefined,
  );
  const fragments = layers.map((layer) => layer.fragment);
  const first = <T>(read: (fragment: PolicyFragment) => T | undefined): T | undefined => firstOf(fragments, read);
  const contentRetention = first((fragment) => fragment.contentRetention) === 'Enabled';
  const allowedJurisdictions = intersectJurisdictions(fragments);
  return Object.freeze({
    dlp: mergeDlp(layers, fragments),
    allowedModels: Object.freeze(
      [workload.allowedModels, ...fragments.map((fragment) => fragment.allowedModels)]
        .filter((list) => list !== undefined && list.length > 0)
        .map((list) => Object.freeze([...list!])),
    ),
    ...(allowedJurisdictions && { allowedJurisdictions }),
    promptCache: first((fragment) => fragment.caching?.promptCache) === 'Enabled',
    responseCache: Object.freeze({
      // Each fragment that enables it enables retention too, but a stronger one may have withdrawn that. spec 4.3.4
      enabled: contentRetention && first((fragment) => fragment.caching?.responseCache?.mode) === 'Enabled',
      ttlSeconds: first((fragment) => fragment.caching?.responseCache?.ttlSeconds) ?? DEFAULT_TTL_SECONDS,
    }),
    contentRetention,
    contentRetentionDays: first((fragment) => fragment.contentRetentionDays) ?? DEFAULT_RETENTION_DAYS,
    scopeGuard: mergeScopeGuard(first((fragment) => fragment.scopeGuard)),
    answerTimeoutSeconds: first((fragment) => fragment.answerTimeoutSeconds) ?? workload.answerTimeoutSeconds,
  });
}

function mergeDlp(layers: readonly Layer[], fragments: readonly PolicyFragment[]): ResolvedPolicy['dlp'] {
  const entities = firstOf(fragments, (fragment) => fragment.dlp?.entities);
  return Object.freeze({
    mode: toSnapshot('dlpMode', firstOf(fragments, (fragment) => fragment.dlp?.mode) ?? 'Tokenize'),
    documents: toSnapshot('dlpDocuments', firstOf(fragments, (fragment) => fragment.dlp?.documents) ?? 'Off'),
    // An empty list is no list, as everywhere in Kubernetes: it must not switch detection off.
    ...(entities?.length && { entities: new Set(entities.map((entity) => entity.toUpperCase())) }),
    customTerms: firstOf(layers, (layer) => layer.customTerms) ?? Object.freeze([]),
  });
}

/** Mode and scope belong together: a mode is never combined with another fragment's scope. */
function mergeScopeGuard(guard: PolicyFragment['scopeGuard']): ResolvedPolicy['scopeGuard'] {
  if (!guard || guard.mode === 'Off') return Object.freeze({ mode: 'off' });
  return Object.freeze({
    mode: toSnapshot('scopeGuardMode', guard.mode),
    ...(guard.scope !== undefined && { scope: guard.scope }),
  });
}

/** What every list allows; empty when the lists have nothing in common, which allows nothing. */
function intersectJurisdictions(fragments: readonly PolicyFragment[]): ReadonlySet<string> | undefined {
  let allowed: ReadonlySet<string> | undefined;
  for (const { residency } of fragments) {
    if (!residency) continue;
    const before = allowed;
    allowed = new Set(residency.allowedJurisdictions.filter((place) => before?.has(place) ?? true));
  }
  return allowed;
}

function firstOf<L, T>(layers: readonly L[], read: (layer: L) => T | undefined): T | undefined {
  for (const layer of layers) {
    const value = read(layer);
    if (value !== undefined) return value;
  }
  return undefined;
}
