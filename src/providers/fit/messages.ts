import type { ProviderConfig } from '#/config/snapshot.ts';
import type { FitContext } from '#/ports/provider.ts';
import type { Lose } from '#/wire/hub/canonical.ts';
import type { Edit, WireDocument } from '#/wire/document/document.ts';
import type { Traits } from '#/wire/hub/traits.ts';
import { fitCache } from './cache.ts';
import { fitThinking } from './thinking.ts';
import { fitBlockToolIds } from './tool-ids.ts';
import { Fitting } from './fitting.ts';

/** Edits a messages body needs for its own vendor: cache markers only where the organization wants them. // spec 4.3.3 */
export function fitMessages(
  document: WireDocument,
  config: ProviderConfig,
  traits: Traits,
  context: FitContext,
  lose: Lose,
): readonly Edit[] {
  const fitting = new Fitting(document, lose);
  fitCache(fitting, document, config, traits, context);
  fitThinking(fitting);
  if (config.vendor === 'anthropic') fitBlockToolIds(fitting);
  // What other vendors call the default. // wire-formats 2.7
  if (config.vendor === 'anthropic' && fitting.value('service_tier') === 'default') {
    fitting.set('service_tier', '"standard_only"');
  }
  // A cloud's clients say in the body what this vendor takes in headers.
  if (config.vendor === 'anthropic' && context.dialect) {
    for (const name of ['anthropic_version', 'anthropic_beta']) fitting.remove(fitting.root, name);
  }
  for (const name of config.models.get(context.model)?.rejects ?? []) fitting.drop(name);
  return fitting.edits();
}
