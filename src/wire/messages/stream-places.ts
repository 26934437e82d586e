import type { Delta } from '../hub/codec.ts';
import type { WireDocument } from '../document/document.ts';
import { isObject, type JsonObject } from '../document/json.ts';
import { member, type JsonNode } from '../document/scan.ts';
import { stringOf } from './decode-answer.ts';
import { textOf } from './read-answer.ts';
import { OUTPUT_MEMBERS, streamText } from './stream-texts.ts';

/** Where the strings of `message_delta` are. */
const LAST = 'message';

/** What the channels of a block begin with. */
function channelsOf(index: unknown): string {
  return `${typeof index === 'number' ? index : 0}/`;
}

/**
 * Every string that a frame says of the answer, save thinking. Channels are `<block>/<delta type>/<member>` for texts
 * that go on; a block that comes whole has `start` in the type's place.
 */
export function deltas(frame: WireDocument, jsonAnswer: boolean): readonly Delta[] {
  const { root } = frame;
  const type = textOf(member(root, 'type'));
  const index = member(root, 'index');
  const prefix = channelsOf(index?.kind === 'number' ? Number(index.source) : undefined);
  const found: Delta[] = [];
  if (type === 'content_block_delta') {
    const delta = member(root, 'delta');
    const said = textOf(member(delta, 'type'));
    const row = streamText(said);
    if (row?.part === 'tool-call') {
      const node = member(delta, row.member);
      if (node?.kind === 'string')
        found.push({ channel: `${prefix}${said}/${row.member}`, node, kind: 'json', call: prefix });
    } else if (!row?.isSigned) collect(delta, `${prefix}${said}`, kindOf(said, jsonAnswer), found);
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
  return jsonAnswer && streamText(delta)?.isAnswer ? 'json' : 'text';
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
  return [{ call: channelsOf(index), tool: stringOf(block, 'name') }];
}

/** A delta that says only `text` on a channel that goes on (`0/text_delta/text`). */
export function deltaFrame(_like: JsonObject, channel: string, text: string): JsonObject {
  const [index, type = '', name = ''] = channel.split('/');
  return { type: 'content_block_delta', index: Number(index), delta: { type, [name]: text } };
}

/** Channels that end with a frame. */
export function ends({ type, index, delta }: JsonObject): readonly string[] {
  if (type === 'content_block_delta') return isObject(delta) ? wholes(index, stringOf(delta, 'type')) : [];
  if (type === 'content_block_start') return [`${channelsOf(index)}start/`];
  if (type === 'content_block_stop') return [channelsOf(index)];
  return type === 'message_delta' ? [`${LAST}/`] : [];
}

/** What a delta of no text says, it says at once. */
function wholes(index: unknown, delta: string): readonly string[] {
  return streamText(delta) ? [] : [`${channelsOf(index)}${delta}/`];
}

/** UTF-8 bytes of what a frame says that the model wrote. */
export function outputBytes({ type, delta, content_block: block }: JsonObject): number {
  const said = type === 'content_block_delta' ? delta : type === 'content_block_start' ? block : undefined;
  if (!isObject(said)) return 0;
  let sum = 0;
  for (const name of OUTPUT_MEMBERS) {
    const text = said[name];
    if (typeof text === 'string') sum += Buffer.byteLength(text);
  }
  return sum;
}
