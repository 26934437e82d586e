import { describe, expect, test } from 'vitest';
import { EventRestorer } from '#/inspect/restore/restore-events.ts';
import { FrameRestorer } from '#/inspect/restore/restore-frames.ts';
import { TagTable } from '#/inspect/tags.ts';
import { collectAnswer } from '#/wire/hub/collect-answer.ts';
import { SseDecoder, writeEvent, type SseEvent } from '#/wire/answer/sse.ts';
import { ANSWER_TEXTS, CALL_TEXTS, CHUNK_TEXTS } from '#/wire/chat/answer-texts.ts';
import { chatCodec, chatUpstream } from '#/wire/chat/codec.ts';
import { readDocument } from '#/wire/document/document.ts';
import type { JsonObject } from '#/wire/document/json.ts';
import type { Part, StreamEvent } from '#/wire/hub/canonical.ts';
import type { ClientCodec, UpstreamCodec } from '#/wire/hub/codec.ts';
import { messagesCodec, messagesUpstream } from '#/wire/messages/codec.ts';
import { STREAM_TEXTS as MESSAGES_TEXTS } from '#/wire/messages/stream-texts.ts';
import { responsesCodec, responsesUpstream } from '#/wire/responses/codec.ts';
import { STREAM_TEXTS as RESPONSES_TEXTS } from '#/wire/responses/stream-texts.ts';
import { decodeAll } from '../harness/recordings.ts';
import { restorationOf } from '../harness/restoration.ts';

/**
 * Each text that a provider streams is taught once, as a row of its family's table: verbatim mode restores it in place,
 * translated mode decodes it, wherever the bytes are cut. The tables are walked, so that a new row is tested with no
 * more ado, and one that only one mode heeds fails here.
 */

const MAIL = 'ada@example.com';
const tags = new TagTable();
const TAG = tags.tagFor(MAIL, 'EMAIL', 0);

interface Case {
  readonly name: string;
  /** What the hub makes of it; `opaque`: nothing, but it knows it. */
  readonly part: Part['type'];
  /** It is never rewritten. */
  readonly isSigned?: boolean;
  /** It proves another text, and the hub has no text for it. */
  readonly isProof?: boolean;
  /** A whole stream in which the text comes in these pieces. */
  readonly stream: (pieces: readonly string[]) => readonly JsonObject[];
  readonly isJson?: boolean;
}

interface FamilyCases {
  readonly client: ClientCodec;
  readonly upstream: UpstreamCodec;
  readonly cases: readonly Case[];
}

const chunk = (delta: JsonObject, finish: string | null = null): JsonObject => ({
  id: 'chatcmpl-1',
  choices: [{ index: 0, delta, finish_reason: finish }],
});
const chatCase = (name: string, part: Part['type'], deltaOf: (piece: string) => JsonObject, isJson = false): Case => ({
  name,
  part,
  isJson,
  stream: (pieces) => [...pieces.map((piece) => chunk(deltaOf(piece))), chunk({}, 'stop')],
});
const called = (member: string, told: string, text: string): JsonObject =>
  member === 'function_call'
    ? { [member]: { name: 'note', [told]: text } }
    : { tool_calls: [{ index: 0, id: 'call_1', [member]: { name: 'note', [told]: text } }] };

const chat: FamilyCases = {
  client: chatCodec,
  upstream: chatUpstream,
  cases: [
    ...Object.entries(ANSWER_TEXTS).map(([name, { part, isList }]) =>
      chatCase(name, part, (piece) => ({ [name]: isList ? [{ index: 0, text: piece }] : piece })),
    ),
    ...Object.entries(CHUNK_TEXTS).map(([type, { part, member }]) =>
      chatCase(`a chunk of ${type}`, part, (piece) => ({ content: [{ type, [member]: piece }] })),
    ),
    ...Object.entries(CALL_TEXTS).map(([member, { told, isJson, isOwn }]) =>
      chatCase(member, isOwn ? 'opaque' : 'tool-call', (piece) => called(member, told, piece), isJson),
    ),
  ],
};

const BLOCKS: Readonly<Record<string, JsonObject>> = {
  text: { type: 'text', text: '' },
  reasoning: { type: 'thinking', thinking: '', signature: '' },
  'tool-call': { type: 'tool_use', id: 'toolu_1', name: 'note', input: {} },
};

const messages: FamilyCases = {
  client: messagesCodec,
  upstream: messagesUpstream,
  cases: Object.entries(MESSAGES_TEXTS).map(([type, { member, part, isSigned, isProof }]): Case => ({
    name: type,
    part,
    isSigned: isSigned === true,
    isProof: isProof === true,
    isJson: part === 'tool-call',
    stream: (pieces) => [
      { type: 'message_start', message: { id: 'msg_1', type: 'message', role: 'assistant', content: [] } },
      { type: 'content_block_start', index: 0, content_block: BLOCKS[part] ?? { type: 'own', [member]: '' } },
      ...pieces.map((piece) => ({ type: 'content_block_delta', index: 0, delta: { type, [member]: piece } })),
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: { stop_reason: 'end_turn' } },
      { type: 'message_stop' },
    ],
  })),
};

const ITEMS: Readonly<Record<string, JsonObject>> = {
  text: { type: 'message', id: 'msg_1', role: 'assistant', content: [] },
  refusal: { type: 'message', id: 'msg_1', role: 'assistant', content: [] },
  reasoning: { type: 'reasoning', id: 'rs_1', summary: [] },
  'tool-call': { type: 'function_call', id: 'fc_1', call_id: 'call_1', name: 'note', arguments: '' },
};

const responses: FamilyCases = {
  client: responsesCodec,
  upstream: responsesUpstream,
  cases: Object.entries(RESPONSES_TEXTS).map(([name, { part, counter, isJson }]): Case => {
    const at = { output_index: 0, ...(counter !== undefined && { [counter]: 0 }) };
    const item = ITEMS[part] ?? { type: 'own_call', id: 'own_1', name: 'note' };
    return {
      name,
      part,
      isJson: isJson === true,
      stream: (pieces) => [
        { type: 'response.created', response: { id: 'resp_1', status: 'in_progress' } },
        { type: 'response.output_item.added', output_index: 0, item },
        ...pieces.map((delta) => ({ type: `${name}.delta`, ...at, delta })),
        { type: `${name}.done`, ...at },
        { type: 'response.completed', response: { id: 'resp_1', status: 'completed', output: [] } },
      ],
    };
  }),
};

const families = { chat, messages, responses };
const cases = Object.entries(families).flatMap(([family, { client, upstream, cases: rows }]) =>
  rows.map((row) => [family, row.name, client, upstream, row] as const),
);

/** The tag in a text, which is cut within it. */
function piecesOf({ isJson }: Case): readonly string[] {
  const [before, after] = isJson ? ['{"note":"mail ', ' now"}'] : ['mail ', ' now'];
  const text = `${before}${TAG}${after}`;
  const cut = before.length + 4;
  return [text.slice(0, cut), text.slice(cut)];
}

function bytesOf(client: ClientCodec, frames: readonly JsonObject[]): Buffer {
  const events = frames.map((frame) => writeEvent(JSON.stringify(frame), client.eventName?.(frame)));
  return Buffer.from(events.join('') + (client.family === 'chat' ? client.streamEnd : ''));
}

/** What a client of the family gets. */
function verbatim(client: ClientCodec, pieces: readonly Uint8Array[]): string {
  const decoder = new SseDecoder(2 ** 20);
  const reader = client.streamReader(1);
  const restorer = new FrameRestorer(client, restorationOf(tags), false);
  const relay = (event: SseEvent): string => {
    const facts = reader.read(event);
    const flat = facts.deviates && client.flatAnswer?.(facts.body!);
    const data = flat ? JSON.stringify(flat) : undefined;
    return restorer.restore(data === undefined ? event : { event: event.event, data, raw: writeEvent(data) }, facts);
  };
  const events = [...pieces.flatMap((piece) => decoder.push(piece)), ...decoder.end()];
  const sent = events.map(relay).join('') + restorer.end();
  expect(reader.finished).toBe(true);
  return sent;
}

/** The texts of a stream, by the channels that they add up in. */
function textsOf(client: ClientCodec, stream: string): readonly string[] {
  const texts = new Map<string, string>();
  for (const { data } of new SseDecoder(2 ** 20).push(Buffer.from(stream))) {
    if (!data?.startsWith('{')) continue;
    for (const { channel, node } of client.deltas(readDocument(client.family, data), false)) {
      texts.set(channel, (texts.get(channel) ?? '') + node.value);
    }
  }
  return [...texts.values()];
}

function translated(upstream: UpstreamCodec, pieces: readonly Uint8Array[]): readonly StreamEvent[] {
  const restorer = new EventRestorer(restorationOf(tags), false);
  return decodeAll(upstream.streamDecoder(), pieces).flatMap((event) => restorer.restore(event));
}

function textOf(part: Part): string {
  if (part.type === 'tool-call') return part.argumentsJson;
  return 'text' in part ? part.text : '';
}

describe.each(cases)('%s: %s', (_family, _name, client, upstream, row) => {
  const pieces = piecesOf(row);
  const whole = pieces.join('').replace(TAG, MAIL);
  const bytes = bytesOf(client, row.stream(pieces));

  test('verbatim mode restores it, or leaves a signed text as it came', () => {
    const sent = verbatim(client, [bytes]);
    if (row.isSigned) expect(sent).toBe(bytes.toString());
    else expect(textsOf(client, sent)).toContain(whole);
  });

  test('translated mode decodes it', () => {
    const events = translated(upstream, [bytes]);
    const { parts } = collectAnswer(events);
    if (row.isProof) expect(events).toContainEqual(expect.objectContaining({ type: 'part-proof' }));
    else if (row.part === 'opaque') expect(parts.filter((part) => textOf(part) !== '')).toEqual([]);
    else expect(parts.filter(({ type }) => type === row.part).map(textOf)).toEqual([whole]);
    const warnings = events.flatMap((event) => (event.type === 'warning' ? [event.message] : []));
    // A call that the hub leaves out is one without a name to it.
    expect(warnings).toEqual(client === chatCodec && row.part === 'opaque' ? ['a tool call without a name'] : []);
  });

  test('both do wherever the bytes are cut', () => {
    const [sent, events] = [verbatim(client, [bytes]), translated(upstream, [bytes])];
    for (let at = 1; at < bytes.length; at++) {
      const cut = [bytes.subarray(0, at), bytes.subarray(at)];
      if (verbatim(client, cut) !== sent) expect(verbatim(client, cut), `cut at ${at}`).toBe(sent);
      const other = translated(upstream, cut);
      if (JSON.stringify(other) !== JSON.stringify(events)) expect(other, `cut at ${at}`).toEqual(events);
    }
  });
});

test('translated mode names a text that no row knows, and verbatim mode restores it anyway', () => {
  const unknown: readonly (readonly [FamilyCases, string, (piece: string) => JsonObject])[] = [
    [
      messages,
      'unknown delta aurora_delta',
      (text) => ({ type: 'content_block_delta', index: 0, delta: { type: 'aurora_delta', text } }),
    ],
    [
      responses,
      'an event of response.aurora.delta',
      (delta) => ({ type: 'response.aurora.delta', output_index: 0, delta }),
    ],
  ];
  for (const [{ client, upstream, cases: rows }, warning, frameOf] of unknown) {
    const frames = rows[0]!.stream([]);
    const bytes = bytesOf(client, [...frames.slice(0, 2), frameOf(`to ${TAG}`), ...frames.slice(2)]);
    expect(textsOf(client, verbatim(client, [bytes]))).toContain(`to ${MAIL}`);
    expect(translated(upstream, [bytes])).toContainEqual({ type: 'warning', message: warning });
  }
});
