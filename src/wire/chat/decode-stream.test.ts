import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import {
  NO_RECORDINGS,
  decodeAll,
  recordedBody,
  recordedStream,
  recordingsOf,
} from '../../../test/harness/recordings.ts';
import { skipUnless } from '../../../test/harness/skip.ts';
import type { StreamEvent } from '../hub/canonical.ts';
import { collectAnswer } from '../hub/collect-answer.ts';
import type { JsonObject } from '../document/json.ts';
import { mintedId } from '../hub/tool-ids.ts';
import { chatUpstream } from './codec.ts';

/** Input, cache, output and reasoning as the files themselves tell them, in buckets that share no token. */
const USAGE: Readonly<Record<string, Readonly<Record<string, readonly [number, number, number, number]>>>> = {
  openai: { 'openai-text.json': [16, 0, 363, 0], 'openai-text.chunks.txt': [16, 0, 300, 0] },
  deepseek: {
    'deepseek-json.json': [175, 320, 26, 118],
    'deepseek-reasoning.json': [18, 0, 30, 315],
    'deepseek-reasoning.chunks.txt': [18, 0, 14, 205],
    'deepseek-text.json': [13, 0, 300, 0],
    'deepseek-text.chunks.txt': [13, 0, 400, 0],
    'deepseek-tool-call.json': [19, 320, 44, 48],
    'deepseek-tool-call.chunks.txt': [19, 320, 44, 39],
  },
  groq: {
    'groq-reasoning.json': [17, 0, 79, 570],
    'groq-reasoning.chunks.txt': [17, 0, 144, 963],
    'groq-text.json': [45, 0, 607, 0],
    'groq-text.chunks.txt': [45, 0, 662, 0],
    'groq-tool-call.json': [218, 0, 15, 0],
    'groq-tool-call.chunks.txt': [210, 0, 15, 0],
  },
  mistral: {
    'mistral-incremental-tool-call.chunks.txt': [43, 128, 14, 0],
    'mistral-reasoning.json': [10, 0, 46, 0],
    'mistral-reasoning.chunks.txt': [10, 0, 46, 0],
    'mistral-text.json': [13, 0, 434, 0],
    'mistral-text.chunks.txt': [13, 0, 8, 0],
    'mistral-tool-call.json': [124, 0, 22, 0],
    'mistral-tool-call.chunks.txt': [124, 0, 22, 0],
  },
  xai: {
    'xai-text.json': [10, 2, 1, 228],
    'xai-text.chunks.txt': [1, 11, 1, 290],
    'xai-tool-call.json': [47, 244, 26, 189],
    'xai-tool-call.chunks.txt': [1, 290, 26, 196],
  },
  'openai-compatible': {
    'xai-text.json': [10, 2, 2, 320],
    'xai-text.chunks.txt': [1, 11, 2, 340],
    'xai-tool-call.json': [63, 244, 26, 255],
    'xai-tool-call.chunks.txt': [1, 306, 26, 227],
  },
};

const files = Object.entries(USAGE).flatMap(([provider, names]) =>
  Object.entries(names).map(([name, [input, cacheRead, output, reasoning]]) => {
    const usage = { input, cacheRead, cacheWrite5m: 0, cacheWrite1h: 0, output, reasoning };
    return [provider, name, usage] as const;
  }),
);
const recorded = skipUnless(recordingsOf('openai', '.json').length > 0, NO_RECORDINGS);

const reasonOf = (name: string): string => {
  if (name.startsWith('deepseek-text')) return 'length';
  return name.includes('tool-call') ? 'tool-calls' : 'stop';
};
const troubles = (events: readonly StreamEvent[]): readonly StreamEvent[] =>
  events.filter(({ type }) => type === 'warning' || type === 'error');

/** Up to here every cut is tried; longer streams are cut at every byte at once. */
const SHORT = 4096;

describe('recordings', recorded, () => {
  test.each(files.filter(([, name]) => name.endsWith('.chunks.txt')))('%s %s', (provider, name, usage) => {
    const bytes = Buffer.from(`${recordedStream(provider, name)}data: [DONE]\n\n`);
    const whole = decodeAll(chatUpstream.streamDecoder(), [bytes]);
    const { finish, ...answer } = collectAnswer(whole);
    expect(troubles(whole)).toEqual([]);
    expect(answer.usage).toEqual(usage);
    expect(finish).toEqual({ reason: reasonOf(name) });
    expect(answer.parts.some(({ type }) => type === 'reasoning')).toBe(
      usage.reasoning > 0 || name.includes('reasoning'),
    );
    for (const part of answer.parts) if (part.type === 'tool-call') JSON.parse(part.argumentsJson);
    const pieces = Array.from(bytes, (byte) => Uint8Array.of(byte));
    expect(decodeAll(chatUpstream.streamDecoder(), pieces)).toEqual(whole);
    for (let at = 1; bytes.length < SHORT && at < bytes.length; at++) {
      const cut = decodeAll(chatUpstream.streamDecoder(), [bytes.subarray(0, at), bytes.subarray(at)]);
      if (JSON.stringify(cut) !== JSON.stringify(whole)) expect(cut, `cut at ${at}`).toEqual(whole);
    }
  });

  test.each(files.filter(([, name]) => name.endsWith('.json')))('%s %s', (provider, name, usage) => {
    const body = recordedBody(provider, name);
    const answer = chatUpstream.decodeAnswer(body);
    expect(answer).toMatchObject({ id: body['id'], usage });
    expect(answer?.finish.reason).toBe(reasonOf(name));
    const calls = answer?.parts.filter(({ type }) => type === 'tool-call') ?? [];
    expect(calls.map((part) => ('name' in part ? part.name : ''))).toEqual(
      name.includes('tool-call') ? ['weather'] : [],
    );
  });

  test('what the recorded chunks add up to', () => {
    const read = (provider: string, name: string) =>
      collectAnswer(decodeAll(chatUpstream.streamDecoder(), [Buffer.from(recordedStream(provider, name))])).parts;
    expect(read('mistral', 'mistral-reasoning.chunks.txt')).toEqual([
      { type: 'reasoning', text: 'The user is asking for 2+2. This is basic arithmetic. 2+2=4.' },
      { type: 'text', text: '2 + 2 = 4' },
    ]);
    expect(read('mistral', 'mistral-incremental-tool-call.chunks.txt')).toEqual([
      {
        type: 'tool-call',
        id: 'chatcmpl-tool-9f149c74c42f265b',
        name: 'webSearchTool',
        argumentsJson: '{"query": "current Berlin weather"}',
      },
    ]);
  });

  test('a call whose index does not begin at nothing', () => {
    const root = new URL('../../../../shared/recordings/openai-compatible/', import.meta.url);
    const bytes = readFileSync(new URL('anthropic-fallback-tool-call.sse', root));
    const events = decodeAll(chatUpstream.streamDecoder(), [bytes]);
    expect(troubles(events)).toEqual([]);
    expect(collectAnswer(events)).toEqual({
      id: 'msg_sanitized',
      parts: [
        { type: 'text', text: 'Reading it.' },
        { type: 'tool-call', id: 'toolu_sanitized', name: 'read_file', argumentsJson: '{"path": "a.txt"}' },
      ],
      finish: { reason: 'tool-calls' },
    });
  });
});

/** A stream of these deltas of the first choice, without its end. */
const stream = (...deltas: readonly object[]): string =>
  deltas.map((delta) => `data: ${JSON.stringify({ id: 'a', choices: [{ index: 0, delta }] })}\n\n`).join('');
const raw = (...bodies: readonly object[]): string =>
  bodies.map((body) => `data: ${JSON.stringify(body)}\n\n`).join('');
const read = (text: string): readonly StreamEvent[] => decodeAll(chatUpstream.streamDecoder(), [Buffer.from(text)]);
const call = (more: object, called: object = {}): object => ({ tool_calls: [{ ...more, function: called }] });
const DONE = 'data: [DONE]\n\n';

describe('tool calls', () => {
  const id = (index: number): string => mintedId(`a/${index}`);
  test.each<[string, readonly object[], readonly (readonly [string, string, string])[]]>([
    [
      'an index reused with a new id is a new call',
      [
        call({ index: 0, id: 'x' }, { name: 'f', arguments: '{}' }),
        call({ index: 0, id: 'y' }, { name: 'g', arguments: '{}' }),
      ],
      [
        ['x', 'f', '{}'],
        ['y', 'g', '{}'],
      ],
    ],
    [
      'the same id again is the same call',
      [
        call({ index: 0, id: 'x' }, { name: 'f', arguments: '{"a"' }),
        call({ index: 0, id: 'x' }, { name: 'f', arguments: ':1}' }),
      ],
      [['x', 'f', '{"a":1}']],
    ],
    [
      'interleaved calls',
      [
        call({ index: 0, id: 'x' }, { name: 'f', arguments: '{"a"' }),
        call({ index: 1, id: 'y' }, { name: 'g', arguments: '{"b"' }),
        call({ index: 0 }, { arguments: ':1}' }),
        call({ index: 1 }, { arguments: ':2}' }),
      ],
      [
        ['x', 'f', '{"a":1}'],
        ['y', 'g', '{"b":2}'],
      ],
    ],
    [
      'whole calls without ids or indexes',
      [call({}, { name: 'f', arguments: '{}' }), call({}, { name: 'f', arguments: '{}' })],
      [
        [id(0), 'f', '{}'],
        [id(1), 'f', '{}'],
      ],
    ],
    [
      'whole calls under one index without ids',
      [call({ index: 0 }, { name: 'f', arguments: '{}' }), call({ index: 0 }, { name: 'g', arguments: '{}' })],
      [
        [id(0), 'f', '{}'],
        [id(1), 'g', '{}'],
      ],
    ],
    [
      'arguments as an object, and an empty name afterwards',
      [
        call({ index: 0, id: 'x' }, { name: 'f', arguments: { a: 1 } }),
        call({ index: 0 }, { name: '', arguments: '' }),
      ],
      [['x', 'f', '{"a":1}']],
    ],
    [
      'a name that comes late',
      [
        call({ index: 0, id: 'x' }, { arguments: '{' }),
        call({ index: 0 }, { name: 'f' }),
        call({ index: 0 }, { arguments: '}' }),
      ],
      [['x', 'f', '{}']],
    ],
    [
      'the old kind',
      [{ function_call: { name: 'f', arguments: '{"a"' } }, { function_call: { arguments: ':1}' } }],
      [[id(0), 'f', '{"a":1}']],
    ],
  ])('%s', (_name, deltas, expected) => {
    const events = read(stream(...deltas) + DONE);
    expect(troubles(events)).toEqual([]);
    const gathered = collectAnswer(events);
    expect(gathered.parts).toEqual(
      expected.map(([callId, name, argumentsJson]) => ({ type: 'tool-call', id: callId, name, argumentsJson })),
    );
    expect(gathered.finish).toEqual({ reason: 'tool-calls' });
  });

  test('a complete call is closed when the next begins, so that both can be told in order', () => {
    const deltas = [
      call({ index: 0, id: 'x' }, { name: 'f', arguments: '{}' }),
      call({ index: 1, id: 'y' }, { name: 'g' }),
    ];
    expect(read(stream(...deltas)).map((event) => [event.type, 'index' in event ? event.index : undefined])).toEqual([
      ['start', undefined],
      ['part-start', 0],
      ['part-end', 0],
      ['part-start', 1],
      ['part-end', 1],
    ]);
  });

  test('hostile shapes are warned of or left out', () => {
    expect(troubles(read(stream(call({ index: 0, id: 'x' }, { arguments: '{}' })) + DONE))).toHaveLength(1);
    for (const delta of [
      { tool_calls: [null, 7, 'x', []] },
      { tool_calls: {} },
      { content: { a: 1 } },
      { content: 7, reasoning: [], refusal: {} },
      { function_call: 'f' },
    ]) {
      expect(collectAnswer(read(stream(delta) + DONE)).parts).toEqual([]);
    }
    expect(troubles(read(stream({ content: [{ type: 'hologram' }] }) + DONE))).toHaveLength(1);
    expect(() => read('data: {"choices"\n\n')).toThrow(SyntaxError);
  });
});

describe('what vendors vary', () => {
  test('texts of several kinds, each a part of its own where it changes', () => {
    const events = read(
      stream(
        { role: 'assistant', content: '' },
        { reasoning: 'r', reasoning_content: 'r' },
        {
          reasoning_details: [
            { type: 'reasoning.text', text: 's' },
            { type: 'reasoning.encrypted', data: 'x' },
          ],
        },
        { role: 'assistant', content: '<think>' },
        call({ index: 0, id: 'x' }, { name: 'f', arguments: '{}' }),
        {
          content: [
            { type: 'text', text: 'b' },
            { type: 'reference', reference_ids: [1] },
          ],
        },
        { refusal: 'no' },
        { content: null, annotations: [{ type: 'url_citation' }] },
      ) + DONE,
    );
    expect(troubles(events)).toEqual([]);
    expect(collectAnswer(events).parts).toEqual([
      { type: 'reasoning', text: 'rs' },
      { type: 'text', text: '<think>' },
      { type: 'tool-call', id: 'x', name: 'f', argumentsJson: '{}' },
      { type: 'text', text: 'b' },
      { type: 'refusal', text: 'no' },
    ]);
  });

  test.each<[string, string | undefined, readonly object[], string]>([
    ['stop', 'stop', [{ content: 'x' }], 'stop'],
    ['stop beside calls', 'stop', [call({ id: 'x' }, { name: 'f' })], 'tool-calls'],
    ['calls without any', 'tool_calls', [{ content: 'x' }], 'stop'],
    ['length beside calls', 'length', [call({ id: 'x' }, { name: 'f' })], 'length'],
    ['a refusal', 'stop', [{ refusal: 'no' }], 'refusal'],
    ['a filter', 'content_filter', [{ content: 'x' }], 'filter'],
    ['a full context', 'model_length', [], 'context'],
    ['what could not be read', 'error', [], 'malformed'],
    ['the old word', 'function_call', [{ function_call: { name: 'f', arguments: '{}' } }], 'tool-calls'],
    ['no word but an end marker', undefined, [{ content: 'x' }], 'stop'],
    ['an empty word', '', [call({ id: 'x' }, { name: 'f' })], 'tool-calls'],
  ])('%s', (_name, word, deltas, reason) => {
    const finish = raw({ choices: [{ index: 0, delta: {}, finish_reason: word }] });
    const events = read(stream(...deltas) + finish + DONE);
    expect(collectAnswer(events).finish).toEqual({ reason });
    expect(events.filter(({ type }) => type === 'finish')).toHaveLength(1);
    expect(events.at(-1)).toEqual({ type: 'end' });
  });

  test('usage in any place, the last one counts; other choices and foreign frames do not', () => {
    const usage = (output: number) => ({ prompt_tokens: 3, completion_tokens: output });
    const events = read(
      raw(
        { id: 'a', choices: [], prompt_filter_results: [{}] },
        { choices: [{ index: 1, delta: { content: 'other' } }], usage: usage(1) },
        { choices: [{ delta: { content: 'x' }, usage: usage(2) }] },
        { choices: [{ index: 0, finish_reason: 'stop', content_filter_results: {} }] },
        { choices: [], x_groq: { usage: usage(3) }, usage: null },
      ),
    );
    expect(collectAnswer(events)).toMatchObject({ id: 'a', parts: [{ text: 'x' }], usage: { input: 3, output: 3 } });
    expect(events.filter(({ type }) => type === 'usage')).toHaveLength(3);
  });

  test.each([
    [
      { error: { message: 'no', code: 'server_restarting' } },
      { type: 'error', message: 'no', code: 'server_restarting' },
    ],
    [{ error: 'no' }, { type: 'error', message: 'no' }],
    [
      { object: 'error', message: 'no', code: 3000 },
      { type: 'error', message: 'no', code: '3000' },
    ],
  ])('an error: %j', (body, expected) => {
    expect(read(stream({ content: 'x' }) + raw(body))).toContainEqual(expected);
    expect(chatUpstream.decodeAnswer(body as JsonObject)).toBeUndefined();
  });

  test('bytes that end early are told from an answer that ended', () => {
    const reader = chatUpstream.streamDecoder();
    const events = decodeAll(reader, [Buffer.from(stream({ content: 'x' }))]);
    expect(reader.finished).toBe(false);
    expect(events.at(-1)).toEqual({ type: 'part-end', index: 0 });
    for (const end of [DONE, raw({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] })]) {
      const other = chatUpstream.streamDecoder();
      decodeAll(other, [Buffer.from(stream({ content: 'x' }) + end)]);
      expect(other.finished).toBe(true);
    }
  });

  test.each([{}, { choices: [] }, { choices: [{}] }, { choices: 'x' }, { choices: [{ message: 'x' }] }])(
    '%j is no answer',
    (body) => {
      expect(chatUpstream.decodeAnswer(body as JsonObject)).toBeUndefined();
    },
  );

  test('nothing after the end marker counts', () => {
    expect(
      read(stream({ content: 'x' }) + DONE + stream({ content: 'y' }) + DONE).filter(({ type }) => type === 'end'),
    ).toHaveLength(1);
  });
});
