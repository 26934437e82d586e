import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import fc from 'fast-check';
import OpenAI from 'openai';
import { describe, expect, test } from 'vitest';
import type { Finish, FinishReason, ModelAnswer, Part, StreamEvent } from '../hub/canonical.ts';
import { collectAnswer } from '../hub/collect-answer.ts';
import { SseDecoder } from '../answer/sse.ts';
import { withSearches } from '../answer/usage.ts';
import { responsesCodec, responsesUpstream } from './codec.ts';
import { TOOL, context, USAGE, eventsOf, write, parse, ANSWER } from './testing/streams.ts';

function readBack(stream: string): { events: readonly StreamEvent[]; answer: ReturnType<typeof collectAnswer> } {
  const reader = responsesUpstream.streamDecoder();
  const decoder = new SseDecoder(2 ** 20);
  const events = [...decoder.push(Buffer.from(stream)), ...decoder.end()].flatMap((event) => reader.decode(event));
  return { events, answer: collectAnswer(events) };
}

describe('a response object', () => {
  test('repeats the settings of the request and has every member that clients expect', () => {
    expect(responsesCodec.encodeAnswer({ ...ANSWER, parts: [], finish: { reason: 'stop' } }, context)).toEqual({
      id: 'resp_0a0b0c0d00004000800000000000000f',
      object: 'response',
      created_at: 1_700_000_000,
      status: 'completed',
      error: null,
      incomplete_details: null,
      model: 'm',
      output: [],
      access_programs: null,
      background: false,
      instructions: 'Be brief.',
      max_output_tokens: 99,
      max_tool_calls: null,
      metadata: { a: 'b' },
      parallel_tool_calls: true,
      previous_response_id: null,
      prompt_cache_key: null,
      reasoning: { effort: 'low', summary: null },
      safety_identifier: null,
      service_tier: 'default',
      store: false,
      temperature: 0.5,
      text: { format: { type: 'text' }, verbosity: 'low' },
      tool_choice: 'auto',
      tools: [TOOL],
      top_logprobs: 0,
      top_p: null,
      truncation: 'disabled',
      user: null,
      usage: {
        input_tokens: 10,
        input_tokens_details: { cached_tokens: 3, cache_write_tokens: 2 },
        output_tokens: 11,
        output_tokens_details: { reasoning_tokens: 4 },
        total_tokens: 21,
      },
    });
  });

  test.each<[FinishReason, string, string | null]>([
    ['stop', 'completed', null],
    ['stop-sequence', 'completed', null],
    ['tool-calls', 'completed', null],
    ['pause', 'completed', null],
    ['length', 'incomplete', 'max_output_tokens'],
    ['context', 'incomplete', 'max_output_tokens'],
    ['filter', 'incomplete', 'content_filter'],
    ['refusal', 'incomplete', 'content_filter'],
    ['malformed', 'failed', null],
  ])('that ended by %s is %s', (reason, status, why) => {
    const answer: ModelAnswer = { parts: [{ type: 'text', text: 'a' }], finish: { reason } };
    const response = responsesCodec.encodeAnswer(answer, context);
    expect(response).toMatchObject({ status, incomplete_details: why === null ? null : { reason: why } });
    expect(response['error'] !== null).toBe(status === 'failed');
    expect(response['output']).toMatchObject([{ status: status === 'incomplete' ? 'incomplete' : 'completed' }]);
    const last = parse(write(eventsOf(answer, 1))).at(-1);
    expect(last).toMatchObject({ type: `response.${status}`, response });
  });

  test('a refusal in words is one in words', () => {
    const answer: ModelAnswer = { parts: [{ type: 'refusal', text: 'No.' }], finish: { reason: 'refusal' } };
    expect(responsesCodec.encodeAnswer(answer, context)).toMatchObject({
      status: 'completed',
      output: [{ content: [{ type: 'refusal', refusal: 'No.' }] }],
    });
    const { answer: back } = readBack(write(eventsOf(answer, 2)));
    expect(back).toMatchObject(answer);
  });

  test('has no item for what says nothing here, and an image has one', () => {
    const parts: Part[] = [
      { type: 'text', text: '' },
      { type: 'reasoning', text: '', proof: { family: 'messages', value: 'sig' } },
      { type: 'opaque', family: 'messages', name: 'redacted_thinking', value: {} },
      { type: 'media', kind: 'image', mediaType: 'image/png', source: { data: 'AA==' } },
      { type: 'opaque', family: 'responses', name: 'web_search_call', value: { type: 'web_search_call', id: 'ws' } },
    ];
    const answer: ModelAnswer = { parts, finish: { reason: 'stop' } };
    const response = responsesCodec.encodeAnswer(answer, context);
    expect(response['output']).toMatchObject([
      { type: 'image_generation_call', status: 'completed', result: 'AA==' },
      { type: 'web_search_call', id: 'ws' },
    ]);
    expect(parse(write(eventsOf(answer, 9))).at(-1)?.['response']).toEqual({ ...response, usage: null });
  });
});

describe('an encoder', () => {
  test('lets items that grow at once grow at once', () => {
    const stream = write([
      { type: 'start' },
      { type: 'part-start', index: 0, part: { type: 'text', text: 'a' } },
      { type: 'part-start', index: 1, part: { type: 'tool-call', id: 'c1', name: 'f', argumentsJson: '{' } },
      { type: 'part-delta', index: 0, text: 'b' },
      { type: 'part-start', index: 2, part: { type: 'tool-call', id: 'c2', name: 'f', argumentsJson: '' } },
      { type: 'part-delta', index: 2, text: '{}' },
      { type: 'part-delta', index: 1, text: '}' },
      { type: 'part-end', index: 1 },
      { type: 'part-end', index: 0 },
      { type: 'part-start', index: 3, part: { type: 'text', text: 'c' } },
      { type: 'end' },
    ]);
    const { events, answer } = readBack(stream);
    expect(events.filter(({ type }) => type === 'warning')).toEqual([]);
    expect(answer.parts).toEqual([
      { type: 'text', text: 'ab' },
      { type: 'tool-call', id: 'c1', name: 'f', argumentsJson: '{}' },
      { type: 'tool-call', id: 'c2', name: 'f', argumentsJson: '{}' },
      { type: 'text', text: 'c' },
    ]);
    const done = parse(stream).filter(({ type }) => type === 'response.output_item.done');
    expect(new Set(done.map((event) => event['output_index']))).toEqual(new Set([0, 1, 2, 3]));
    expect(done).toHaveLength(4);
  });

  test('begins with whatever comes first, and never ends by itself', () => {
    expect(parse(write([{ type: 'part-start', index: 0, part: { type: 'text', text: 'a' } }]))[0]?.type).toBe(
      'response.created',
    );
    const cut = write([
      ...eventsOf(ANSWER, 3).slice(0, -1),
      { type: 'error', message: 'x' },
      { type: 'warning', message: 'x' },
    ]);
    expect(parse(cut).some(({ type }) => type === 'response.completed')).toBe(false);
    expect(cut).not.toContain('"x"');
    expect(parse(write([{ type: 'end' }])).map(({ type }) => type)).toEqual([
      'response.created',
      'response.in_progress',
      'response.completed',
    ]);
  });

  const text = fc.string({ minLength: 1, unit: 'grapheme' });
  const part = fc.oneof(
    fc.record({ type: fc.constant('text' as const), text }),
    fc.record({ type: fc.constant('reasoning' as const), text }),
    fc.record({
      type: fc.constant('reasoning' as const),
      text: fc.string(),
      proof: fc.record({ family: fc.constant('responses' as const), value: fc.base64String({ minLength: 4 }) }),
    }),
    fc.record({ type: fc.constant('tool-call' as const), id: fc.uuid(), name: text, argumentsJson: fc.json() }),
    fc.record({
      type: fc.constant('opaque' as const),
      family: fc.constant('responses' as const),
      name: fc.constant('web_search_call'),
      value: fc.uuid().map((id) => ({ type: 'web_search_call', id })),
    }),
  );

  test('writes what its reader reads, streamed and buffered alike', () => {
    fc.assert(
      fc.property(
        fc.array(part, { maxLength: 6 }),
        fc.integer({ min: 1, max: 9 }),
        fc.boolean(),
        (parts, size, cutOff) => {
          const called = parts.some(({ type }) => type === 'tool-call');
          const finish: Finish = { reason: cutOff ? 'length' : called ? 'tool-calls' : 'stop' };
          const usage = withSearches(USAGE, parts.filter(({ type }) => type === 'opaque').length);
          const answer: ModelAnswer = { id: 'resp_0a0b0c0d00004000800000000000000f', parts, finish, usage };
          const stream = write(eventsOf(answer, size));
          const { events, answer: streamed } = readBack(stream);
          expect(events.filter(({ type }) => type === 'warning' || type === 'error')).toEqual([]);
          expect(streamed).toEqual(answer);
          const buffered = responsesCodec.encodeAnswer(answer, context);
          expect(responsesUpstream.decodeAnswer(buffered)).toEqual(answer);
          expect(parse(stream).at(-1)?.['response']).toEqual(buffered);
        },
      ),
    );
  });
});

describe("the vendor's own client", () => {
  async function withAnswer<T>(answer: ModelAnswer, use: (client: OpenAI) => Promise<T>): Promise<T> {
    const server: Server = createServer((request, response) => {
      let body = '';
      request.setEncoding('utf8');
      request.on('data', (chunk: string) => (body += chunk));
      request.on('end', () => {
        const { stream } = JSON.parse(body) as { stream?: boolean };
        response.setHeader('content-type', stream ? 'text/event-stream' : 'application/json');
        response.end(
          stream ? write(eventsOf(answer, 2)) : JSON.stringify(responsesCodec.encodeAnswer(answer, context)),
        );
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    try {
      return await use(new OpenAI({ apiKey: 'k', baseURL: `http://127.0.0.1:${port}/v1`, maxRetries: 0 }));
    } finally {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    }
  }

  test('puts a stream together as it reads the whole answer', async () => {
    await withAnswer(ANSWER, async (client) => {
      const stream = client.responses.stream({ model: 'm', input: 'x' });
      let said = '';
      stream.on('response.output_text.delta', ({ delta }) => (said += delta));
      const streamed = await stream.finalResponse();
      expect(said).toBe('Hello, Łódź 😀Bye');
      expect(streamed.output_text).toBe('Hello, Łódź 😀Bye');
      expect(streamed.usage).toMatchObject({ input_tokens: 10, output_tokens: 11, total_tokens: 21 });
      const whole = await client.responses.create({ model: 'm', input: 'x' });
      expect(whole.output_text).toBe(streamed.output_text);
      expect(whole.output.map(({ type }) => type)).toEqual([
        'reasoning',
        'message',
        'function_call',
        'function_call',
        'message',
      ]);
      expect(JSON.parse(JSON.stringify(streamed.output))).toMatchObject(whole.output);
    });
  });

  test('sees an answer that was cut off', async () => {
    const answer: ModelAnswer = { parts: [{ type: 'text', text: 'Hel' }], finish: { reason: 'length' }, usage: USAGE };
    await withAnswer(answer, async (client) => {
      const types: string[] = [];
      for await (const event of await client.responses.create({ model: 'm', input: 'x', stream: true }))
        types.push(event.type);
      expect(types.at(-1)).toBe('response.incomplete');
      const streamed = await client.responses.stream({ model: 'm', input: 'x' }).finalResponse();
      expect(streamed).toMatchObject({ status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } });
    });
  });
});
