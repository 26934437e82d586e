import { readId } from '../answer/answer-id.ts';
import type { AnswerFacts, Called, Leaf } from '../hub/codec.ts';
import type { WireDocument } from '../document/document.ts';
import { isObject, type Json, type JsonObject } from '../document/json.ts';
import { member, type JsonNode, type ObjectNode } from '../document/scan.ts';
import { said } from '../request/speakers.ts';
import { CALL_TEXTS, textKind } from './answer-texts.ts';
import { usageOf } from './usage.ts';

/** Reads what a buffered chat answer says about itself. */
export function readAnswer(body: JsonObject): AnswerFacts {
  const choices = Array.isArray(body['choices']) ? (body['choices'] as readonly Json[]) : NOTHING;
  let says = false;
  let inChunks = false;
  for (const choice of choices) {
    if (!isObject(choice)) continue;
    const { message, text, delta } = choice;
    // What else there may be is no proof of output.
    says ||= typeof text === 'string' && text !== '';
    for (const holder of [message, delta]) {
      if (!isObject(holder)) continue;
      const { content } = holder;
      inChunks ||= Array.isArray(content);
      if (holder === message) says ||= (typeof content === 'string' && content !== '') || isObject(callsOf(holder)[0]);
    }
  }
  const read = {
    id: readId(body['id']),
    usage: usageOf(body),
    choices: choices.length,
    says,
    complete: choices.length > 0,
  };
  return inChunks ? { ...read, inChunks } : read;
}

const NOTHING: readonly Json[] = [];

function callsOf({ tool_calls: calls }: JsonObject): readonly Json[] {
  return Array.isArray(calls) ? (calls as readonly Json[]) : [];
}

/** The tool that this object calls, with its arguments; undefined without a call. */
export function calledIn(node: ObjectNode, name: string): Called | undefined {
  const holds = Object.hasOwn(CALL_TEXTS, name) ? CALL_TEXTS[name]!.told : undefined;
  const told = holds === undefined ? undefined : member(node, holds);
  return told && { tool: said(node, 'name'), told, name: holds! };
}

/** Every string value of a chat answer. */
export function answerLeaves(answer: WireDocument, jsonAnswer: boolean): readonly Leaf[] {
  const found: Leaf[] = [];
  const visit = (node: JsonNode, name: string, called?: Called): void => {
    if (node.kind === 'string') {
      found.push({ node, text: node.value, kind: textKind(name, jsonAnswer), ...(called && { called }) });
    } else if (node.kind === 'array') for (const item of node.items) visit(item, name, called);
    else if (node.kind === 'object') {
      const calls = called ? undefined : calledIn(node, name);
      for (const { key, value } of node.members) visit(value, key.value, value === calls?.told ? calls : called);
    }
  };
  visit(answer.root, '');
  return found;
}
