import { readId } from '../answer/answer-id.ts';
import type { Delta, FrameFacts, StreamReader } from '../hub/codec.ts';
import type { WireDocument } from '../document/document.ts';
import { errorKind, errorMessage } from '../answer/error-message.ts';
import { isObject, type JsonObject } from '../document/json.ts';
import { member, type JsonNode } from '../document/scan.ts';
import { writeEvent, type SseEvent } from '../answer/sse.ts';
import { stringOf } from './answer-blocks.ts';
import { textOf } from './response.ts';
import { StreamedUsage } from './usage.ts';

const NONE: readonly string[] = [];
const OTHER: FrameFacts = {
  kind: 'other',
  id: undefined,
  usage: undefined,
  outputBytes: 0,
  ends: NONE,
  error: undefined,
};

/** Deltas that are not rewritten: signed thinking. // spec 4.5.4 */
const SIGNED = new Set(['thinking_delta', 'signature_delta']);
/** Deltas of one text that goes on from frame to frame. Any other says something whole. */
const TEXTS = new Set(['text_delta', 'input_json_delta', 'compaction_delta']);
/** Members whose text is what the model wrote. */
const OUTPUT = ['text', 'thinking', 'partial_json'];
/** Where the strings of `message_delta` are. */
const LAST = 'message';

/** The event that ends a message's stream: what a surface writes for a provider that left it out. */
export const STREAM_END = writeEvent('{"type":"message_stop"}', 'message_stop');

/** Reads a messages stream. */
export class MessagesStreamReader implements StreamReader {
  readonly #usage = new StreamedUsage();
  #finished = false;

  /** The reason why the message ended came, or `message_stop`. */
  get finished(): boolean {
    return this.#finished;
  }

  /** Throws `SyntaxError` when the data is not JSON. */
  read(event: SseEvent): FrameFacts {
    if (event.data === undefined || event.data === '') return OTHER;
    const body: unknown = JSON.parse(event.data);
    return isObject(body) ? this.#facts(body) : OTHER;
  }

  #facts(body: JsonObject): FrameFacts {
    const { index, delta, message } = body;
    switch (body['type']) {
      case 'content_block_delta':
        return content(isObject(delta) ? outputBytes(delta) : 0, wholes(index, delta));
      case 'content_block_start': {
        const block = body['content_block'];
        return content(isObject(block) ? outputBytes(block) : 0, [`${prefixOf(index)}start/`]);
      }
      case 'content_block_stop':
        return content(0, [prefixOf(index)]);
      case 'message_start':
        if (!isObject(message)) return OTHER;
        return { ...OTHER, id: readId(message['id']), usage: this.#usage.add(message['usage']) };
      case 'message_delta':
        if (isObject(delta) && typeof delta['stop_reason'] === 'string') this.#finished = true;
        return { ...content(0, [`${LAST}/`]), usage: this.#usage.add(body['usage']) };
      case 'message_stop':
        this.#finished = true;
        return { ...OTHER, kind: 'done' };
      case 'error':
        return { ...OTHER, kind: 'error', error: errorMessage(body['error']), ...errorKind(body['error']) };
      default:
        return OTHER;
    }
  }
}

function content(bytes: number, ends: readonly string[]): FrameFacts {
  return { ...OTHER, kind: 'content', outputBytes: bytes, ends };
}

/** What a delta of no text says, it says at once. */
function wholes(index: unknown, delta: unknown): readonly string[] {
  if (!isObject(delta)) return NONE;
  const type = stringOf(delta, 'type');
  return TEXTS.has(type) || SIGNED.has(type) ? NONE : [`${prefixOf(index)}${type}/`];
}

function prefixOf(index: unknown): string {
  return `${typeof index === 'number' ? index : 0}/`;
}

function outputBytes(object: JsonObject): number {
  let sum = 0;
  for (const name of OUTPUT) sum += Buffer.byteLength(stringOf(object, name));
  return sum;
}

/**
 * Every string that a frame says of the answer, save thinking. Channels are `<block>/<delta type>/<member>` for texts
 * that go on; a block that comes whole has `start` in the type's place.
 */
export function deltas(frame: WireDocument, jsonAnswer: boolean): readonly Delta[] {
  const { root } = frame;
  const type = textOf(member(root, 'type'));
  const index = member(root, 'index');
  const prefix = prefixOf(index?.kind === 'number' ? Number(index.source) : undefined);
  const found: Delta[] = [];
  if (type === 'content_block_delta') {
    const delta = member(root, 'delta');
    const said = textOf(member(delta, 'type'));
    if (said === 'input_json_delta') {
      const node = member(delta, 'partial_json');
      if (node?.kind === 'string')
        found.push({ channel: `${prefix}${said}/partial_json`, node, kind: 'json', call: prefix });
    } else if (!SIGNED.has(said)) collect(delta, `${prefix}${said}`, kindOf(said, jsonAnswer), found);
  } else if (type === 'content_block_start') {
    const block = member(root, 'content_block');
    const name = textOf(member(block, 'type'));
    if (name.endsWith('tool_use')) collectCall(block, `${prefix}start`, found);
    // The text of a block goes on in its deltas.
    else if (name === 'text') collectText(block, `${prefix}text_delta/text`, kindOf('text_delta', jsonAnswer), found);
    else if (!name.endsWith('thinking')) collect(block, `${prefix}start`, 'text', found);
  } else if (type === 'message_delta') collect(member(root, 'delta'), LAST, 'text', found);
  return found;
}

function kindOf(delta: string, jsonAnswer: boolean): Delta['kind'] {
  return jsonAnswer && delta === 'text_delta' ? 'json' : 'text';
}

function collectText(block: JsonNode | undefined, channel: string, kind: Delta['kind'], found: Delta[]): void {
  const node = member(block, 'text');
  if (node?.kind === 'string') found.push({ channel, node, kind });
}

/** The strings below a node, each a channel of its own: but for types, which say what the others are. */
function collect(node: JsonNode | undefined, channel: string, kind: Delta['kind'], found: Delta[]): void {
  if (node?.kind === 'string') found.push({ channel, node, kind });
  else if (node?.kind === 'array') {
    for (const [at, item] of node.items.entries()) collect(item, `${channel}/${at}`, kind, found);
  } else if (node?.kind === 'object') {
    for (const { key, value } of node.members) {
      // A member name with a slash would make two channels one; it is left alone rather than mixed up.
      if (key.value !== 'type' && !key.value.includes('/')) collect(value, `${channel}/${key.value}`, kind, found);
    }
  }
}

/** A call that comes whole, or begins. */
function collectCall(block: JsonNode | undefined, channel: string, found: Delta[]): void {
  const strings: Delta[] = [];
  collect(block, channel, 'text', strings);
  const told = member(block, 'input');
  const tool = textOf(member(block, 'name'));
  for (const delta of strings) {
    const within = told && delta.node.start >= told.start && delta.node.end <= told.end;
    found.push(within ? { ...delta, called: { tool, told, name: 'input' } } : delta);
  }
}

/** The tool that a block calls. */
export function calls({ type, index, content_block: block }: JsonObject): readonly { call: string; tool: string }[] {
  if (type !== 'content_block_start' || !isObject(block) || !stringOf(block, 'type').endsWith('tool_use')) return [];
  return [{ call: prefixOf(index), tool: stringOf(block, 'name') }];
}

/** A delta that says only `text` on a channel that goes on (`0/text_delta/text`). */
export function deltaFrame(_like: JsonObject, channel: string, text: string): JsonObject {
  const [index, type = '', name = ''] = channel.split('/');
  return { type: 'content_block_delta', index: Number(index), delta: { type, [name]: text } };
}
