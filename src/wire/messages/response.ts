import { readId } from '../answer/answer-id.ts';
import type { ModelAnswer, Part } from '../hub/canonical.ts';
import type { AnswerContext, AnswerFacts, Called, Leaf } from '../hub/codec.ts';
import type { WireDocument } from '../document/document.ts';
import { isObject, type Json, type JsonObject } from '../document/json.ts';
import { isArray } from '../request/request-shape.ts';
import { member, type JsonNode } from '../document/scan.ts';
import { argumentsObject } from '../hub/tool-arguments.ts';
import { NO_USAGE } from '../answer/usage.ts';
import { decodeBlock } from './answer-blocks.ts';
import { readFinish, writeFinish } from './finish.ts';
import { readUsage, writeUsage } from './usage.ts';

/** Whether a body is an answer of this family. */
function isAnswer(body: JsonObject): boolean {
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

/** A message in the hub's words; undefined where it is no answer of this family. */
export function decodeAnswer(body: JsonObject): ModelAnswer | undefined {
  if (!isAnswer(body)) return undefined;
  const id = readId(body['id']);
  const usage = readUsage(body['usage']);
  const blocks = (body['content'] as readonly Json[]).filter(isObject);
  return {
    ...(id === undefined ? {} : { id }),
    parts: blocks.map(decodeBlock),
    finish: readFinish(body) ?? { reason: 'stop' },
    ...(usage === undefined ? {} : { usage }),
  };
}

/** An answer as a message. Input that nobody has counted is told as estimated. */
export function encodeAnswer(answer: ModelAnswer, context: AnswerContext): JsonObject {
  const usage = answer.usage ?? { ...NO_USAGE, input: context.estimatedInput };
  const called = answer.parts.some(({ type }) => type === 'tool-call');
  return {
    ...envelope(context),
    content: answer.parts.flatMap(encodeBlock),
    ...writeFinish(answer.finish, called),
    usage: writeUsage(usage),
  };
}

/** What every message begins with. */
export function envelope({ callId, model }: AnswerContext): JsonObject {
  return { id: `msg_${callId.replaceAll('-', '')}`, type: 'message', role: 'assistant', model };
}

/** A block of an answer; nothing for parts that this family has no place for there. // wire-formats 2.2 */
function encodeBlock(part: Part): readonly JsonObject[] {
  switch (part.type) {
    case 'text':
    case 'refusal':
      return part.text === '' ? [] : [{ type: 'text', text: part.text }];
    case 'reasoning': {
      const signature = part.proof?.family === 'messages' ? part.proof.value : '';
      return part.text === '' && signature === '' ? [] : [{ type: 'thinking', thinking: part.text, signature }];
    }
    case 'tool-call':
      return [{ type: 'tool_use', id: part.id, name: part.name, input: argumentsObject(part.argumentsJson) }];
    case 'opaque':
      return part.family === 'messages' && isObject(part.value) ? [part.value] : [];
    case 'media':
    case 'tool-result':
      return [];
  }
}
