import type { Usage } from '../answer/usage.ts';
import { refuseUnasked } from '../answer/answer-bounds.ts';
import { readId } from '../answer/answer-id.ts';
import type { Delta, FrameFacts, StreamReader } from '../hub/codec.ts';
import type { WireDocument } from '../document/document.ts';
import { errorKind, errorMessage } from '../answer/error-message.ts';
import { isObject, type Json, type JsonObject } from '../document/json.ts';
import { member, type JsonNode } from '../document/scan.ts';
import type { SseEvent } from '../answer/sse.ts';
import { hasChunks } from './flat-content.ts';
import { calledIn, CALLS, textKind } from './response.ts';
import { usageOf, writeUsage } from './usage.ts';

const NOTHING: Omit<FrameFacts, 'kind'> = {
  id: undefined,
  usage: undefined,
  outputBytes: 0,
  ends: [],
  error: undefined,
};

/** Reads a stream of chat or plain completions, with the deviations that compatible vendors are known for. */
export class ChatStreamReader implements StreamReader {
  #done = false;
  readonly #answers: number;
  readonly #begun = new Set<number>();
  readonly #finished = new Set<number>();

  /** `answers`: how many the request asks for. */
  constructor(answers = Infinity) {
    this.#answers = answers;
  }

  /** `[DONE]` came, or every choice has its finish reason: some vendors send no `[DONE]`. */
  get finished(): boolean {
    return this.#done || (this.#begun.size > 0 && this.#begun.size === this.#finished.size);
  }

  /** Throws `SyntaxError` when the data is not JSON, `AnswerOutOfBounds` for choices that nobody asked for. */
  read(event: SseEvent): FrameFacts {
    if (event.data === undefined || event.data === '') return { kind: 'other', ...NOTHING };
    if (event.data.trim() === '[DONE]') {
      this.#done = true;
      return { kind: 'done', ...NOTHING };
    }
    const body: unknown = JSON.parse(event.data);
    if (!isObject(body)) return { kind: 'other', ...NOTHING };
    if (body['error'] !== undefined && body['error'] !== null) {
      return { kind: 'error', ...NOTHING, error: errorMessage(body['error']), ...errorKind(body['error']) };
    }
    return this.#facts(body);
  }

  #facts(body: JsonObject): FrameFacts {
    const choices = Array.isArray(body['choices']) ? (body['choices'] as readonly Json[]) : [];
    const ends: string[] = [];
    let outputBytes = 0;
    let deviates = false;
    for (const [position, choice] of choices.entries()) {
      if (!isObject(choice)) continue;
      const index = indexOf(choice, position);
      this.#begun.add(index);
      refuseUnasked(this.#begun.size, this.#answers);
      deviates ||= hasChunks(choice);
      outputBytes += textBytes(choice['delta']) + textBytes(choice['text']);
      if (typeof choice['finish_reason'] === 'string' && choice['finish_reason'] !== '') {
        this.#finished.add(index);
        ends.push(`${index}/`);
      }
    }
    const usage = usageOf(body);
    const kind = choices.length > 0 ? 'content' : usage ? 'usage' : 'other';
    const facts = { kind, id: readId(body['id']), usage, outputBytes, ends, error: undefined } as const;
    return deviates ? { ...facts, deviates } : facts;
  }
}

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
      if (Object.hasOwn(CALLS, name) && typeof tool === 'string' && tool !== '') found.push({ call: channel, tool });
      for (const key of Object.keys(value)) {
        if (HOLD_CALLS.has(key)) visit(value[key], `${channel}/${key}`, key);
      }
    }
  };
  const choices = Array.isArray(frame['choices']) ? (frame['choices'] as readonly Json[]) : [];
  for (const [position, choice] of choices.entries()) {
    if (isObject(choice)) visit(choice, String(indexOf(choice, position)), '');
  }
  return found;
}

/** Where a chunk has calls. */
const HOLD_CALLS = new Set(['delta', 'message', 'tool_calls', ...Object.keys(CALLS)]);

/** Parts of a stream are told apart by their `index` member, not by where they stand in this frame's array. */
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

function textBytes(value: Json | undefined): number {
  if (typeof value === 'string') return Buffer.byteLength(value);
  if (Array.isArray(value)) return (value as readonly Json[]).reduce<number>((sum, item) => sum + textBytes(item), 0);
  if (!isObject(value)) return 0;
  let sum = 0;
  for (const name in value) if (name !== 'role' && name !== 'id' && name !== 'type') sum += textBytes(value[name]);
  return sum;
}

function indexOf(choice: JsonObject, position: number): number {
  return typeof choice['index'] === 'number' ? choice['index'] : position;
}
