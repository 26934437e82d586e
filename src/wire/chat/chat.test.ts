import { describe, expect, test } from 'vitest';
import type { BadRequestShape } from '../hub/codec.ts';
import { frameFacts } from '../../../test/harness/frame-facts.ts';
import { readDocument, render } from '../document/document.ts';
import { isObject } from '../document/json.ts';
import type { SseEvent } from '../answer/sse.ts';
import { chatCodec } from './codec.ts';
import { ask } from './read-request.ts';
import { readAnswer } from './read-answer.ts';
import { ChatStreamReader } from './read-stream.ts';
import { hideCacheCounts, readUsage, writeUsage } from './usage.ts';

const request = (more: object) =>
  readDocument('chat', JSON.stringify({ model: 'p/m', messages: [{ role: 'user', content: 'x' }], ...more }));

describe('requests', () => {
  test.each([
    [{ max_tokens: 5 }, 5],
    [{ max_completion_tokens: 7 }, 7],
    [{ max_tokens: 100, max_completion_tokens: 1 }, 100],
    [{ max_tokens: 5, n: 3 }, 15],
    [{}, undefined],
    [{ max_tokens: null }, undefined],
  ])('the output ceiling of %j is %s', (more, expected) => {
    expect(ask(request(more)).maxOutputTokens).toBe(expected);
  });

  test.each([
    [{ model: '' }, 'model'],
    [{ model: `p/${'m'.repeat(300)}` }, 'model'],
    [{ model: 'p/ada@example.com and more' }, 'model'],
    [{ model: 7 }, 'model'],
    [{ messages: 'x' }, 'messages'],
    [{ messages: [] }, 'messages'],
    [{ messages: [{ content: 'x' }] }, 'messages[0]'],
    [{ messages: [{ role: 'user', content: 7 }] }, 'messages[0].content'],
    [{ stream: 'yes' }, 'stream'],
    [{ stream_options: [] }, 'stream_options'],
    [{ n: 0 }, 'n'],
    [{ n: 1e9 }, 'n'],
    [{ max_tokens: -1 }, 'max_tokens'],
    [{ max_tokens: 1.5 }, 'max_tokens'],
    [{ max_completion_tokens: 1e18 }, 'max_completion_tokens'],
    [{ Model: 'p/dear' }, 'model'],
    [{ MAX_TOKENS: 9 }, 'max_tokens'],
    [{ ſtream: true }, 'stream'],
    [{ GW: { remove: ['x'] } }, 'gw'],
    [{ 'Gw.remove': ['x'] }, 'gw.remove'],
  ])('%j is refused, naming %s', (more, param) => {
    expect(() => ask(request(more))).toThrow(
      expect.objectContaining({ name: 'BadRequestShape', param }) as BadRequestShape,
    );
  });

  test('an answer in JSON is told from one in text', () => {
    expect(ask(request({ response_format: { type: 'json_object' } }))).toMatchObject({
      jsonAnswer: true,
      jsonSchema: false,
    });
    const schema = { type: 'json_schema', json_schema: { name: 'x', schema: {} } };
    expect(ask(request({ response_format: schema }))).toMatchObject({ jsonAnswer: true, jsonSchema: true });
    expect(ask(request({ response_format: { type: 'text' } })).jsonAnswer).toBe(false);
  });
});

describe('usage', () => {
  test('is cut into buckets that share no token', () => {
    const usage = readUsage({
      prompt_tokens: 100,
      completion_tokens: 50,
      prompt_tokens_details: { cached_tokens: 60, cache_write_tokens: 10 },
      completion_tokens_details: { reasoning_tokens: 20 },
    });
    expect(usage).toEqual({ input: 30, cacheRead: 60, cacheWrite5m: 10, cacheWrite1h: 0, output: 30, reasoning: 20 });
    expect(writeUsage(usage!)).toMatchObject({ prompt_tokens: 100, completion_tokens: 50, total_tokens: 150 });
  });

  test.each([undefined, null, {}, { prompt_tokens: 5 }])('%j is no account of anything', (usage) => {
    expect(readUsage(usage as never)).toBeUndefined();
  });

  test.each([
    { prompt_tokens: '5', completion_tokens: '1' },
    { prompt_tokens: -1, completion_tokens: 1 },
    { prompt_tokens: 1, completion_tokens: 1.5 },
  ])('%j counts nothing that could be billed', (usage) => {
    expect(Object.values(readUsage(usage) ?? {}).some(Number.isNaN)).toBe(true);
  });

  const plain = { prompt_tokens: 100, completion_tokens: 10 };
  test.each([
    ['DeepSeek', { ...plain, prompt_cache_hit_tokens: 60, prompt_cache_miss_tokens: 40 }, { input: 40, cacheRead: 60 }],
    ['Mistral', { ...plain, num_cached_tokens: 60 }, { input: 40, cacheRead: 60 }],
    [
      'a cache beside the prompt',
      { ...plain, prompt_tokens_details: { cached_tokens: 300 } },
      { input: 100, cacheRead: 300 },
    ],
    [
      'reasoning beside the completion, told',
      { ...plain, total_tokens: 140, completion_tokens_details: { reasoning_tokens: 30 } },
      { output: 10, reasoning: 30 },
    ],
    ['reasoning beside the completion, untold', { ...plain, total_tokens: 140 }, { output: 10, reasoning: 30 }],
    [
      'reasoning inside the completion',
      { ...plain, total_tokens: 110, completion_tokens_details: { reasoning_tokens: 4 } },
      { output: 6, reasoning: 4 },
    ],
    [
      'cache and reasoning beside',
      {
        ...plain,
        total_tokens: 440,
        prompt_tokens_details: { cached_tokens: 300 },
        completion_tokens_details: { reasoning_tokens: 30 },
      },
      { input: 100, cacheRead: 300, output: 10, reasoning: 30 },
    ],
    [
      'no details',
      { ...plain, prompt_tokens_details: null, completion_tokens_details: null },
      { input: 100, output: 10 },
    ],
    ['a total that is too small', { ...plain, total_tokens: 1 }, { input: 100, output: 10, reasoning: 0 }],
  ])('%s', (_name, usage, expected) => {
    expect(readUsage(usage)).toMatchObject(expected);
  });

  test('hides what was cached, wherever a vendor tells it, and leaves the rest as written', () => {
    const shown = (body: object): unknown => {
      const document = readDocument('chat', JSON.stringify(body));
      return JSON.parse(render(document.text, hideCacheCounts(document)));
    };
    const choices = [{ message: { cached_tokens: 7, usage: { cached_tokens: 7 } } }];
    const usage = (cached: number, miss: number, write: number) => ({
      prompt_tokens: 100,
      prompt_tokens_details: { cached_tokens: cached, cache_write_tokens: write, audio_tokens: 1 },
      prompt_cache_hit_tokens: cached,
      prompt_cache_miss_tokens: miss,
    });
    expect(shown({ choices, usage: usage(60, 40, 5), x_groq: { id: 'r', usage: usage(60, 40, 5) } })).toEqual({
      choices,
      usage: usage(0, 100, 0),
      x_groq: { id: 'r', usage: usage(0, 100, 0) },
    });
    for (const body of [{ usage: null }, {}, { usage: { prompt_tokens: 1 } }]) expect(shown(body)).toEqual(body);
  });

  test('details beyond the whole never make it more or less', () => {
    const usage = readUsage({
      prompt_tokens: 5,
      completion_tokens: 1,
      prompt_tokens_details: { cached_tokens: 1e18, cache_write_tokens: 7 },
      completion_tokens_details: { reasoning_tokens: 9 },
    });
    expect(usage).toEqual({ input: 0, cacheRead: 5, cacheWrite5m: 0, cacheWrite1h: 0, output: 0, reasoning: 1 });
  });
});

test('an id that a row cannot hold is none', () => {
  const id = (value: unknown) => readAnswer({ id: value as string, choices: [{}] }).id;
  expect(id('chatcmpl-1')).toBe('chatcmpl-1');
  for (const bad of ['', 'x'.repeat(200), 'ada said: hello', 7, null]) expect(id(bad)).toBeUndefined();
});

describe('streams', () => {
  const event = (body: object | string): SseEvent => {
    const data = typeof body === 'string' ? body : JSON.stringify(body);
    return { event: undefined, data, raw: `data: ${data}\n\n` };
  };
  const choice = (index: number, finish: string | null = null) => ({
    choices: [{ index, delta: { content: 'é' }, finish_reason: finish }],
  });

  test('are over when every choice is, or with [DONE]', () => {
    const reader = new ChatStreamReader();
    expect(reader.finished).toBe(false);
    reader.read(event(choice(0)));
    reader.read(event(choice(1)));
    reader.read(event(choice(0, 'stop')));
    expect(reader.finished).toBe(false);
    reader.read(event(choice(1, 'length')));
    expect(reader.finished).toBe(true);
    const other = new ChatStreamReader();
    other.read(event(choice(0)));
    other.read(event('[DONE]'));
    expect(other.finished).toBe(true);
  });

  test.each([
    ['a frame of another vendor', { choices: [], prompt_filter_results: [] }, { kind: 'other' }],
    ['an empty finish', { choices: [{ index: 0, delta: {}, finish_reason: '' }] }, { ends: [] }],
    [
      'usage beside the finish',
      { ...choice(0, 'stop'), usage: { prompt_tokens: 3, completion_tokens: 1 } },
      { kind: 'content', usage: { input: 3 } },
    ],
    [
      'usage in its own place',
      { choices: [], x_groq: { usage: { prompt_tokens: 3, completion_tokens: 1 } } },
      { kind: 'usage' },
    ],
    ['text in bytes', choice(0), { outputBytes: 2 }],
    ['an error', { error: { message: 'm'.repeat(9999) } }, { kind: 'error', error: 'm'.repeat(2000) }],
    ['an error in words', { error: 'no' }, { kind: 'error', error: 'no' }],
  ])('%s', (_name, body, expected) => {
    expect(frameFacts(chatCodec, new ChatStreamReader(), event(body))).toMatchObject(expected);
  });

  test('a comment and an empty event are nothing', () => {
    const reader = new ChatStreamReader();
    for (const data of [undefined, '']) expect(reader.read({ event: undefined, data, raw: '' }).kind).toBe('other');
    expect(isObject(reader)).toBe(true);
  });
});
