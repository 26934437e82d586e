import { readId } from '../answer/answer-id.ts';
import type { Finish, FinishReason, ModelAnswer, Part, ToolCallPart } from '../hub/canonical.ts';
import { isObject, type Json, type JsonObject } from '../document/json.ts';
import { defined } from '../hub/defined-members.ts';
import { isArray } from '../request/request-shape.ts';
import { mintedId } from '../hub/tool-ids.ts';
import { readReasoning } from './reasoning.ts';
import { isAnswer } from './read-answer.ts';
import { usageOf } from './usage.ts';

/** A whole response in the hub's form; undefined if it is not one, or has failed. */
export function decodeAnswer(body: JsonObject): ModelAnswer | undefined {
  if (!isAnswer(body) || !isArray(body['output'])) return undefined;
  const parts = body['output'].flatMap((item) => (isObject(item) ? decodeItem(item) : []));
  const types = new Set(parts.map(({ type }) => type));
  return defined<ModelAnswer>({
    id: readId(body['id']),
    parts,
    finish: finishOf(body, types),
    usage: usageOf(body),
  });
}

const INCOMPLETE: Readonly<Record<string, FinishReason>> = { content_filter: 'filter', steered: 'stop' };

/** Why a response ended; `types` are those of the parts it has. // wire-formats 3.1 */
export function finishOf(response: JsonObject, types: ReadonlySet<Part['type']>): Finish {
  if (response['status'] === 'incomplete') {
    const details = response['incomplete_details'];
    const why = isObject(details) ? details['reason'] : undefined;
    const known = typeof why === 'string' && Object.hasOwn(INCOMPLETE, why) ? INCOMPLETE[why] : undefined;
    return { reason: known ?? 'length' };
  }
  if (types.has('tool-call')) return { reason: 'tool-calls' };
  return { reason: types.has('refusal') ? 'refusal' : 'stop' };
}

/** The parts of an output item. What a provider's own tools did is opaque to others. */
function decodeItem(item: JsonObject): Part[] {
  switch (item['type']) {
    case 'message':
      return isArray(item['content']) ? item['content'].flatMap(decodeContent) : [];
    case 'function_call':
      return [decodeCall(item)];
    case 'reasoning': {
      const part = readReasoning(item);
      return part === undefined ? [] : [part];
    }
    default:
      return [opaqueItem(item)];
  }
}

/** One piece of a message: text or a refusal, if it says anything. Annotations are not carried over. */
export function decodeContent(content: Json): Part[] {
  if (!isObject(content)) return [];
  const { type, text, refusal } = content;
  if (type === 'output_text') return typeof text === 'string' && text !== '' ? [{ type: 'text', text }] : [];
  if (type === 'refusal')
    return typeof refusal === 'string' && refusal !== '' ? [{ type: 'refusal', text: refusal }] : [];
  return [opaqueItem(content)];
}

/** A function call. One without an id of its own gets one that stays the same. */
export function decodeCall(item: JsonObject): ToolCallPart {
  const { call_id: callId, id, name } = item;
  const ids = [callId, id].filter((value) => typeof value === 'string' && value !== '');
  return {
    type: 'tool-call',
    id: (ids[0] as string | undefined) ?? mintedId(JSON.stringify(item)),
    name: typeof name === 'string' ? name : '',
    argumentsJson: typeof item['arguments'] === 'string' ? item['arguments'] : '',
  };
}

/** An item, or a piece of content, that only this family understands. */
export function opaqueItem(item: JsonObject): Part {
  const name = typeof item['type'] === 'string' ? item['type'] : 'unknown';
  return { type: 'opaque', family: 'responses', name, value: item };
}
