import type { ProviderConfig } from '#/config/snapshot.ts';
import type { FitContext } from '#/ports/provider.ts';
import { cacheMarkers } from '#/wire/request/cache-markers.ts';
import type { WireDocument } from '#/wire/document/document.ts';
import type { Traits } from '#/wire/hub/traits.ts';
import type { Fitting } from './fitting.ts';
import { promptCacheRule } from './prompt-cache.ts';

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
