import type { ProviderConfig, VendorId } from '#/config/snapshot.ts';
import type { FitContext } from '#/ports/provider.ts';
import type { Traits } from '#/wire/hub/traits.ts';

type PromptCacheMode = NonNullable<ProviderConfig['promptCache']>;

/** How each vendor caches prompts, where the configuration does not say. // spec 4.3.2 */
const VENDOR_MODES: Readonly<Record<VendorId, PromptCacheMode>> = {
  anthropic: 'explicit_markers',
  bedrock: 'cache_point',
  openai: 'automatic',
  azure: 'automatic',
  gemini: 'implicit',
  vertex: 'implicit',
  mistral: 'automatic',
  deepseek: 'automatic',
  xai: 'automatic',
  groq: 'automatic',
  together: 'automatic',
  fireworks: 'automatic',
  cerebras: 'automatic',
  scaleway: 'none',
  ovhcloud: 'none',
  ionos: 'none',
  nebius: 'none',
  typesafe: 'none',
  custom: 'passthrough',
};

/** The vendors whose `prompt_cache_key` steers their automatic cache. */
const CACHE_BY_KEY: ReadonlySet<VendorId> = new Set<VendorId>(['openai', 'azure']);

/** How a provider caches prompts. */
export function promptCacheMode({ promptCache, vendor }: ProviderConfig): PromptCacheMode {
  return promptCache ?? VENDOR_MODES[vendor];
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
  const byKey = CACHE_BY_KEY.has(config.vendor);
  const key = byKey && config.keyOwnership === 'managed' ? 'own' : byKey && context.promptCache ? 'forward' : 'strip';
  if (!context.promptCache || mode === 'none') return { markers: 'none', key, options: false };
  if (byKey) return { markers: 'breakpoints', key, options: true };
  const explicit = mode === 'explicit_markers' || mode === 'cache_point' || (mode === 'implicit' && traits.claude);
  return { markers: explicit && traits.cacheMarks !== 'none' ? 'explicit' : 'none', key, options: false };
}
