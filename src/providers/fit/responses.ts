import type { ProviderConfig } from '#/config/snapshot.ts';
import { setString } from '#/wire/document/document.ts';
import { member } from '#/wire/document/scan.ts';
import type { Traits } from '#/wire/hub/traits.ts';
import type { FamilyRules } from '#/vendors/rules.ts';
import { effortWord } from './effort.ts';
import { fitSampling } from './sampling.ts';
import { fitItemToolIds } from './tool-ids.ts';
import { type Fitting, fitMembers } from './fitting.ts';

/** Members of the chat family only: what a model rejects there by these names it does not have here. */
const OF_CHAT = new Set(['presence_penalty', 'frequency_penalty', 'logit_bias', 'logprobs']);

/** Fits a responses request to a vendor and a model. On a managed account nothing is stored. // wire-formats 5.1 */
export function fitResponses(fitting: Fitting, traits: Traits, rules: FamilyRules, config: ProviderConfig): void {
  fitMembers(fitting, rules, new Set([...traits.rejects].filter((name) => !OF_CHAT.has(name))));
  const stores = rules.members === undefined || rules.members.has('store');
  if (config.keyOwnership === 'managed' && stores && fitting.value('store') !== false) fitting.set('store', 'false');
  fitSampling(fitting, traits, fitEffort(fitting, traits));
  fitItemToolIds(fitting, traits.toolIds);
}

/** Writes the effort in the model's words. Returns whether thinking is off, or not available. */
function fitEffort(fitting: Fitting, traits: Traits): boolean {
  const reasoning = fitting.node('reasoning');
  const effort = member(reasoning, 'effort');
  if (reasoning?.kind !== 'object' || effort?.kind !== 'string') return traits.reasoning.control !== 'effort';
  const word = effortWord(effort.value, traits);
  if (word === undefined) {
    fitting.lose('reasoning.effort');
    fitting.remove(reasoning, 'effort');
    return true;
  }
  if (word !== effort.value) fitting.edit(setString(effort, word));
  return word === 'none';
}
