import type { Delta } from '../hub/codec.ts';
import type { WireDocument } from '../document/document.ts';
import { isObject, type JsonObject } from '../document/json.ts';
import { member } from '../document/scan.ts';
import { visitStrings } from './read-answer.ts';
import { COUNTERS, streamText, tellsTool } from './stream-texts.ts';

/** The channel of strings that are whole in one event; they end where they begin. */
const WHOLE = 'whole/';

/**
 * Where an event holds text: one that continues (`0/response.output_text./content_index=0/`), or, in the events that
 * repeat what was said, whole texts.
 */
export function deltas(frame: WireDocument, jsonAnswer: boolean): readonly Delta[] {
  const { body, root } = frame;
  const node = member(root, 'delta');
  if (deltaText(body) !== undefined && node?.kind === 'string') {
    const type = body['type'] as string;
    const call = tellsTool(type, '.delta') ? { call: callOf(body) } : undefined;
    return [{ channel: channelOf(body, type, 'delta'), node, kind: kindOf(type, jsonAnswer), ...call }];
  }
  const found: Delta[] = [];
  visitStrings(root, jsonAnswer, (string, kind, called) => {
    const call = called && { called, ...(called.tool === '' && { call: callOf(body) }) };
    found.push({ channel: `${WHOLE}${kind}`, node: string, kind, ...call });
  });
  return found;
}

function kindOf(type: string, jsonAnswer: boolean): Delta['kind'] {
  const row = streamText(type);
  const isJson = row ? row.isJson || (jsonAnswer && row.isAnswer) : type.includes('arguments');
  return isJson ? 'json' : 'text';
}

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

/**
 * The text that an event continues (`….delta`) or ends (`….done`). Not by the item's id: there are vendors who spell it
 * anew in every event.
 */
function channelOf(body: JsonObject, type: string, ending: 'delta' | 'done'): string {
  return `${Number(body['output_index'] ?? 0)}/${type.slice(0, -ending.length)}/${counterOf(body)}/`;
}

function counterOf(body: JsonObject): string {
  for (const name of COUNTERS) if (typeof body[name] === 'number') return `${name}=${body[name]}`;
  return '';
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

/** Channels that end with an event. */
export function ends(body: JsonObject): readonly string[] {
  const type = typeof body['type'] === 'string' ? body['type'] : '';
  if (deltaText(body) !== undefined) return [];
  if (!type.endsWith('.done') || typeof body['output_index'] !== 'number') return [WHOLE];
  const isItem = type === 'response.output_item.done';
  return [WHOLE, isItem ? callOf(body) : channelOf(body, type, 'done')];
}

/** UTF-8 bytes of the text that an event adds. */
export function outputBytes(body: JsonObject): number {
  return Buffer.byteLength(deltaText(body) ?? '');
}

/** The text that an event adds to one told in pieces. Audio comes in pieces too, but is none. */
export function deltaText(body: JsonObject): string | undefined {
  const { type, delta } = body;
  if (typeof type !== 'string' || typeof delta !== 'string' || !type.endsWith('.delta')) return undefined;
  return type === 'response.audio.delta' ? '' : delta;
}
