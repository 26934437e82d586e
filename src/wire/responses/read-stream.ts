import { readId } from '../answer/answer-id.ts';
import type { Delta, FrameFacts, StreamReader } from '../hub/codec.ts';
import type { WireDocument } from '../document/document.ts';
import { errorKind, errorMessage } from '../answer/error-message.ts';
import { isObject, type Json, type JsonObject } from '../document/json.ts';
import { member } from '../document/scan.ts';
import type { SseEvent } from '../answer/sse.ts';
import { visitStrings } from './response.ts';
import { usageOf } from './usage.ts';

/** Which of an item's texts an event speaks of: the members that count them. */
const TEXT_INDEXES = ['content_index', 'summary_index', 'command_index'];

/** The channel of strings that are whole in one event; they end where they begin. */
const WHOLE = 'whole/';

const NOTHING: Omit<FrameFacts, 'kind'> = {
  id: undefined,
  usage: undefined,
  outputBytes: 0,
  ends: [],
  error: undefined,
};

/** What an event that says a stream has failed reports, in either of its forms; undefined for any other event. */
export function failureOf(body: JsonObject): { message: string; code: Json | undefined } | undefined {
  if (body['type'] === 'response.failed') {
    return reported(isObject(body['response']) ? (body['response']['error'] ?? undefined) : undefined);
  }
  const nested = body['error'] ?? undefined;
  const isError = body['type'] === 'error' || (body['type'] === undefined && nested !== undefined);
  return isError ? reported(nested ?? body) : undefined;
}

function reported(error: Json | undefined): { message: string; code: Json | undefined } {
  return { message: errorMessage(error), code: isObject(error) ? error['code'] : undefined };
}

/** Whether an event of this type is the last of an answer that has not failed. */
export function endsStream(type: Json | undefined): boolean {
  return type === 'response.completed' || type === 'response.incomplete';
}

/** Reads a responses stream. */
export class ResponsesStreamReader implements StreamReader {
  #done = false;

  get finished(): boolean {
    return this.#done;
  }

  /** Throws `SyntaxError` when the data is not JSON. */
  read(event: SseEvent): FrameFacts {
    if (event.data === undefined || event.data === '') return { kind: 'other', ...NOTHING };
    // No vendor's API ends so, but proxies that imitate chat do.
    if (event.data.trim() === '[DONE]') return { kind: 'other', ...NOTHING };
    const body: unknown = JSON.parse(event.data);
    if (!isObject(body)) return { kind: 'other', ...NOTHING };
    const failure = failureOf(body);
    if (failure)
      return { kind: 'error', ...NOTHING, error: failure.message, ...errorKind({ code: failure.code ?? null }) };
    const delta = deltaText(body);
    if (delta !== undefined) return { kind: 'content', ...NOTHING, outputBytes: Buffer.byteLength(delta) };
    const response = isObject(body['response']) ? body['response'] : undefined;
    const id = readId(response?.['id']);
    if (!endsStream(body['type'])) return { kind: 'content', ...NOTHING, id, ends: [WHOLE, ...endedBy(body)] };
    this.#done = true;
    return { kind: 'done', ...NOTHING, id, usage: response && usageOf(response), ends: [''] };
  }
}

/** Channels that say nothing more after this event. */
function endedBy(body: JsonObject): readonly string[] {
  const type = typeof body['type'] === 'string' ? body['type'] : '';
  if (!type.endsWith('.done') || typeof body['output_index'] !== 'number') return [];
  if (type === 'response.output_item.done') return [`${body['output_index']}/`];
  return [`${body['output_index']}/${type.slice(0, -'done'.length)}/${textIndex(body)}/`];
}

function textIndex(body: JsonObject): string {
  for (const name of TEXT_INDEXES) if (typeof body[name] === 'number') return `${name}=${body[name]}`;
  return '';
}

/** The text that an event adds to one told in pieces. Audio comes in pieces too, but is none. */
function deltaText(body: JsonObject): string | undefined {
  const { type, delta } = body;
  if (typeof type !== 'string' || typeof delta !== 'string' || !type.endsWith('.delta')) return undefined;
  return type === 'response.audio.delta' ? '' : delta;
}

/**
 * Where an event holds text: one that continues (`0/response.output_text./content_index=0/`), or, in the events that
 * repeat what was said, whole texts.
 */
export function deltas(frame: WireDocument, jsonAnswer: boolean): readonly Delta[] {
  const { body, root } = frame;
  const node = member(root, 'delta');
  if (deltaText(body) !== undefined && node?.kind === 'string') {
    const type = body['type'] as string;
    const isJson = type.includes('arguments') || (jsonAnswer && type === 'response.output_text.delta');
    const call = CALL_DELTA.test(type) ? { call: callOf(body) } : undefined;
    return [{ channel: channelOf(body, type), node, kind: isJson ? 'json' : 'text', ...call }];
  }
  const found: Delta[] = [];
  visitStrings(root, jsonAnswer, (string, kind, called) => {
    const call = called && { called, ...(called.tool === '' && { call: callOf(body) }) };
    found.push({ channel: `${WHOLE}${kind}`, node: string, kind, ...call });
  });
  return found;
}

/** What a tool is told, in pieces. */
const CALL_DELTA = /^response\.[a-z_]{1,40}_call_(?:arguments|input|code)\.delta$/;

function callOf(body: JsonObject): string {
  return `${Number(body['output_index'] ?? 0)}/`;
}

/** The tool that the item of an event calls. */
export function calls(body: JsonObject): readonly { call: string; tool: string }[] {
  const { item } = body;
  if (!isObject(item) || typeof item['type'] !== 'string' || !item['type'].endsWith('_call')) return [];
  const name = typeof item['name'] === 'string' ? item['name'] : '';
  return [{ call: callOf(body), tool: name || item['type'].slice(0, -'_call'.length) }];
}

/** Not by the item's id: there are vendors who spell it anew in every event. */
function channelOf(body: JsonObject, type: string): string {
  return `${Number(body['output_index'] ?? 0)}/${type.slice(0, -'delta'.length)}/${textIndex(body)}/`;
}

/** A delta event that says only `text` on `channel`, numbered like the event `like` that it is sent before. */
export function deltaFrame(like: JsonObject, channel: string, text: string): JsonObject {
  const [output, prefix = '', indexed = ''] = channel.split('/');
  const [name = '', index] = indexed.split('=');
  const itemId = like['item_id'] ?? (isObject(like['item']) ? like['item']['id'] : undefined);
  return {
    type: `${prefix}delta`,
    sequence_number: like['sequence_number'] ?? 0,
    ...(itemId === undefined || like['output_index'] !== Number(output) ? {} : { item_id: itemId }),
    output_index: Number(output),
    ...(name === '' ? {} : { [name]: Number(index) }),
    delta: text,
    ...(prefix === 'response.output_text.' ? { logprobs: [] } : {}),
  };
}

/** The name that an event of this family goes by. */
export function eventName(frame: JsonObject): string | undefined {
  return typeof frame['type'] === 'string' ? frame['type'] : undefined;
}
