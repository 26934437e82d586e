import { setString } from '#/wire/document/document.ts';
import { member, type JsonNode } from '#/wire/document/scan.ts';
import { mintedId, toolIds } from '#/wire/hub/tool-ids.ts';
import type { Traits } from '#/wire/hub/traits.ts';
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

/** What Claude takes; ids of its own are longer than what the hub leaves alone. */
const BLOCK_ID = /^[A-Za-z0-9_-]{1,64}$/;

/** `fitChatToolIds` for the blocks of a messages request, whose vendor takes any id that is spelt plainly. */
export function fitBlockToolIds(fitting: Fitting): void {
  const messages = fitting.node('messages');
  for (const message of messages?.kind === 'array' ? messages.items : []) {
    const content = member(message, 'content');
    for (const block of content?.kind === 'array' ? content.items : []) {
      const type = member(block, 'type');
      const isCall = type?.kind === 'string' && type.value === 'tool_use';
      const isResult = type?.kind === 'string' && type.value === 'tool_result';
      const id = isCall ? member(block, 'id') : isResult ? member(block, 'tool_use_id') : undefined;
      if (id?.kind === 'string' && !BLOCK_ID.test(id.value)) fitting.edit(setString(id, mintedId(id.value)));
    }
  }
}

function respell(fitting: Fitting, id: JsonNode | undefined, rule: Traits['toolIds']): void {
  if (id?.kind !== 'string') return;
  const taken = toolIds(rule)(id.value);
  if (taken !== id.value) fitting.edit(setString(id, taken));
}
