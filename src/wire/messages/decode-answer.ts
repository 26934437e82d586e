import { readId } from '../answer/answer-id.ts';
import type { ModelAnswer, Part, ReasoningPart } from '../hub/canonical.ts';
import { isObject, type Json, type JsonObject } from '../document/json.ts';
import { readFinish } from './finish.ts';
import { isAnswer } from './read-answer.ts';
import { readUsage } from './usage.ts';

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

/** A block that a model wrote, in the hub's words; one that only this family knows is kept as it is. */
export function decodeBlock(block: JsonObject): Part {
  const { type } = block;
  if (type === 'text') return { type: 'text', text: stringOf(block, 'text') };
  if (type === 'thinking') return decodeThinking(block);
  if (type === 'tool_use') return decodeCall(block);
  return { type: 'opaque', family: 'messages', name: typeof type === 'string' ? type : 'block', value: block };
}

/** Thinking; with proof if it is signed. */
export function decodeThinking(block: JsonObject): ReasoningPart {
  const value = stringOf(block, 'signature');
  const text = stringOf(block, 'thinking');
  return { type: 'reasoning', text, ...(value === '' ? {} : { proof: { family: 'messages', value } }) };
}

function decodeCall(block: JsonObject): Part {
  const argumentsJson = JSON.stringify(block['input'] ?? {});
  return { type: 'tool-call', id: stringOf(block, 'id'), name: stringOf(block, 'name'), argumentsJson };
}

/** A member that should be a string; empty if it is not. */
export function stringOf(object: JsonObject, name: string): string {
  const value = object[name];
  return typeof value === 'string' ? value : '';
}
