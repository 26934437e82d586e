import { toCategory } from '#/values/entities.ts';
import { commonPlaces } from '#/values/places.ts';
import { toResource, toSnapshot, type ResourceSpelling } from '../resources/names.ts';
import type { PolicyFragment } from '../resources/policy-fragment.ts';
import type { WorkloadSpec } from '../resources/workload.ts';
import type { AllowList, DlpMode, PolicyOrigin, ResolvedPolicy, ToolList } from '../snapshot.ts';
import type { AppliedPolicy, Layer } from './policies.ts';

/** What a workload itself says of the policy it is under. */
export interface PolicySubject extends Pick<WorkloadSpec, 'allowedModels' | 'answerTimeoutSeconds'> {
  readonly id: string;
}

const DEFAULT_TTL_SECONDS = 3600;
const DEFAULT_RETENTION_DAYS = 30;
/** Paths whose calls are always priced by model or free, and that store only objects that are recorded. */
const HARMLESS_PATHS: ReadonlySet<string> = new Set(['fim', 'score', 'uploads']);
/** Origin of a field that no policy sets. */
const BUILT_IN = 'built-in';

/**
 * The policy of one workload: overrides of its organization, then its own policy, then defaults of its organization,
 * field by field; lists of models and of jurisdictions always intersect. By default, personal data
 * is tokenized and every opt-in is off. Each field names its origin.
 */
export function mergePolicy(
  workload: PolicySubject,
  ofOrganization: AppliedPolicy | undefined,
  ofWorkload: AppliedPolicy | undefined,
): ResolvedPolicy {
  const layers = [ofOrganization?.overrides, ofWorkload?.defaults, ofOrganization?.defaults].filter(
    (layer) => layer !== undefined,
  );
  const merge = new Merge(layers);
  const dlp = mergeDlp(merge);
  const toolDlp = mergeDlpOfTools(merge, dlp.mode);
  const allowedModels = mergeAllowLists(merge, workload);
  const allowedTools = mergeToolLists(merge, 'allowedTools', 'all');
  const toolsToApprove = mergeToolLists(merge, 'toolsToApprove', 'none');
  const allowedJurisdictions = mergeJurisdictions(merge);
  const contentRetention = merge.field('contentRetention', ({ contentRetention: kept }) => kept, 'Disabled');
  const timeout = { value: workload.answerTimeoutSeconds, from: `Workload ${workload.id}` };
  return Object.freeze({
    dlp,
    toolDlp,
    allowedModels,
    allowedTools,
    toolsToApprove,
    ...(allowedJurisdictions && { allowedJurisdictions }),
    providerSideTools: mergeProviderSideTools(merge),
    passthrough: mergePassthrough(merge),
    promptCache: merge.field('caching.promptCache', ({ caching }) => caching?.promptCache, 'Disabled') === 'Enabled',
    estimatesPrices: merge.field('price', ({ price }) => price, 'Known') === 'Estimated',
    responseCache: mergeResponseCache(merge, contentRetention === 'Enabled'),
    contentRetention: contentRetention === 'Enabled',
    contentRetentionDays: merge.field(
      'contentRetentionDays',
      (fragment) => fragment.contentRetentionDays,
      DEFAULT_RETENTION_DAYS,
    ),
    scopeGuard: mergeScopeGuard(merge),
    answerTimeoutSeconds: merge.decide('answerTimeoutSeconds', (layer) => layer.fragment.answerTimeoutSeconds, timeout),
    origins: Object.freeze(merge.origins),
  });
}

/** Asks the layers in their order, and notes who answered. */
class Merge {
  readonly origins: PolicyOrigin[] = [];
  readonly layers: readonly Layer[];

  constructor(layers: readonly Layer[]) {
    this.layers = layers;
  }

  /** The first layer's value that there is, else the fallback. */
  field<T extends string | number>(
    name: string,
    read: (fragment: PolicyFragment) => T | undefined,
    fallback: T,
    inWords?: (value: T) => string,
  ): T {
    return this.decide(name, ({ fragment }) => read(fragment), { value: fallback, from: BUILT_IN }, inWords);
  }

  /** As `field`, for values that must be put into words. */
  decide<T>(
    name: string,
    read: (layer: Layer) => T | undefined,
    fallback: { readonly value: T; readonly from: string },
    inWords: (value: T) => string = String,
  ): T {
    let { value, from } = fallback;
    for (const layer of this.layers) {
      const said = read(layer);
      if (said === undefined) continue;
      value = said;
      ({ from } = layer);
      break;
    }
    this.note(name, inWords(value), from);
    return value;
  }

  note(field: string, value: string, from: string): void {
    this.origins.push(Object.freeze({ field, value, from }));
  }
}

function mergeDlp(merge: Merge): ResolvedPolicy['dlp'] {
  const mode = merge.field(
    'dlp.mode',
    ({ dlp }) => dlp?.mode,
    'Tokenize',
    (value) => toSnapshot('dlpMode', value),
  );
  const documents = merge.field(
    'dlp.documents',
    ({ dlp }) => dlp?.documents,
    'Off',
    (value) => toSnapshot('dlpDocuments', value),
  );
  type Images = NonNullable<NonNullable<PolicyFragment['dlp']>['images']>;
  const images = merge.field<Images>(
    'dlp.images',
    ({ dlp }) => dlp?.images,
    mode === 'Block' ? 'Inspect' : 'Pass',
    (value) => toSnapshot('dlpImages', value),
  );
  type Entities = NonNullable<NonNullable<PolicyFragment['dlp']>['entities']>;
  const nothing: { readonly value: Entities; readonly from: string } = { value: [], from: BUILT_IN };
  // An empty list is no list, as everywhere in Kubernetes: it must not switch detection off.
  const entities = merge.decide(
    'dlp.entities',
    ({ fragment }) => fragment.dlp?.entities,
    nothing,
    (found) => (found.length === 0 ? 'all' : found.join(', ')),
  );
  const customTerms = merge.decide(
    'dlp.customTerms',
    (layer) => layer.customTerms,
    { value: Object.freeze([]), from: BUILT_IN },
    (terms) => (terms.length === 0 ? 'none' : terms.map(({ label }) => label).join(', ')),
  );
  const restore = mergeRestore(merge);
  return Object.freeze({
    mode: toSnapshot('dlpMode', mode),
    documents: toSnapshot('dlpDocuments', documents),
    images: toSnapshot('dlpImages', images),
    ...(entities.length > 0 && { entities: new Set(entities.map(toCategory)) }),
    customTerms,
    ...(restore && { restore }),
  });
}

/** Without a mode of their own, what tools are sent is protected like what models are sent. */
function mergeDlpOfTools(merge: Merge, ofModels: DlpMode): ResolvedPolicy['toolDlp'] {
  const mode = toResource('dlpMode', ofModels);
  const inWords = (value: ResourceSpelling<'dlpMode'>): string => toSnapshot('dlpMode', value);
  const internal = merge.field('dlp.tools.internal', ({ dlp }) => dlp?.tools?.internal, mode, inWords);
  const external = merge.field('dlp.tools.external', ({ dlp }) => dlp?.tools?.external, mode, inWords);
  const results = merge.field<ResourceSpelling<'dlpResults'>>(
    'dlp.tools.results',
    ({ dlp }) => dlp?.tools?.results,
    'AllowLog',
    (value) => toSnapshot('dlpResults', value),
  );
  return Object.freeze({
    internal: toSnapshot('dlpMode', internal),
    external: toSnapshot('dlpMode', external),
    results: toSnapshot('dlpResults', results),
  });
}

function mergeRestore(merge: Merge): ResolvedPolicy['dlp']['restore'] {
  type Dlp = NonNullable<PolicyFragment['dlp']>;
  const nobody: { readonly value: NonNullable<Dlp['restore']>; readonly from: string } = { value: [], from: BUILT_IN };
  const rules = merge.decide(
    'dlp.restore',
    ({ fragment }) => fragment.dlp?.restore,
    nobody,
    (found) =>
      found.map(({ tool, mode }) => `${tool} ${toSnapshot('restoreMode', mode)}`).join(', ') || 'known_targets',
  );
  const nowhere: { readonly value: NonNullable<Dlp['restoreHosts']>; readonly from: string } = {
    value: [],
    from: BUILT_IN,
  };
  const hosts = merge.decide(
    'dlp.restoreHosts',
    ({ fragment }) => fragment.dlp?.restoreHosts,
    nowhere,
    (found) => found.join(', ') || 'none',
  );
  if (rules.length === 0 && hosts.length === 0) return undefined;
  const tools = rules.map(({ tool, mode }) => Object.freeze({ tool, mode: toSnapshot('restoreMode', mode) }));
  return Object.freeze({ tools: Object.freeze(tools), hosts: Object.freeze([...hosts]) });
}

/** Every list that is not empty, each with whose it is: all of them must allow a model. */
function mergeAllowLists(merge: Merge, workload: PolicySubject): readonly AllowList[] {
  const lists = [
    { models: workload.allowedModels, from: `Workload ${workload.id}` },
    ...merge.layers.map(({ fragment, from }) => ({ models: fragment.allowedModels, from })),
  ].flatMap(({ models, from }) =>
    models === undefined || models.length === 0 ? [] : Object.freeze({ models: Object.freeze([...models]), from }),
  );
  for (const { models, from } of lists) merge.note('allowedModels', models.join(', '), from);
  if (lists.length === 0) merge.note('allowedModels', 'all', BUILT_IN);
  return Object.freeze(lists);
}

/** Every list of tools that is not empty, each with whose it is. `none`: the value in words where there is no list. */
function mergeToolLists(merge: Merge, field: 'allowedTools' | 'toolsToApprove', none: string): readonly ToolList[] {
  const lists = merge.layers.flatMap(({ fragment: { [field]: tools }, from }) =>
    tools === undefined || tools.length === 0 ? [] : Object.freeze({ tools: Object.freeze([...tools]), from }),
  );
  for (const { tools, from } of lists) merge.note(field, tools.join(', '), from);
  if (lists.length === 0) merge.note(field, none, BUILT_IN);
  return Object.freeze(lists);
}

/** What every list takes in; empty when the lists have nothing in common, which allows nothing. */
function mergeJurisdictions(merge: Merge): ReadonlySet<string> | undefined {
  let allowed: ReadonlySet<string> | undefined;
  for (const { fragment, from } of merge.layers) {
    if (!fragment.residency) continue;
    const places = new Set(fragment.residency.allowedJurisdictions);
    allowed = allowed ? commonPlaces(allowed, places) : places;
    merge.note('residency.allowedJurisdictions', [...places].join(', '), from);
  }
  if (!allowed) merge.note('residency.allowedJurisdictions', 'all', BUILT_IN);
  return allowed;
}

/** What every list has; where there is no list, nothing. // spec 4.5.3 */
function mergeProviderSideTools(merge: Merge): ResolvedPolicy['providerSideTools'] {
  let allowed: ResolvedPolicy['providerSideTools'] | undefined;
  for (const { fragment, from } of merge.layers) {
    const tools = fragment.providerSideTools;
    if (!tools) continue;
    allowed = new Set(allowed ? tools.filter((tool) => allowed?.has(tool)) : tools);
    merge.note('providerSideTools', tools.length === 0 ? 'none' : tools.join(', '), from);
  }
  if (!allowed) merge.note('providerSideTools', 'none', BUILT_IN);
  return allowed ?? new Set();
}

/** Intersects all lists. Without a list: paths that neither spend money nor store objects unrecorded. // spec 1.3 */
function mergePassthrough(merge: Merge): ReadonlySet<string> {
  let allowed: ReadonlySet<string> | undefined;
  for (const { fragment, from } of merge.layers) {
    const words = fragment.passthrough;
    if (!words) continue;
    const before: ReadonlySet<string> | undefined = allowed;
    allowed = new Set(before ? words.filter((word) => before.has(word)) : words);
    merge.note('passthrough', words.join(', ') || 'none', from);
  }
  if (!allowed) merge.note('passthrough', [...HARMLESS_PATHS].join(', '), BUILT_IN);
  return allowed ?? HARMLESS_PATHS;
}

function mergeResponseCache(merge: Merge, retention: boolean): ResolvedPolicy['responseCache'] {
  const mode = merge.field('caching.responseCache.mode', ({ caching }) => caching?.responseCache?.mode, 'Disabled');
  const ttlSeconds = merge.field(
    'caching.responseCache.ttlSeconds',
    ({ caching }) => caching?.responseCache?.ttlSeconds,
    DEFAULT_TTL_SECONDS,
  );
  // Each fragment that enables it enables retention too, but a stronger one may have withdrawn that. spec 4.3.4
  return Object.freeze({ enabled: retention && mode === 'Enabled', ttlSeconds });
}

/** Mode and scope belong together: a mode is never combined with another fragment's scope. */
function mergeScopeGuard(merge: Merge): ResolvedPolicy['scopeGuard'] {
  const off: { readonly value: NonNullable<PolicyFragment['scopeGuard']>; readonly from: string } = {
    value: { mode: 'Off' },
    from: BUILT_IN,
  };
  const guard = merge.decide(
    'scopeGuard.mode',
    ({ fragment }) => fragment.scopeGuard,
    off,
    ({ mode }) => toSnapshot('scopeGuardMode', mode),
  );
  if (guard.mode === 'Off') return Object.freeze({ mode: 'off' });
  return Object.freeze({
    mode: toSnapshot('scopeGuardMode', guard.mode),
    ...(guard.scope !== undefined && { scope: guard.scope }),
  });
}
