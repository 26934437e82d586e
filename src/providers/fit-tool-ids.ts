import { setString } from '#wire/document.ts';
import { member, type JsonNode } from '#wire/scan.ts';
import { toolIds } from '#wire/tool-ids.ts';
import type { Traits } from '#wire/traits.ts';
import type { Fitting } from './fitting.ts';

/** Ids of calls that another model made are respelled for models that take none but their own. // wire-formats 2.1 */
export function fitChatToolIds(fitting: Fitting, message: JsonNode, rule: Traits['toolIds']): void {
  if (rule !== 'nine') return;
  respell(fitting, member(message, 'tool_call_id'), rule);
  const calls = member(message, 'tool_calls');
  if (calls?.kind === 'array') for (const call of calls.items) respell(fitting, member(call, 'id'), rule);
}

/** `fitChatToolIds` for the items of a responses request. */
export function fitItemToolIds(fitting: Fitting, rule: Traits['toolIds']): void {
  const items = fitting.node('input');
  if (rule !== 'nine' || items?.kind !== 'array') return;
  for (const item of items.items) respell(fitting, member(item, 'call_id'), rule);
}

function respell(fitting: Fitting, id: JsonNode | undefined, rule: Traits['toolIds']): void {
  if (id?.kind !== 'string') return;
  const taken = toolIds(rule)(id.value);
  if (taken !== id.value) fitting.edit(setString(id, taken));
}
