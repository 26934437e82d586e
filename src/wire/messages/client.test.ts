import Anthropic from '@anthropic-ai/sdk';
import { expect, test } from 'vitest';
import type { Part, StreamEvent } from '../hub/canonical.ts';
import type { AnswerContext } from '../hub/codec.ts';
import { readDocument } from '../document/document.ts';
import { messagesCodec } from './codec.ts';

const CONTEXT: AnswerContext = {
  callId: '01890a5d-ac96-774b-bcce-b302099a8057',
  model: 'm',
  createdAt: 0,
  request: readDocument('messages', '{}'),
  includeUsage: true,
  estimatedInput: 12,
};
const USAGE = { input: 3, cacheRead: 2, cacheWrite5m: 1, cacheWrite1h: 0, output: 9, reasoning: 4 };
const PARTS: readonly Part[] = [
  { type: 'reasoning', text: 'hm' },
  { type: 'text', text: 'hi' },
  { type: 'tool-call', id: 'c1', name: 'f', argumentsJson: '{"a":[1,"é"]}' },
  { type: 'tool-call', id: 'c2', name: 'g', argumentsJson: '' },
];

/** The vendor's own client, told this. */
function clientTold(body: string, type: string): Anthropic {
  const fetch = async (): Promise<Response> => new Response(body, { headers: { 'content-type': type } });
  return new Anthropic({ apiKey: 'x', fetch, maxRetries: 0 });
}

const ASKED = { model: 'm', max_tokens: 9, messages: [{ role: 'user' as const, content: 'hi' }] };
const MESSAGE = {
  id: 'msg_01890a5dac96774bbcceb302099a8057',
  type: 'message',
  role: 'assistant',
  model: 'm',
  content: [
    { type: 'thinking', thinking: 'hm', signature: '' },
    { type: 'text', text: 'hi' },
    { type: 'tool_use', id: 'c1', name: 'f', input: { a: [1, 'é'] } },
    { type: 'tool_use', id: 'c2', name: 'g', input: {} },
  ],
  stop_reason: 'tool_use',
  stop_sequence: null,
  usage: { input_tokens: 3, cache_read_input_tokens: 2, cache_creation_input_tokens: 1, output_tokens: 13 },
};

test("the vendor's client reads a stream", async () => {
  const encoder = messagesCodec.streamEncoder(CONTEXT);
  const events: readonly StreamEvent[] = [
    { type: 'start' },
    ...PARTS.flatMap((part, index): readonly StreamEvent[] => [
      { type: 'part-start', index, part },
      { type: 'part-end', index },
    ]),
    { type: 'finish', finish: { reason: 'tool-calls' } },
    { type: 'usage', usage: USAGE },
    { type: 'end' },
  ];
  const body = events.map((event) => encoder.encode(event)).join('');
  const stream = clientTold(body, 'text/event-stream').messages.stream(ASKED);
  const seen: string[] = [];
  stream.on('text', (text) => seen.push(text));
  expect(await stream.finalMessage()).toMatchObject(MESSAGE);
  expect(seen).toEqual(['hi']);
});

test("the vendor's client reads an answer", async () => {
  const answer = messagesCodec.encodeAnswer({ parts: PARTS, finish: { reason: 'tool-calls' }, usage: USAGE }, CONTEXT);
  const client = clientTold(JSON.stringify(answer), 'application/json');
  expect(await client.messages.create(ASKED)).toMatchObject(MESSAGE);
});
