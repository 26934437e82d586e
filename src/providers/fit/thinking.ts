import { removeItems } from '#/wire/document/document.ts';
import { member, type JsonNode } from '#/wire/document/scan.ts';
import type { Fitting } from './fitting.ts';

/**
 * Takes `thinking` out of a request whose open tool calls do not begin with thinking: its own was dropped, or another
 * vendor's model made the calls. The vendor answers 400 to such a request with `thinking` enabled, and so it does to
 * thinking within those calls without. Adaptive thinking has no such rule. // spec 4.5.4
 */
export function fitThinking(fitting: Fitting): void {
  if (textOf(member(fitting.node('thinking'), 'type')) !== 'enabled') return;
  const turn = openTurn(itemsOf(fitting.node('messages')));
  const first = turn[0];
  if (first === undefined || isThinking(itemsOf(member(first, 'content'))[0])) return;
  fitting.lose('thinking[enabled]');
  fitting.remove(fitting.root, 'thinking');
  for (const message of turn) dropThinking(fitting, member(message, 'content'));
  dropClearing(fitting);
}

/** The assistant's messages since the user last said something: calls, and results in between. None without open calls. */
function openTurn(messages: readonly JsonNode[]): readonly JsonNode[] {
  const turn: JsonNode[] = [];
  // Whether what follows the message that is looked at holds results.
  let answered = false;
  for (let at = messages.length - 1; at >= 0; at--) {
    const message = messages[at]!;
    const role = textOf(member(message, 'role'));
    if (role === 'user') answered ||= hasResults(message);
    else if (role === 'assistant') {
      if (!answered) break;
      turn.push(message);
      if (textOf(member(messages[at - 1], 'role')) !== 'assistant') answered = false;
    }
  }
  return turn.reverse();
}

function hasResults(message: JsonNode): boolean {
  return itemsOf(member(message, 'content')).some((block) => textOf(member(block, 'type')) === 'tool_result');
}

function dropThinking(fitting: Fitting, content: JsonNode | undefined): void {
  if (content?.kind !== 'array' || content.items.every(isThinking)) return;
  const edits = removeItems(content, isThinking);
  if (edits.length > 0) fitting.lose('thinking');
  for (const edit of edits) fitting.edit(edit);
}

/** Drops the edits that clear old thinking: the vendor refuses them in a request without thinking. */
function dropClearing(fitting: Fitting): void {
  const edits = member(fitting.node('context_management'), 'edits');
  if (edits?.kind !== 'array') return;
  const clears = (edit: JsonNode): boolean => textOf(member(edit, 'type'))?.startsWith('clear_thinking') === true;
  if (!edits.items.some(clears)) return;
  if (edits.items.every(clears)) fitting.drop('context_management');
  else for (const edit of removeItems(edits, clears)) fitting.edit(edit);
}

function isThinking(block: JsonNode | undefined): boolean {
  const type = textOf(member(block, 'type'));
  return type === 'thinking' || type === 'redacted_thinking';
}

function itemsOf(node: JsonNode | undefined): readonly JsonNode[] {
  return node?.kind === 'array' ? node.items : [];
}

function textOf(node: JsonNode | undefined): string | undefined {
  return node?.kind === 'string' ? node.value : undefined;
}
