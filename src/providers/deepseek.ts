import { deepseek as vendor } from '#/vendors/deepseek.ts';
import { setMember } from '#/wire/document/document.ts';
import { isObject } from '#/wire/document/json.ts';
import { member, type JsonNode, type ObjectNode } from '#/wire/document/scan.ts';
import { compatible } from './base/compatible.ts';
import type { Fitting } from './fit/fitting.ts';

/** Tells it not to think by a member of its own, and keeps its thoughts where it needs them. // wire-formats 2.3 */
export const deepseek = compatible(vendor, { fitChat: fitThinking });

function fitThinking(fitting: Fitting): void {
  const thinking = fitting.value('thinking');
  if (fitting.value('reasoning_effort') === 'none') {
    fitting.remove(fitting.root, 'reasoning_effort');
    fitting.set('thinking', '{"type":"disabled"}');
  } else if (!isObject(thinking) || thinking['type'] !== 'disabled') addThoughts(fitting);
}

/**
 * In thinking mode it continues after tool calls only if every answer before contains its reasoning. An answer without
 * kept reasoning, or from another model, gets empty reasoning.
 */
function addThoughts(fitting: Fitting): void {
  const messages = fitting.node('messages');
  const answers = messages?.kind === 'array' ? messages.items.filter(isAnswer) : [];
  if (!answers.some((answer) => member(answer, 'tool_calls')?.kind === 'array')) return;
  for (const answer of answers) {
    if (member(answer, 'reasoning_content')?.kind !== 'string') {
      fitting.edit(setMember(answer, 'reasoning_content', '""'));
    }
  }
}

function isAnswer(message: JsonNode): message is ObjectNode {
  const role = member(message, 'role');
  return message.kind === 'object' && role?.kind === 'string' && role.value === 'assistant';
}
