import { readId } from '../answer-id.ts';
import type { AnswerFacts, Leaf } from '../codec.ts';
import type { WireDocument } from '../document.ts';
import type { JsonObject } from '../json.ts';
import { member, type JsonNode, type StringNode } from '../scan.ts';
import { usageOf } from './usage.ts';

/** States of a response in which it is no answer (yet). */
const UNANSWERED = new Set<unknown>(['failed', 'cancelled', 'queued', 'in_progress']);

/** Whether a body is an answer of this family: one with output that has not failed. */
export function isAnswer(body: JsonObject): boolean {
  return Array.isArray(body['output']) && !UNANSWERED.has(body['status']);
}

/** Reads what a buffered response says about itself. */
export function readAnswer(body: JsonObject): AnswerFacts {
  return { id: readId(body['id']), usage: usageOf(body), complete: isAnswer(body) };
}

/** Objects whose `text` is what the model answered. */
const ANSWER_TEXTS = new Set(['output_text', 'response.output_text.done']);

/**
 * Tells every string value below a node and whether it is JSON of its own: arguments of calls, and the answer where JSON
 * was asked for. Reasoning and refusals never are.
 */
export function visitStrings(
  root: JsonNode,
  jsonAnswer: boolean,
  found: (node: StringNode, kind: 'text' | 'json') => void,
): void {
  const visit = (node: JsonNode, isJson: boolean): void => {
    if (node.kind === 'string') found(node, isJson ? 'json' : 'text');
    else if (node.kind === 'array') for (const item of node.items) visit(item, false);
    else if (node.kind === 'object') {
      const type = member(node, 'type');
      const answers = jsonAnswer && type?.kind === 'string' && ANSWER_TEXTS.has(type.value);
      for (const { key, value } of node.members) {
        visit(value, key.value === 'arguments' || (answers && key.value === 'text'));
      }
    }
  };
  visit(root, false);
}

/** Every string value of a response. */
export function answerLeaves(answer: WireDocument, jsonAnswer: boolean): readonly Leaf[] {
  const leaves: Leaf[] = [];
  visitStrings(answer.root, jsonAnswer, (node, kind) => leaves.push({ node, text: node.value, kind }));
  return leaves;
}
