import { LRUCache } from 'lru-cache';
import type { ModelConfig, ProviderConfig } from '#/config/snapshot.ts';
import { effortWords, levelWords } from '#/vendors/efforts.ts';
import { VENDORS } from '#/vendors/list.ts';
import { UNKNOWN_MODEL, type ReasoningTraits, type Traits } from '#/wire/hub/traits.ts';
import { CLAUDE_ROWS } from './claude.ts';
import { GOOGLE_ROWS } from './google.ts';
import { MISTRAL_ROWS } from './mistral.ts';
import { OPENAI_ROWS } from './openai.ts';
import { OTHER_ROWS } from './others.ts';
import type { Row } from './row.ts';
import { promptCacheMode } from '../fit/cache.ts';

const ROWS: readonly Row[] = [...OPENAI_ROWS, ...CLAUDE_ROWS, ...GOOGLE_ROWS, ...MISTRAL_ROWS, ...OTHER_ROWS];

/** Ids come from clients where a provider lists no models. */
const MAX_KNOWN = 512;
const MAX_NAME = 512;
const known = new WeakMap<ProviderConfig, LRUCache<string, Traits>>();

/**
 * Traits of a model at a provider: those of any model, of the vendor's, of the catalogue's rows for
 * this id or for the provider's own name of it, and of the configuration, each overriding the one before.
 */
export function traitsOf(config: ProviderConfig, model: string): Traits {
  let ofProvider = known.get(config);
  if (!ofProvider) known.set(config, (ofProvider = new LRUCache({ max: MAX_KNOWN })));
  let traits = ofProvider.get(model);
  if (!traits) ofProvider.set(model, (traits = gather(config, model)));
  return traits;
}

function gather(config: ProviderConfig, model: string): Traits {
  const settings = config.models.get(model);
  const names = [settings?.upstreamId, model].flatMap((name) => name?.slice(0, MAX_NAME).toLowerCase() ?? []);
  const rejects = new Set(settings?.rejects);
  let traits: Traits = { ...UNKNOWN_MODEL, ...VENDORS[config.vendor].traits };
  for (const row of ROWS) {
    if (row.vendors && !row.vendors.includes(config.vendor)) continue;
    if (!names.some((name) => row.match.test(name))) continue;
    traits = { ...traits, ...row.traits };
    for (const name of row.traits.rejects ?? []) rejects.add(name);
  }
  return Object.freeze({ ...traits, ...overrides(config, settings, traits), rejects });
}

/** What the configuration says, over what the catalogue says. */
function overrides(config: ProviderConfig, settings: ModelConfig | undefined, traits: Traits): Partial<Traits> {
  const { vision, reasoning, decisions, maxOutputTokens } = settings ?? {};
  const { nativeFiles, promptCache } = config;
  const marked = promptCache === 'explicit_markers' || promptCache === 'cache_point';
  return {
    ...(vision !== undefined && { vision }),
    ...(maxOutputTokens !== undefined && { maxOutputTokens }),
    ...(decisions !== undefined && { decides: decisions }),
    ...(reasoning !== undefined && { reasoning: reasoningAs(reasoning, traits.reasoning) }),
    ...(nativeFiles !== undefined && { documents: nativeFiles }),
    ...(promptCacheMode(config) === 'passthrough' && { cacheMarks: 'as-written' as const }),
    ...(promptCache === 'none' && { cacheMarks: 'none' as const }),
    ...(marked && traits.cacheMarks === 'none' && { cacheMarks: 'five-minutes' as const }),
  };
}

const CONTROLS = {
  none: 'none',
  effort: 'effort',
  thinking_level: 'level',
  adaptive_thinking: 'adaptive',
  thinking_budget: 'budget',
} as const;

const ASSUMED_BUDGET: NonNullable<ReasoningTraits['budget']> = {
  shares: { minimal: 0, low: 0.1, medium: 0.3, high: 0.6, xhigh: 0.6, max: 0.6 },
  least: 1024,
};

/** The catalogue's own words for a control where it has them, else what most models with that control take. */
function reasoningAs(declared: NonNullable<ModelConfig['reasoning']>, found: ReasoningTraits): ReasoningTraits {
  const control = CONTROLS[declared];
  if (control === found.control) return found;
  const { canDisable } = found;
  switch (control) {
    case 'none':
      return { control, words: {}, canDisable };
    case 'level':
      return { control, words: levelWords(['minimal', 'low', 'medium', 'high']), canDisable };
    case 'budget':
      return { control, words: {}, budget: ASSUMED_BUDGET, canDisable };
    default:
      return { control, words: effortWords(['low', 'medium', 'high']), canDisable };
  }
}
