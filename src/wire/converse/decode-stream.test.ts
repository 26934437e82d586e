import fc from 'fast-check';
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
import { writeEvent } from '../answer/sse.ts';
import { converseUpstream } from './codec.ts';

const PROVIDER = 'amazon-bedrock';
const streams = recordingsOf(PROVIDER, '.chunks.txt');
const recorded = skipUnless(streams.length > 0, NO_RECORDINGS);

/** Input and output as the files themselves tell them. */
const USAGE: Readonly<Record<string, readonly [number, number]>> = {
  'amazon-bedrock-json-only-text-first.1.chunks.txt': [100, 20],
  'amazon-bedrock-json-other-tool.1.chunks.txt': [843, 28],
  'amazon-bedrock-json-other-tool.1.json': [843, 28],
  'amazon-bedrock-json-tool-with-answer.1.json': [156, 35],
  'amazon-bedrock-reasoning.chunks.txt': [51, 94],
  'amazon-bedrock-reasoning.json': [51, 78],
  'amazon-bedrock-text.chunks.txt': [22, 55],
  'amazon-bedrock-text.json': [22, 57],
  'amazon-bedrock-tool-call.1.chunks.txt': [125, 45],
  'amazon-bedrock-tool-call.1.json': [10, 20],
};

function usage(name: string): object {
  const [input, output] = USAGE[name] ?? [];
  return { input, cacheRead: 0, cacheWrite5m: 0, cacheWrite1h: 0, output, reasoning: 0 };
}

/** A stream of named events with bare payloads, as the provider's exit re-frames them. */
const decode = (...events: readonly (readonly [name: string, payload: object])[]): readonly StreamEvent[] =>
  decodeAll(
    converseUpstream.streamDecoder(),
    events.map(([name, payload]) => Buffer.from(writeEvent(JSON.stringify(payload), name))),
  );
const delta = (contentBlockIndex: number, more: object): readonly [string, object] => [
  'contentBlockDelta',
  { contentBlockIndex, delta: more },
];
const stop = (contentBlockIndex: number): readonly [string, object] => ['contentBlockStop', { contentBlockIndex }];
const faults = (events: readonly StreamEvent[]): readonly StreamEvent[] =>
  events.filter(({ type }) => type === 'warning' || type === 'error');

describe('recordings', recorded, () => {
  test.each(streams)('%s reads the same wherever it is cut', (name) => {
    const bytes = Buffer.from(recordedStream(PROVIDER, name));
    const whole = decodeAll(converseUpstream.streamDecoder(), [bytes]);
    expect(faults(whole)).toEqual([]);
    expect(collectAnswer(whole).usage).toEqual(usage(name));
    for (let at = 1; at < bytes.length; at++) {
      const cut = decodeAll(converseUpstream.streamDecoder(), [bytes.subarray(0, at), bytes.subarray(at)]);
      if (JSON.stringify(cut) !== JSON.stringify(whole)) expect(cut, `cut at ${at}`).toEqual(whole);
    }
  });

  test.each(streams)('%s says the same with bare payloads', (name) => {
    const wrapped = recordedStream(PROVIDER, name);
    const bare = wrapped.replace(/^data: (.*)$/gm, (_line, data: string) => {
      const [entry] = Object.entries(JSON.parse(data) as JsonObject);
      return `event: ${entry?.[0]}\ndata: ${JSON.stringify(entry?.[1])}`;
    });
    expect(bare).not.toBe(wrapped);
    const read = (sse: string) => decodeAll(converseUpstream.streamDecoder(), [Buffer.from(sse)]);
    expect(read(bare)).toEqual(read(wrapped));
  });

  test.each(recordingsOf(PROVIDER, '.json'))('%s', (name) => {
    const answer = converseUpstream.decodeAnswer(recordedBody(PROVIDER, name));
    expect(answer?.usage).toEqual(usage(name));
    expect(answer?.finish.reason).toBe(/tool/.test(name) ? 'tool-calls' : 'stop');
    expect(answer?.parts.some(({ type }) => type === 'opaque')).toBe(false);
  });

  test("thinking is Claude's own: its signature is of the messages family", () => {
    const name = 'amazon-bedrock-reasoning.chunks.txt';
    const { parts } = collectAnswer(
      decodeAll(converseUpstream.streamDecoder(), [Buffer.from(recordedStream(PROVIDER, name))]),
    );
    const signature = /"signature":"([^"]+)"/.exec(recordedStream(PROVIDER, name))?.[1];
    expect(parts).toMatchObject([
      { type: 'reasoning', proof: { family: 'messages', value: signature } },
      { type: 'text', text: expect.stringContaining('There are **3**') as string },
    ]);
    const buffered = converseUpstream.decodeAnswer(recordedBody(PROVIDER, 'amazon-bedrock-reasoning.json'));
    expect(buffered?.parts[0]).toMatchObject({ type: 'reasoning', proof: { family: 'messages' } });
  });
});

describe('streams', () => {
  test('blocks open with what they hold, several at once, and usage comes last', () => {
    const events = decode(
      ['messageStart', { role: 'assistant' }],
      delta(0, { text: 'a' }),
      ['contentBlockStart', { contentBlockIndex: 1, start: { toolUse: { toolUseId: 't', name: 'f' } } }],
      delta(1, { toolUse: { input: '' } }),
      delta(1, { toolUse: { input: '{"n":1}' } }),
      delta(0, { text: 'b' }),
      delta(0, { citation: { title: 'x' } }),
      stop(0),
      stop(1),
      ['messageStop', { stopReason: 'end_turn' }],
      ['metadata', { usage: { inputTokens: 3, outputTokens: 2, totalTokens: 5 } }],
    );
    expect(faults(events)).toEqual([]);
    expect(events.map(({ type }) => type).slice(-2)).toEqual(['finish', 'usage']);
    expect(collectAnswer(events)).toEqual({
      parts: [
        { type: 'text', text: 'ab' },
        { type: 'tool-call', id: 't', name: 'f', argumentsJson: '{"n":1}' },
      ],
      finish: { reason: 'tool-calls' },
      usage: { input: 3, cacheRead: 0, cacheWrite5m: 0, cacheWrite1h: 0, output: 2, reasoning: 0 },
    });
  });

  test('thinking that is not shown, and thinking that is sealed', () => {
    const events = decode(
      delta(0, { reasoningContent: { signature: 'c2ln' } }),
      stop(0),
      delta(1, { reasoningContent: { redactedContent: 'AA==' } }),
      stop(1),
    );
    expect(collectAnswer(events).parts).toEqual([
      { type: 'reasoning', text: '', proof: { family: 'messages', value: 'c2ln' } },
      {
        type: 'opaque',
        family: 'messages',
        name: 'redacted_thinking',
        value: { type: 'redacted_thinking', data: 'AA==' },
      },
    ]);
  });

  test('what the provider runs itself is for its own family, pictures are media', () => {
    const toolUse = { toolUseId: 's', name: 'search', type: 'server_tool_use' };
    const events = decode(
      ['contentBlockStart', { contentBlockIndex: 0, start: { toolUse } }],
      delta(0, { toolUse: { input: '{"q":' } }),
      delta(0, { toolUse: { input: '1}' } }),
      stop(0),
      ['contentBlockStart', { contentBlockIndex: 1, start: { toolResult: { toolUseId: 's' } } }],
      delta(1, { toolResult: [{ text: 'found' }] }),
      stop(1),
      ['contentBlockStart', { contentBlockIndex: 2, start: { image: { format: 'png' } } }],
      delta(2, { image: { source: { bytes: 'AA==' } } }),
      delta(2, { image: { source: { bytes: 'AQ==' } } }),
      ['messageStop', { stopReason: 'end_turn' }],
    );
    expect(faults(events)).toEqual([]);
    expect(collectAnswer(events)).toMatchObject({
      parts: [
        { type: 'opaque', family: 'converse', name: 'toolUse', value: { toolUse: { ...toolUse, input: { q: 1 } } } },
        { type: 'opaque', value: { toolResult: { toolUseId: 's', content: [{ text: 'found' }] } } },
        { type: 'media', kind: 'image', mediaType: 'image/png', source: { data: 'AAE=' } },
      ],
      finish: { reason: 'stop' },
    });
  });

  test('is over with the stop, not with what came before or with usage', () => {
    const reader = converseUpstream.streamDecoder();
    const read = (body: object) => reader.decode({ event: undefined, data: JSON.stringify(body), raw: '' });
    read({ contentBlockDelta: { contentBlockIndex: 0, delta: { text: 'a' } } });
    read({ metadata: { usage: { inputTokens: 1, outputTokens: 1 } } });
    expect(reader.finished).toBe(false);
    read({ messageStop: { stopReason: 'max_tokens' } });
    expect(reader.finished).toBe(true);
  });

  test.each([
    [['exception', { type: 'throttlingException', message: 'slow' }], { code: 'throttlingException', message: 'slow' }],
    [['modelStreamErrorException', { message: 'broke' }], { code: 'modelStreamErrorException', message: 'broke' }],
    [['message', { validationException: { message: 'bad' } }], { code: 'validationException', message: 'bad' }],
  ] as const)('an exception: %j', (event, expected) => {
    expect(decode(event)).toEqual([{ type: 'error', ...expected }]);
  });

  test.each([
    [['contentBlockNovelty', {}]],
    [delta(0, { novelty: 1 })],
    [delta(0, { toolUse: { input: '{}' } })],
    [['contentBlockStart', { contentBlockIndex: 0, start: { toolUse: { name: 'f' } } }]],
    [['messageStop', { stopReason: 'novelty' }]],
  ] as const)('what is unknown is said to be: %j', (event) => {
    expect(faults(decode(event))).toHaveLength(1);
  });

  test('no shape breaks it', () => {
    const names = ['contentBlockIndex', 'delta', 'start', 'text', 'toolUse', 'toolResult', 'image', 'reasoningContent'];
    const value = fc.letrec((tie) => ({
      json: fc.oneof(
        fc.constant(null),
        fc.string(),
        fc.nat(2),
        fc.array(tie('json'), { maxLength: 3 }),
        fc.dictionary(fc.constantFrom(...names, 'contentBlockDelta', 'contentBlockStart', 'metadata'), tie('json')),
      ),
    })).json;
    fc.assert(
      fc.property(fc.array(value, { maxLength: 5 }), (bodies) => {
        const frames = bodies.map((body) => Buffer.from(writeEvent(JSON.stringify(body), 'contentBlockDelta')));
        const events = decodeAll(converseUpstream.streamDecoder(), frames);
        const opened = events.flatMap((event) => (event.type === 'part-start' ? [event.index] : []));
        const closed = events.flatMap((event) => (event.type === 'part-end' ? [event.index] : []));
        expect(closed).toHaveLength(opened.length);
        expect(new Set(closed)).toEqual(new Set(opened));
      }),
    );
  });
});

describe('answers', () => {
  const answer = (more: object, ...content: readonly object[]) =>
    converseUpstream.decodeAnswer({ output: { message: { role: 'assistant', content: content as never } }, ...more });

  test.each([
    ['end_turn', 'stop'],
    ['max_tokens', 'length'],
    ['model_context_window_exceeded', 'context'],
    ['guardrail_intervened', 'filter'],
    ['content_filtered', 'filter'],
    ['malformed_tool_use', 'malformed'],
    ['novelty', 'stop'],
    ['constructor', 'stop'],
  ])('%s is %s', (stopReason, expected) => {
    expect(answer({ stopReason }, { text: 'a' })?.finish).toEqual({ reason: expected });
  });

  test('the stop string is told where it was asked for', () => {
    const stopReason = 'stop_sequence';
    const fields = { stop_sequence: 'END' };
    const finish = { reason: 'stop-sequence', stopSequence: 'END' };
    expect(answer({ stopReason, additionalModelResponseFields: fields }, { text: 'a' })?.finish).toEqual(finish);
    const events = decode(['messageStop', { stopReason, additionalModelResponseFields: { delta: fields } }]);
    expect(collectAnswer(events).finish).toEqual(finish);
    expect(answer({ stopReason }, { text: 'a' })?.finish).toEqual({ reason: 'stop-sequence' });
  });

  test('cache figures are beside the input, apart by how long they last', () => {
    const of = (more: object) => answer({ usage: { inputTokens: 5, outputTokens: 2, ...more } }, { text: 'a' })?.usage;
    expect(of({ cacheReadInputTokens: 7, cacheWriteInputTokens: 9 })).toMatchObject({
      input: 5,
      cacheRead: 7,
      cacheWrite5m: 9,
      cacheWrite1h: 0,
    });
    const cacheDetails = [
      { ttl: '1h', inputTokens: 4 },
      { ttl: '5m', inputTokens: 3 },
    ];
    expect(of({ cacheWriteInputTokens: 9, cacheDetails })).toMatchObject({ cacheWrite5m: 5, cacheWrite1h: 4 });
    expect(of({ cacheDetails })).toMatchObject({ cacheWrite5m: 3, cacheWrite1h: 4 });
  });

  test('every block has its place', () => {
    const parts = answer(
      {},
      { citationsContent: { content: [{ text: 'a' }, { text: 'b' }], citations: [] } },
      { reasoningContent: { redactedContent: 'AA==' } },
      { image: { format: 'png', source: { bytes: 'AA==' } } },
      { toolUse: { toolUseId: 't', name: 'f', type: 'server_tool_use', input: {} } },
      { novelty: 1 },
    )?.parts;
    expect(parts).toMatchObject([
      { type: 'text', text: 'ab' },
      { type: 'opaque', family: 'messages', value: { data: 'AA==' } },
      { type: 'media', mediaType: 'image/png' },
      { type: 'opaque', family: 'converse', name: 'toolUse' },
      { type: 'opaque', family: 'converse', name: 'novelty', value: { novelty: 1 } },
    ]);
  });

  test.each([{}, { output: {} }, { output: { message: {} } }, { message: 'denied' }])('%j is no answer', (body) => {
    expect(converseUpstream.decodeAnswer(body)).toBeUndefined();
  });
});
