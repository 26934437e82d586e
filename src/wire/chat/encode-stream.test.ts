import fc from 'fast-check';
import OpenAI from 'openai';
import { describe, expect, test } from 'vitest';
import { decodeAll } from '../../../test/harness/recordings.ts';
import type { FinishReason, ModelAnswer, Part, StreamEvent } from '../hub/canonical.ts';
import type { AnswerContext } from '../hub/codec.ts';
import { readDocument } from '../document/document.ts';
import { collectAnswer } from '../hub/collect-answer.ts';
import type { JsonObject } from '../document/json.ts';
import { chatCodec, chatUpstream } from './codec.ts';

const context = (more: Partial<AnswerContext> = {}, request: object = {}): AnswerContext => ({
  callId: '0190c2f4-0000-7000-8000-00000000000a',
  model: 'm',
  createdAt: 1_700_000_000,
  request: readDocument('chat', JSON.stringify({ model: 'p/m', ...request })),
  includeUsage: false,
  estimatedInput: 3,
  ...more,
});
const ID = 'chatcmpl-0190c2f400007000800000000000000a';
const usage = { input: 1, cacheRead: 2, cacheWrite5m: 3, cacheWrite1h: 0, output: 4, reasoning: 5 };
const text = (said: string): Part => ({ type: 'text', text: said });
const call = (id: string, argumentsJson = '{"a":1}'): Part => ({ type: 'tool-call', id, name: 'f', argumentsJson });

/** An answer as a provider may tell it: each part opened empty, said in two halves, and closed. */
function eventsOf({ id, parts, finish }: ModelAnswer): StreamEvent[] {
  const events: StreamEvent[] = [{ type: 'start', ...(id === undefined ? {} : { id }) }];
  for (const [index, part] of parts.entries()) {
    const whole = part.type === 'tool-call' ? part.argumentsJson : 'text' in part ? part.text : '';
    const empty = part.type === 'tool-call' ? { ...part, argumentsJson: '' } : { ...part, text: '' };
    const half = whole.length >> 1;
    events.push({ type: 'part-start', index, part: empty as Part });
    for (const piece of [whole.slice(0, half), whole.slice(half)]) {
      if (piece !== '') events.push({ type: 'part-delta', index, text: piece });
    }
    events.push({ type: 'part-end', index });
  }
  return [...events, { type: 'finish', finish }, { type: 'usage', usage }, { type: 'end' }];
}

function write(events: readonly StreamEvent[], more: Partial<AnswerContext> = {}, request: object = {}): string {
  const encoder = chatCodec.streamEncoder(context(more, request));
  return events.map((event) => encoder.encode(event)).join('');
}

/** What each frame says beside the envelope, which is the same in all. */
function frames(written: string): unknown[] {
  return written.split('\n\n').flatMap((frame): unknown[] => {
    if (frame === '') return [];
    const data = frame.replace(/^data: /, '');
    if (data === '[DONE]') return [data];
    const { id, object, created, model, ...rest } = JSON.parse(data) as JsonObject;
    expect({ id, object, created, model }).toEqual({
      id: ID,
      object: 'chat.completion.chunk',
      created: 1_700_000_000,
      model: 'm',
    });
    return [rest];
  });
}
const chunk = (delta: object, finish: string | null = null): object => ({
  choices: [{ index: 0, delta, finish_reason: finish }],
});

describe('a stream', () => {
  test('begins with the role and ends with how it finished, the usage that was asked for, and its mark', () => {
    const answer: ModelAnswer = {
      parts: [{ type: 'reasoning', text: 'rr' }, text('aa'), call('x'), text('bb'), call('y', '')],
      finish: { reason: 'tool-calls' },
    };
    expect(frames(write(eventsOf(answer), { includeUsage: true }))).toEqual([
      chunk({ role: 'assistant', content: '' }),
      chunk({ reasoning_content: 'r' }),
      chunk({ reasoning_content: 'r' }),
      chunk({ content: 'a' }),
      chunk({ content: 'a' }),
      chunk({ tool_calls: [{ index: 0, id: 'x', type: 'function', function: { name: 'f', arguments: '' } }] }),
      chunk({ tool_calls: [{ index: 0, function: { arguments: '{"a' } }] }),
      chunk({ tool_calls: [{ index: 0, function: { arguments: '":1}' } }] }),
      chunk({ content: 'b' }),
      chunk({ content: 'b' }),
      chunk({ tool_calls: [{ index: 1, id: 'y', type: 'function', function: { name: 'f', arguments: '' } }] }),
      chunk({ tool_calls: [{ index: 1, function: { arguments: '{}' } }] }),
      chunk({}, 'tool_calls'),
      {
        choices: [],
        usage: {
          prompt_tokens: 6,
          completion_tokens: 9,
          total_tokens: 15,
          prompt_tokens_details: { cached_tokens: 2, cache_write_tokens: 3 },
          completion_tokens_details: { reasoning_tokens: 5 },
        },
      },
      '[DONE]',
    ]);
  });

  test('without usage where none was asked for, and of an answer that says nothing', () => {
    const written = frames(write([{ type: 'finish', finish: { reason: 'refusal' } }, { type: 'end' }]));
    expect(written).toEqual([chunk({ role: 'assistant', content: '' }), chunk({}, 'content_filter'), '[DONE]']);
  });

  test('of what no client of the family understands, nothing', () => {
    const events: StreamEvent[] = [
      { type: 'part-start', index: 0, part: { type: 'opaque', family: 'messages', name: 'x', value: {} } },
      { type: 'part-delta', index: 0, text: 'x' },
      { type: 'part-proof', index: 0, proof: { family: 'messages', value: 'p' } },
      { type: 'part-end', index: 0 },
      { type: 'warning', message: 'w' },
      { type: 'error', message: 'e' },
    ];
    expect(write(events)).toBe('');
  });

  test('of calls told at the same time', () => {
    const events: StreamEvent[] = [
      { type: 'part-start', index: 0, part: call('x', '') },
      { type: 'part-start', index: 1, part: call('y', '{') },
      { type: 'part-delta', index: 0, text: '{"a":1}' },
      { type: 'part-delta', index: 1, text: '}' },
      { type: 'end' },
    ];
    expect(collectAnswer(read(write(events))).parts).toEqual([call('x'), call('y', '{}')]);
  });

  test('for clients that know calls of the old kind only', () => {
    const answer: ModelAnswer = { parts: [call('x'), call('y')], finish: { reason: 'tool-calls' } };
    const request = { functions: [{ name: 'f' }] };
    expect(frames(write(eventsOf(answer), {}, request))).toEqual([
      chunk({ role: 'assistant', content: '' }),
      chunk({ function_call: { name: 'f', arguments: '' } }),
      chunk({ function_call: { arguments: '{"a' } }),
      chunk({ function_call: { arguments: '":1}' } }),
      chunk({}, 'function_call'),
      '[DONE]',
    ]);
    expect(chatCodec.encodeAnswer(answer, context({}, request))).toMatchObject({
      choices: [
        {
          message: { content: null, function_call: { name: 'f', arguments: '{"a":1}' } },
          finish_reason: 'function_call',
        },
      ],
    });
  });

  test('reads well to the vendor’s own client', async () => {
    const answer: ModelAnswer = {
      parts: [text('hé'), call('x'), call('y', '')],
      finish: { reason: 'tool-calls' },
    };
    const written = write(eventsOf(answer), { includeUsage: true });
    const client = new OpenAI({
      apiKey: 'k',
      baseURL: 'http://localhost',
      fetch: () => Promise.resolve(new Response(written, { headers: { 'content-type': 'text/event-stream' } })),
    });
    const runner = client.chat.completions.stream({ model: 'm', messages: [{ role: 'user', content: 'x' }] });
    const completion = await runner.finalChatCompletion();
    expect(completion.choices[0]).toMatchObject({
      finish_reason: 'tool_calls',
      message: {
        content: 'hé',
        tool_calls: [
          { id: 'x', function: { name: 'f', arguments: '{"a":1}' } },
          { id: 'y', function: { name: 'f', arguments: '{}' } },
        ],
      },
    });
    expect(completion.usage).toMatchObject({ prompt_tokens: 6, completion_tokens: 9 });
  });
});

test('a whole answer', () => {
  const answer: ModelAnswer = {
    id: 'msg_1',
    parts: [{ type: 'reasoning', text: 'r' }, text('a'), call('x'), text('b')],
    finish: { reason: 'stop' },
    usage,
  };
  expect(chatCodec.encodeAnswer(answer, context())).toEqual({
    id: ID,
    object: 'chat.completion',
    created: 1_700_000_000,
    model: 'm',
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          content: 'ab',
          refusal: null,
          reasoning_content: 'r',
          tool_calls: [{ id: 'x', type: 'function', function: { name: 'f', arguments: '{"a":1}' } }],
        },
        logprobs: null,
        finish_reason: 'tool_calls',
      },
    ],
    usage: {
      prompt_tokens: 6,
      completion_tokens: 9,
      total_tokens: 15,
      prompt_tokens_details: { cached_tokens: 2, cache_write_tokens: 3 },
      completion_tokens_details: { reasoning_tokens: 5 },
    },
  });
});

test.each<[FinishReason, readonly Part[], string]>([
  ['stop', [text('a')], 'stop'],
  ['stop-sequence', [text('a')], 'stop'],
  ['pause', [text('a')], 'stop'],
  ['malformed', [], 'stop'],
  ['length', [call('x')], 'length'],
  ['context', [], 'length'],
  ['tool-calls', [call('x')], 'tool_calls'],
  ['filter', [call('x')], 'content_filter'],
  ['refusal', [], 'content_filter'],
  ['refusal', [{ type: 'refusal', text: 'no' }], 'stop'],
])('%s with %j is %s', (reason, parts, word) => {
  const { choices } = chatCodec.encodeAnswer({ parts, finish: { reason } }, context()) as {
    choices: { finish_reason: string }[];
  } & JsonObject;
  expect(choices[0]?.finish_reason).toBe(word);
});

function read(written: string): readonly StreamEvent[] {
  return decodeAll(chatUpstream.streamDecoder(), [Buffer.from(written)]);
}

describe('what is written reads as it was', () => {
  const said = fc.string({ minLength: 1 });
  const calls = fc.uniqueArray(fc.record({ id: fc.stringMatching(/^[a-z0-9]{1,9}$/), a: said }), {
    maxLength: 3,
    selector: ({ id }) => id,
  });
  const answer = fc
    .record({ reasoning: fc.option(said), words: fc.option(said), refusal: fc.option(said), calls, cut: fc.boolean() })
    .map(({ reasoning, words, refusal, calls: called, cut }): ModelAnswer => {
      const parts: Part[] = [];
      if (reasoning !== null) parts.push({ type: 'reasoning', text: reasoning });
      if (words !== null) parts.push(text(words));
      if (refusal !== null) parts.push({ type: 'refusal', text: refusal });
      for (const { id, a } of called) parts.push(call(id, JSON.stringify({ a })));
      const ended: FinishReason = called.length > 0 ? 'tool-calls' : refusal === null ? 'stop' : 'refusal';
      return { parts, finish: { reason: cut ? 'length' : ended }, usage };
    });

  test('in a stream', () => {
    fc.assert(
      fc.property(answer, (whole) => {
        expect(collectAnswer(read(write(eventsOf(whole), { includeUsage: true })))).toEqual({ ...whole, id: ID });
      }),
    );
  });

  test('and whole', () => {
    fc.assert(
      fc.property(answer, (whole) => {
        expect(chatUpstream.decodeAnswer(chatCodec.encodeAnswer(whole, context()))).toEqual({ ...whole, id: ID });
      }),
    );
  });
});
