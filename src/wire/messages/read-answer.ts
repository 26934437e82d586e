import { readId } from '../answer/answer-id.ts';
import type { AnswerFacts, Called, Leaf } from '../hub/codec.ts';
import type { WireDocument } from '../document/document.ts';
import type { JsonObject } from '../document/json.ts';
import { isArray } from '../request/request-shape.ts';
import { member, type JsonNode } from '../document/scan.ts';
import { readUsage } from './usage.ts';

/** Whether a body is an answer of this family. */
export function isAnswer(body: JsonObject): boolean {
  return body['type'] === 'message' && isArray(body['content']);
}

/** Reads what a buffered message says about itself. */
export function readAnswer(body: JsonObject): AnswerFacts {
  return {
    id: readId(body['id']),
    usage: readUsage(body['usage']),
    says: isArray(body['content']) && body['content'].length > 0,
    complete: isAnswer(body),
  };
}

/** Every string value of a message, save signed thinking: it is never rewritten. // spec 4.5.4 */
export function answerLeaves(answer: WireDocument, jsonAnswer: boolean): readonly Leaf[] {
  const found: Leaf[] = [];
  const visit = (node: JsonNode, kind: Leaf['kind'], called?: Called): void => {
    if (node.kind === 'string') found.push({ node, text: node.value, kind, ...(called && { called }) });
    else if (node.kind === 'array') for (const item of node.items) visit(item, 'text', called);
    else if (node.kind === 'object' && (called || !isSigned(node))) {
      const type = called ? '' : textOf(member(node, 'type'));
      const isText = jsonAnswer && type === 'text';
      for (const { key, value } of node.members) {
        const told =
          key.value === 'input' && type.endsWith('tool_use')
            ? { tool: textOf(member(node, 'name')), told: value, name: 'input' }
            : called;
        visit(value, isText && key.value === 'text' ? 'json' : 'text', told);
      }
    }
  };
  visit(answer.root, 'text');
  return found;
}

function isSigned(node: JsonNode): boolean {
  const type = textOf(member(node, 'type'));
  return type === 'redacted_thinking' || (type === 'thinking' && textOf(member(node, 'signature')) !== '');
}

/** The text of a string node, empty for any other. */
export function textOf(node: JsonNode | undefined): string {
  return node?.kind === 'string' ? node.value : '';
}
