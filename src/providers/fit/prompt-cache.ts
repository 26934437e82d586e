import type { ProviderConfig } from '#/config/snapshot.ts';
import { VENDORS } from '#/vendors/list.ts';
import type { PromptCacheMode } from '#/vendors/vendor.ts';
import type { FitContext } from '#/ports/provider.ts';
import type { Traits } from '#/wire/hub/traits.ts';

/** How a provider caches prompts. */
export function promptCacheMode({ promptCache, vendor }: ProviderConfig): PromptCacheMode {
  return promptCache ?? VENDORS[vendor].promptCache;
}

/** What becomes of a request's cache directives. */
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
 * managed account whose cache goes by key, the key is always the organization's: it keeps tenants' caches apart.
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
