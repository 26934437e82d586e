import type { ProviderConfig } from '#/config/snapshot.ts';
import type { FitContext } from '#/ports/provider.ts';
import type { Lose } from '#/wire/hub/canonical.ts';
import type { Edit, WireDocument } from '#/wire/document/document.ts';
import type { Traits } from '#/wire/hub/traits.ts';
import type { VendorRules } from '#/vendors/rules.ts';
import { fitCache } from './cache.ts';
import { fitChat } from './chat.ts';
import { fitResponses } from './responses.ts';
import { Fitting, fitMembers, fitStreamOptions } from './fitting.ts';

/** Whose request is fitted, and to what. */
export interface FitTarget {
  readonly config: ProviderConfig;
  readonly traits: Traits;
  readonly rules: VendorRules;
  /** Done to chat requests before the rules. */
  readonly fitChat?: ((fitting: Fitting) => void) | undefined;
}

/**
 * Edits that make a body acceptable to an OpenAI-compatible vendor. Cache directives go first: what replaces a part
 * also cancels removals inside it.
 */
export function fitOpenAi(
  document: WireDocument,
  { config, traits, rules, fitChat: quirk }: FitTarget,
  context: FitContext,
  lose: Lose,
): readonly Edit[] {
  const fitting = new Fitting(document, lose);
  const { family } = document;
  if (traits.cacheMarks !== 'as-written') fitCache(fitting, document, config, traits, context);
  if (family === 'chat' && rules.untouched !== true) {
    quirk?.(fitting);
    fitChat(fitting, traits, rules.chat, context);
  } else if (family === 'responses' && rules.untouched !== true) {
    fitResponses(fitting, traits, rules.responses ?? {}, config);
  } else {
    const declared = config.models.get(context.model)?.rejects ?? [];
    const ofFamily = family === 'chat' ? undefined : rules[family];
    if (ofFamily || declared.length > 0) fitMembers(fitting, ofFamily ?? {}, new Set(declared));
    if (family === 'chat' || family === 'completions') fitStreamOptions(fitting, rules.chat.streamOptions, context);
  }
  return fitting.edits();
}
