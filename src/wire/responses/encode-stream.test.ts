import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import fc from 'fast-check';
import OpenAI from 'openai';
import { describe, expect, test } from 'vitest';
import { parseSse } from '../../../test/harness/sse.ts';
import type { Finish, FinishReason, ModelAnswer, Part, StreamEvent } from '../hub/canonical.ts';
import type { AnswerContext } from '../hub/codec.ts';
import { readDocument } from '../document/document.ts';
import { collectAnswer } from '../answer/collect-answer.ts';
import type { JsonObject } from '../document/json.ts';
import { SseDecoder } from '../answer/sse.ts';
import { withSearches } from '../answer/usage.ts';
import { responsesCodec, responsesUpstream } from './codec.ts';

const TOOL = { type: 'function', name: 'f', parameters: { type: 'object' }, strict: false };
const REQUEST = {
  model: 'p/m',
  instructions: 'Be brief.',
  input: 'x',
  tools: [TOOL],
  tool_choice: 'auto',
  temperature: 0.5,
  max_output_tokens: 99,
  metadata: { a: 'b' },
  reasoning: { effort: 'low' },
  text: { verbosity: 'low' },
};
const context: AnswerContext = {
  callId: '0a0b0c0d-0000-4000-8000-00000000000f',
  model: 'm',
  createdAt: 1_700_000_000,
  request: readDocument('responses', JSON.stringify(REQUEST)),
  includeUsage: true,
  estimatedInput: 3,
};
const USAGE = { input: 5, cacheRead: 3, cacheWrite5m: 2, cacheWrite1h: 0, output: 7, reasoning: 4 };

/** The events that tell an answer, its texts in pieces of at most `size`. */
function eventsOf({ parts, finish, usage }: ModelAnswer, size: number): StreamEvent[] {
  const pieces = (index: number, text: string): StreamEvent[] =>
    (text.match(new RegExp(`[^]{1,${size}}`, 'g')) ?? []).map((piece) => ({ type: 'part-delta', index, text: piece }));
  return [
    { type: 'start', id: 'theirs' },
    ...parts.flatMap((part, index): StreamEvent[] => {
      const end: StreamEvent = { type: 'part-end', index };
      if (part.type === 'tool-call') {
        const { argumentsJson, ...call } = part;
        return [
          { type: 'part-start', index, part: { ...call, argumentsJson: '' } },
          ...pieces(index, argumentsJson),
          end,
        ];
      }
      if (part.type !== 'text' && part.type !== 'refusal' && part.type !== 'reasoning') {
        return [{ type: 'part-start', index, part }, end];
      }
      const blank: Part = part.type === 'reasoning' ? { type: 'reasoning', text: '' } : { ...part, text: '' };
      const proof = part.type === 'reasoning' ? part.proof : undefined;
      const proven: StreamEvent[] = proof ? [{ type: 'part-proof', index, proof }] : [];
      return [{ type: 'part-start', index, part: blank }, ...pieces(index, part.text), ...proven, end];
    }),
    { type: 'finish', finish },
    ...(usage ? [{ type: 'usage', usage } as const] : []),
    { type: 'end' },
  ];
}

function write(events: readonly StreamEvent[]): string {
  const encoder = responsesCodec.streamEncoder(context);
  return events.map((event) => encoder.encode(event)).join('');
}

interface Written {
  readonly type: string;
  readonly sequence_number: number;
  readonly [member: string]: unknown;
}

function parse(stream: string): readonly Written[] {
  return parseSse(Buffer.from(stream)).map((message) => {
    if (message.type !== 'event') throw new Error('a comment');
    const body = JSON.parse(message.data) as Written;
    expect(message.event).toBe(body.type);
    return body;
  });
}

function readBack(stream: string): { events: readonly StreamEvent[]; answer: ReturnType<typeof collectAnswer> } {
  const reader = responsesUpstream.streamDecoder();
  const decoder = new SseDecoder(2 ** 20);
  const events = [...decoder.push(Buffer.from(stream)), ...decoder.end()].flatMap((event) => reader.decode(event));
  return { events, answer: collectAnswer(events) };
}

const ANSWER: ModelAnswer = {
  parts: [
    { type: 'reasoning', text: 'Let me see.', proof: { family: 'responses', value: 'c2VhbA==' } },
    { type: 'text', text: 'Hello' },
    { type: 'text', text: ', Łódź 😀' },
    { type: 'tool-call', id: 'call_1', name: 'f', argumentsJson: '{"a":1}' },
    { type: 'tool-call', id: 'call_2', name: 'f', argumentsJson: '' },
    { type: 'text', text: 'Bye' },
  ],
  finish: { reason: 'tool-calls' },
  usage: USAGE,
};

describe('the order of a stream', () => {
  const written = parse(write(eventsOf(ANSWER, 4)));
  const ID = '0a0b0c0d000040008000';

  test('is the one of the vendor', () => {
    const brief = written.map(({ type }) => type.replace('response.', '')).join(' ');
    const content = (deltas: string) => `content_part.added ${deltas} output_text.done content_part.done`;
    const call = (deltas: string) => `output_item.added ${deltas}function_call_arguments.done output_item.done`;
    expect(brief).toBe(
      [
        'created in_progress',
        'output_item.added reasoning_summary_part.added',
        'reasoning_summary_text.delta reasoning_summary_text.delta reasoning_summary_text.delta',
        'reasoning_summary_text.done reasoning_summary_part.done output_item.done',
        'output_item.added',
        content('output_text.delta output_text.delta'),
        content('output_text.delta output_text.delta output_text.delta'),
        'output_item.done',
        call('function_call_arguments.delta function_call_arguments.delta '),
        call('function_call_arguments.delta '),
        'output_item.added',
        content('output_text.delta'),
        'output_item.done',
        'completed',
      ].join(' '),
    );
  });

  test('is numbered, and every event says which item and which piece it speaks of', () => {
    expect(written.map((event) => event.sequence_number)).toEqual(written.map((_event, index) => index));
    const ids = written.flatMap((event) =>
      event.type === 'response.output_item.added' ? [(event['item'] as { id: string }).id] : [],
    );
    expect(ids).toEqual(['rs', 'msg', 'fc', 'fc', 'msg'].map((prefix, at) => `${prefix}_${ID}00000000000f_${at}`));
    for (const event of written) {
      if ('item_id' in event) expect(event['item_id']).toBe(ids[event['output_index'] as number]);
      if (event.type.startsWith('response.output_text') || event.type.startsWith('response.content_part')) {
        expect(event['content_index']).toBeTypeOf('number');
      }
    }
    const places = written
      .filter(({ type }) => type === 'response.output_text.done')
      .map((event) => [event['output_index'], event['content_index'], event['text']]);
    expect(places).toEqual([
      [1, 0, 'Hello'],
      [1, 1, ', Łódź 😀'],
      [4, 0, 'Bye'],
    ]);
  });

  test('ends with the whole answer, which alone tells usage', () => {
    const responses = written.flatMap((event) => ('response' in event ? [event['response'] as JsonObject] : []));
    expect(responses.map((response) => [response['status'], response['usage'] !== null])).toEqual([
      ['in_progress', false],
      ['in_progress', false],
      ['completed', true],
    ]);
    expect(responses.at(-1)).toEqual(responsesCodec.encodeAnswer(ANSWER, context));
    const items = written.flatMap((event) => (event.type === 'response.output_item.done' ? [event['item']] : []));
    expect(items).toEqual(responses.at(-1)?.['output']);
  });
});

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
