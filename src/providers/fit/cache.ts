import type { ProviderConfig } from '#/config/snapshot.ts';
import type { FitContext } from '#/ports/provider.ts';
import { cacheMarkers } from '#/wire/request/cache-markers.ts';
import type { WireDocument } from '#/wire/document/document.ts';
import type { Traits } from '#/wire/hub/traits.ts';
import type { Fitting } from './fitting.ts';
import { VENDORS } from '#/vendors/list.ts';
import type { PromptCacheMode } from '#/vendors/vendor.ts';

const OPTIONS = ['prompt_cache_options', 'prompt_cache_retention'];
/** Families whose requests can name a cache. */
const KEYED = new Set<string>(['chat', 'responses']);

/** Leaves those cache directives in a body that the table of spec 4.3.2 lets through. */
export function fitCache(
  fitting: Fitting,
  document: WireDocument,
  config: ProviderConfig,
  traits: Traits,
  context: FitContext,
): void {
  const rule = promptCacheRule(config, traits, context);
  if (rule.markers === 'all') return;
  for (const { object, name } of cacheMarkers(document)) {
    if (rule.markers === (name === 'prompt_cache_breakpoint' ? 'breakpoints' : 'explicit')) continue;
    fitting.lose(name);
    fitting.remove(object, name);
  }
  if (!rule.options) for (const name of OPTIONS) fitting.drop(name);
  if (rule.key === 'strip') fitting.drop('prompt_cache_key');
  else if (rule.key === 'own' && KEYED.has(document.family) && !traits.rejects.has('prompt_cache_key')) {
    fitting.set('prompt_cache_key', JSON.stringify(context.organizationCacheKey));
  }
}

/** How a provider caches prompts. */
export function promptCacheMode({ promptCache, vendor }: ProviderConfig): PromptCacheMode {
  return promptCache ?? VENDORS[vendor].promptCache;
}

/** What happens to a request's cache directives. */
export interface PromptCacheRule {
  /** Markers that stay; all others are removed. `all`: nothing is touched. */
  readonly markers: 'all' | 'explicit' | 'breakpoints' | 'none';
  /** `own`: it is set to the organization's. */
  readonly key: 'forward' | 'own' | 'strip';
  /** Whether `prompt_cache_options` and `prompt_cache_retention` stay. */
  readonly options: boolean;
}

const UNTOUCHED: PromptCacheRule = { markers: 'all', key: 'forward', options: true };

/**
 * The table of spec 4.3.2, times the organization's opt-in: off, no directive leaves, save to a server of one's own. On a
 * managed account whose cache uses a key, the key is always the organization's: it keeps tenants' caches apart.
 * // spec 4.3.2, 4.3.3
 */
export function promptCacheRule(config: ProviderConfig, traits: Traits, context: FitContext): PromptCacheRule {
  const mode = promptCacheMode(config);
  if (mode === 'passthrough') return UNTOUCHED;
  const byKey = VENDORS[config.vendor].cachesByKey === true;
  const key = byKey && config.keyOwnership === 'managed' ? 'own' : byKey && context.promptCache ? 'forward' : 'strip';
  if (!context.promptCache || mode === 'none') return { markers: 'none', key, options: false };
  if (byKey) return { markers: 'breakpoints', key, options: true };
  const explicit = mode === 'explicit_markers' || mode === 'cache_point' || (mode === 'implicit' && traits.claude);
  return { markers: explicit && traits.cacheMarks !== 'none' ? 'explicit' : 'none', key, options: false };
}
