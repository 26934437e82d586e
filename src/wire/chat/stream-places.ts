import type { Usage } from '../answer/usage.ts';
import type { Delta } from '../hub/codec.ts';
import type { WireDocument } from '../document/document.ts';
import { isObject, type Json, type JsonObject } from '../document/json.ts';
import { member, type JsonNode } from '../document/scan.ts';
import { CALL_TEXTS, textKind } from './answer-texts.ts';
import { calledIn } from './read-answer.ts';
import { choiceIndex, finishWord } from './read-stream.ts';
import { writeUsage } from './usage.ts';

/** Every string below `choices[]`: content, refusal, reasoning, tool-call arguments, and members yet unknown. */
export function deltas(frame: WireDocument, jsonAnswer: boolean): readonly Delta[] {
  const found: Delta[] = [];
  const visit = (node: JsonNode, channel: string, name: string, call?: string): void => {
    if (node.kind === 'string') {
      found.push({ channel, node, kind: textKind(name, jsonAnswer), ...(call !== undefined && { call }) });
    } else if (node.kind === 'array') {
      for (const [position, item] of node.items.entries()) {
        visit(item, `${channel}/${indexed(item, position)}`, name, call);
      }
    } else if (node.kind === 'object') {
      const told = calledIn(node, name)?.told;
      for (const { key, value } of node.members) {
        // A member name with a slash would make two channels one; it is left alone rather than mixed up.
        if (key.value.includes('/')) continue;
        visit(value, `${channel}/${key.value}`, key.value, value === told ? channel : call);
      }
    }
  };
  const choices = member(frame.root, 'choices');
  if (choices?.kind !== 'array') return found;
  for (const [position, choice] of choices.items.entries()) visit(choice, indexed(choice, position), '');
  return found;
}

/** The tools that a chunk says are called. */
export function calls(frame: JsonObject): readonly { readonly call: string; readonly tool: string }[] {
  const found: { call: string; tool: string }[] = [];
  const visit = (value: Json | undefined, channel: string, name: string): void => {
    if (Array.isArray(value)) {
      for (const [position, item] of (value as readonly Json[]).entries()) {
        const index = isObject(item) && typeof item['index'] === 'number' ? item['index'] : position;
        visit(item, `${channel}/${index}`, name);
      }
    } else if (isObject(value)) {
      const tool = value['name'];
      if (Object.hasOwn(CALL_TEXTS, name) && typeof tool === 'string' && tool !== '')
        found.push({ call: channel, tool });
      for (const key of Object.keys(value)) {
        if (HOLD_CALLS.has(key)) visit(value[key], `${channel}/${key}`, key);
      }
    }
  };
  const choices = Array.isArray(frame['choices']) ? (frame['choices'] as readonly Json[]) : [];
  for (const [position, choice] of choices.entries()) {
    if (isObject(choice)) visit(choice, String(choiceIndex(choice, position)), '');
  }
  return found;
}

/** Where a chunk has calls. */
const HOLD_CALLS = new Set(['delta', 'message', 'tool_calls', ...Object.keys(CALL_TEXTS)]);

/** Parts of a stream are identified by their `index` member, not by their position in this frame's array. */
function indexed(node: JsonNode, position: number): string {
  const index = member(node, 'index');
  return index?.kind === 'number' ? index.source : String(position);
}

/** A chunk that says only `text` on `channel` (`0/delta/tool_calls/1/function/arguments`). */
export function deltaFrame(like: JsonObject, channel: string, text: string): JsonObject {
  const [choice, ...path] = channel.split('/');
  let value: Json = text;
  for (let at = path.length - 1; at >= 0; at--) {
    const name = path[at]!;
    if (/^\d+$/.test(name)) value = [{ index: Number(name), ...(value as JsonObject) }];
    else value = { [name]: value };
  }
  return {
    ...envelope(like),
    choices: [{ index: Number(choice), delta: {}, ...(value as JsonObject), finish_reason: null }],
  };
}

/** The last chunk of a stream whose client asked for usage. // spec 6.1.2 */
export function usageFrame(like: JsonObject, usage: Usage): JsonObject {
  return { ...envelope(like), choices: [], usage: writeUsage(usage) };
}

function envelope(like: JsonObject): JsonObject {
  const { id, created, model } = like;
  return { id: id ?? '', object: 'chat.completion.chunk', created: created ?? 0, model: model ?? '' };
}

/** Channels that end with a chunk: all of the choices that are complete. */
export function ends({ choices }: JsonObject): readonly string[] {
  const found: string[] = [];
  if (!Array.isArray(choices)) return found;
  for (const [at, choice] of (choices as readonly Json[]).entries()) {
    if (isObject(choice) && finishWord(choice) !== undefined) found.push(`${choiceIndex(choice, at)}/`);
  }
  return found;
}

/** UTF-8 bytes of text in a chunk. */
export function outputBytes({ choices }: JsonObject): number {
  let sum = 0;
  if (!Array.isArray(choices)) return sum;
  for (const choice of choices as readonly Json[]) {
    if (isObject(choice)) sum += textBytes(choice['delta']) + textBytes(choice['text']);
  }
  return sum;
}

function textBytes(value: Json | undefined): number {
  if (typeof value === 'string') return Buffer.byteLength(value);
  if (Array.isArray(value)) return (value as readonly Json[]).reduce<number>((sum, item) => sum + textBytes(item), 0);
  if (!isObject(value)) return 0;
  let sum = 0;
  for (const name in value) if (name !== 'role' && name !== 'id' && name !== 'type') sum += textBytes(value[name]);
  return sum;
}
