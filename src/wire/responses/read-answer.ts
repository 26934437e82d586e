import { readId } from '../answer/answer-id.ts';
import type { AnswerFacts, Called, Leaf } from '../hub/codec.ts';
import type { WireDocument } from '../document/document.ts';
import { isObject, type Json, type JsonObject } from '../document/json.ts';
import { member, type JsonNode, type ObjectNode, type StringNode } from '../document/scan.ts';
import { said } from '../request/speakers.ts';
import { calledName } from './read-speakers.ts';
import { tellsTool, WHOLE_ANSWERS } from './stream-texts.ts';
import { usageOf } from './usage.ts';

/** States of a response in which it is no answer (yet). */
const UNANSWERED = new Set<unknown>(['failed', 'cancelled', 'queued', 'in_progress']);

/** Whether a body is an answer of this family: one with output that has not failed. */
export function isAnswer(body: JsonObject): boolean {
  return Array.isArray(body['output']) && !UNANSWERED.has(body['status']);
}

/** Reads what a buffered response says about itself. */
export function readAnswer(body: JsonObject): AnswerFacts {
  return { id: readId(body['id']), usage: usageOf(body), says: saysAny(body['output']), complete: isAnswer(body) };
}

/** Whether a message or a call of a function is in it: what else there may be is no proof of output. */
function saysAny(output: Json | undefined): boolean {
  if (!Array.isArray(output)) return false;
  return (output as readonly Json[]).some((item) => {
    if (!isObject(item)) return false;
    const { type, content } = item;
    return type === 'function_call' || (type === 'message' && Array.isArray(content) && content.length > 0);
  });
}

/** Objects whose `text` is what the model answered. */
const ANSWER_TEXTS = new Set(['output_text', ...WHOLE_ANSWERS]);

/** Members of a call's item that are not told to its tool. */
const ABOUT_CALLS = new Set([
  'id',
  'call_id',
  'type',
  'status',
  'name',
  'namespace',
  'server_label',
  'container_id',
  'approval_request_id',
  'output',
  'outputs',
  'result',
  'results',
  'error',
]);

/** What is told to the tool that an item, or an event, calls; undefined where it calls none. */
function calledIn(node: ObjectNode): ((name: string, told: JsonNode) => Called | undefined) | undefined {
  const type = said(node, 'type');
  if (!type.endsWith('_call') && !tellsTool(type, '.done')) return undefined;
  const tool = type.endsWith('_call') ? calledName(node, '_call') : said(node, 'name');
  return (name, told) => (ABOUT_CALLS.has(name) || name === 'item_id' ? undefined : { tool, told, name });
}

/**
 * Tells every string value below a node and whether it is JSON of its own: arguments of calls, and the answer where JSON
 * was asked for. Reasoning and refusals never are. Besides, which call of a tool it is within.
 */
export function visitStrings(
  root: JsonNode,
  jsonAnswer: boolean,
  found: (node: StringNode, kind: 'text' | 'json', called?: Called) => void,
): void {
  const visit = (node: JsonNode, isJson: boolean, called?: Called): void => {
    if (node.kind === 'string') found(node, isJson ? 'json' : 'text', called);
    else if (node.kind === 'array') for (const item of node.items) visit(item, false, called);
    else if (node.kind === 'object') {
      const type = member(node, 'type');
      const answers = jsonAnswer && type?.kind === 'string' && ANSWER_TEXTS.has(type.value);
      const calls = called ? undefined : calledIn(node);
      for (const { key, value } of node.members) {
        const json = key.value === 'arguments' || (answers && key.value === 'text');
        visit(value, json, called ?? calls?.(key.value, value));
      }
    }
  };
  visit(root, false);
}

/** Every string value of a response. */
export function answerLeaves(answer: WireDocument, jsonAnswer: boolean): readonly Leaf[] {
  const leaves: Leaf[] = [];
  visitStrings(answer.root, jsonAnswer, (node, kind, called) =>
    leaves.push({ node, text: node.value, kind, ...(called && { called }) }),
  );
  return leaves;
}
