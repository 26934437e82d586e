import { describe, expect, test } from 'vitest';
import { frameFacts } from '../../../test/harness/frame-facts.ts';
import { decodeAll } from '../../../test/harness/recordings.ts';
import type { Part, StreamEvent } from '../hub/canonical.ts';
import { readDocument } from '../document/document.ts';
import { collectAnswer } from '../hub/collect-answer.ts';
import type { SseEvent } from '../answer/sse.ts';
import { messagesCodec, messagesUpstream } from './codec.ts';
import { CONTEXT, write, delta } from './testing/streams.ts';

const USAGE = { input: 3, cacheRead: 2, cacheWrite5m: 1, cacheWrite1h: 0, output: 9, reasoning: 0 };

const event = (body: object): SseEvent => {
  const data = JSON.stringify(body);
  return { event: undefined, data, raw: `data: ${data}\n\n` };
};

const bytes = (...bodies: readonly object[]): Uint8Array => Buffer.from(bodies.map((body) => event(body).raw).join(''));

const decode = (...bodies: readonly object[]): readonly StreamEvent[] =>
  decodeAll(messagesUpstream.streamDecoder(), [bytes(...bodies)]);

const message = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  content: [],
  usage: { input_tokens: 3, output_tokens: 1 },
};

const block = (index: number, content_block: object): object => ({ type: 'content_block_start', index, content_block });
const stop = (index: number): object => ({ type: 'content_block_stop', index });

describe('frames that pass as they came', () => {
  const facts = (body: object) => frameFacts(messagesCodec, messagesCodec.streamReader(), event(body));

  test.each([
    ['the first', { type: 'message_start', message }, { kind: 'other', id: 'msg_1', usage: { input: 3, output: 1 } }],
    ['a text', delta(0, { type: 'text_delta', text: 'é' }), { kind: 'content', outputBytes: 2, ends: [] }],
    ['thinking', delta(0, { type: 'thinking_delta', thinking: 'abc' }), { outputBytes: 3, ends: [] }],
    ['an input', delta(2, { type: 'input_json_delta', partial_json: '{"' }), { outputBytes: 2, ends: [] }],
    ['the end of a block', stop(2), { kind: 'content', ends: ['2/'] }],
    ['a ping', { type: 'ping' }, { kind: 'other' }],
    ['an event of tomorrow', { type: 'aurora' }, { kind: 'other' }],
    ['an error', { type: 'error', error: { type: 'overloaded_error', message: 'm' } }, { kind: 'error', error: 'm' }],
    ['the end', { type: 'message_stop' }, { kind: 'done' }],
  ])('%s', (_name, body, expected) => {
    expect(facts(body)).toMatchObject(expected);
  });

  test('a comment is nothing, and what is no JSON is no stream of this family', () => {
    const reader = messagesCodec.streamReader();
    expect(reader.read({ event: undefined, data: undefined, raw: ': hi\n\n' }).kind).toBe('other');
    expect(reader.read({ event: undefined, data: '[]', raw: '' }).kind).toBe('other');
    expect(() => reader.read({ event: undefined, data: '{', raw: '' })).toThrow(SyntaxError);
  });

  test('a stream is over with the reason why the message ended', () => {
    const reader = messagesCodec.streamReader();
    reader.read(event({ type: 'message_start', message }));
    reader.read(event({ type: 'message_delta', delta: { stop_reason: null }, usage: { output_tokens: 2 } }));
    expect(reader.finished).toBe(false);
    const last = reader.read(
      event({
        type: 'message_delta',
        delta: { stop_reason: 'end_turn' },
        usage: { output_tokens: 7, input_tokens: null },
      }),
    );
    expect(last.usage).toMatchObject({ input: 3, output: 7 });
    expect(reader.finished).toBe(true);
    expect(messagesCodec.streamEnd).toBe('event: message_stop\ndata: {"type":"message_stop"}\n\n');
  });

  const channels = (body: object, jsonAnswer = false) =>
    messagesCodec
      .deltas(readDocument('messages', JSON.stringify(body)), jsonAnswer)
      .map(({ channel, node, kind }) => [channel, node.value, kind]);

  test('what is said, and where', () => {
    const text = delta(1, { type: 'text_delta', text: 'a' });
    expect(channels(text)).toEqual([['1/text_delta/text', 'a', 'text']]);
    expect(channels(text, true)).toEqual([['1/text_delta/text', 'a', 'json']]);
    expect(channels(block(1, { type: 'text', text: 'b', citations: [] }), true)).toEqual([
      ['1/text_delta/text', 'b', 'json'],
    ]);
    const input = delta(10, { type: 'input_json_delta', partial_json: '{' });
    expect(channels(input)).toEqual([['10/input_json_delta/partial_json', '{', 'json']]);
    expect(channels(delta(0, { type: 'thinking_delta', thinking: 'a' }))).toEqual([]);
    expect(channels(delta(0, { type: 'signature_delta', signature: 'a' }))).toEqual([]);
    expect(channels(block(0, { type: 'redacted_thinking', data: 'a' }))).toEqual([]);
    const cited = delta(0, { type: 'citations_delta', citation: { type: 'x', cited_text: 'c' } });
    expect(channels(cited)).toEqual([['0/citations_delta/citation/cited_text', 'c', 'text']]);
    expect(facts(cited).ends).toEqual(['0/citations_delta/']);
    const whole = block(0, { type: 'web_search_tool_result', content: [{ title: 't' }] });
    expect(channels(whole)).toEqual([['0/start/content/0/title', 't', 'text']]);
    expect(facts(whole).ends).toEqual(['0/start/']);
    const last = { type: 'message_delta', delta: { stop_reason: 'stop_sequence', stop_sequence: 's' } };
    expect(channels(last)).toContainEqual(['message/stop_sequence', 's', 'text']);
    expect(facts(last).ends).toEqual(['message/']);
    expect(channels({ type: 'ping', text: 'a' })).toEqual([]);
  });

  test('held-back text is said by a frame of its own, which has a name', () => {
    for (const body of [
      delta(1, { type: 'text_delta', text: 'a' }),
      delta(10, { type: 'input_json_delta', partial_json: '{' }),
    ]) {
      const [found] = messagesCodec.deltas(readDocument('messages', JSON.stringify(body)), false);
      const frame = messagesCodec.deltaFrame({}, found?.channel ?? '', found?.node.value ?? '');
      expect(frame).toEqual(body);
      expect(messagesCodec.eventName?.(frame)).toBe('content_block_delta');
    }
  });
});

describe('a stream read', () => {
  test('thinking, text and calls', () => {
    const events = decode(
      { type: 'message_start', message },
      block(0, { type: 'thinking', thinking: '', signature: '' }),
      { type: 'ping' },
      delta(0, { type: 'thinking_delta', thinking: 'h' }),
      delta(0, { type: 'thinking_delta', thinking: 'm' }),
      delta(0, { type: 'signature_delta', signature: 'c2' }),
      delta(0, { type: 'signature_delta', signature: 'ln' }),
      stop(0),
      block(1, { type: 'redacted_thinking', data: 'c2VhbGVk' }),
      stop(1),
      block(2, { type: 'text', text: '' }),
      delta(2, { type: 'text_delta', text: 'hi' }),
      delta(2, { type: 'citations_delta', citation: {} }),
      stop(2),
      block(3, { type: 'tool_use', id: 't', name: 'f', input: {} }),
      delta(3, { type: 'input_json_delta', partial_json: '' }),
      delta(3, { type: 'input_json_delta', partial_json: '{"a":1}' }),
      stop(3),
      block(4, { type: 'tool_use', id: 'u', name: 'g', input: { whole: true } }),
      stop(4),
      { type: 'message_delta', delta: { stop_reason: 'tool_use', stop_sequence: null }, usage: { output_tokens: 8 } },
      { type: 'message_stop' },
    );
    expect(events.filter(({ type }) => type === 'warning')).toEqual([]);
    expect(collectAnswer(events)).toEqual({
      id: 'msg_1',
      parts: [
        { type: 'reasoning', text: 'hm', proof: { family: 'messages', value: 'c2ln' } },
        {
          type: 'opaque',
          family: 'messages',
          name: 'redacted_thinking',
          value: { type: 'redacted_thinking', data: 'c2VhbGVk' },
        },
        { type: 'text', text: 'hi' },
        { type: 'tool-call', id: 't', name: 'f', argumentsJson: '{"a":1}' },
        { type: 'tool-call', id: 'u', name: 'g', argumentsJson: '{"whole":true}' },
      ],
      finish: { reason: 'tool-calls' },
      usage: { input: 3, cacheRead: 0, cacheWrite5m: 0, cacheWrite1h: 0, output: 8, reasoning: 0 },
    });
    expect(events.flatMap((one) => ('index' in one && one.type === 'part-start' ? [one.index] : []))).toEqual([
      0, 1, 2, 3, 4,
    ]);
  });

  test.each([
    ['end_turn', 'stop'],
    ['max_tokens', 'length'],
    ['tool_use', 'tool-calls'],
    ['refusal', 'refusal'],
    ['pause_turn', 'pause'],
    ['model_context_window_exceeded', 'context'],
  ])('%s', (word, reason) => {
    const events = decode({ type: 'message_delta', delta: { stop_reason: word, stop_sequence: null } });
    expect(events).toEqual([{ type: 'finish', finish: { reason } }]);
  });

  test('a matched stop string is told', () => {
    expect(decode({ type: 'message_delta', delta: { stop_reason: 'stop_sequence', stop_sequence: 'END' } })).toEqual([
      { type: 'finish', finish: { reason: 'stop-sequence', stopSequence: 'END' } },
    ]);
  });

  test('an error', () => {
    expect(decode({ type: 'error', error: { type: 'overloaded_error', message: 'm'.repeat(9999) } })).toEqual([
      { type: 'error', message: 'm'.repeat(2000), code: 'overloaded_error' },
    ]);
    expect(decode({ type: 'error' })).toMatchObject([{ type: 'error' }]);
  });

  test('what it does not know is warned of, without content', () => {
    const strange = [
      { type: 'aurora', text: 'SECRET' },
      { type: 'very strange SECRET' },
      {},
      7 as never,
      { type: 'message_start' },
      { type: 'content_block_start', index: 0 },
      delta(9, { type: 'text_delta', text: 'SECRET' }),
      stop(9),
      { type: 'message_delta', delta: { stop_reason: 'SECRET of tomorrow' } },
    ];
    for (const body of strange) {
      const events = decode(body);
      expect(events[0]?.type, JSON.stringify(body)).toBe('warning');
      expect(JSON.stringify(events.filter(({ type }) => type === 'warning'))).not.toContain('SECRET');
    }
    expect(decode(block(0, { type: 'text', text: 'a' }), delta(0, { type: 'odd_delta' }))[1]).toEqual({
      type: 'warning',
      message: 'unknown delta odd_delta',
    });
  });

  test('what breaks off is closed, and not called finished', () => {
    const reader = messagesUpstream.streamDecoder();
    const events = decodeAll(reader, [
      bytes(
        { type: 'message_start', message },
        block(0, { type: 'text', text: '' }),
        delta(0, { type: 'text_delta', text: 'a' }),
      ),
    ]);
    expect(events.at(-1)).toEqual({ type: 'part-end', index: 0 });
    expect(reader.finished).toBe(false);
  });
});

describe('a stream written', () => {
  test('in the order of the family', () => {
    const frames = write([
      { type: 'start', id: 'x' },
      { type: 'part-start', index: 0, part: { type: 'reasoning', text: '' } },
      { type: 'part-delta', index: 0, text: 'hm' },
      { type: 'part-end', index: 0 },
      { type: 'part-start', index: 1, part: { type: 'text', text: '' } },
      { type: 'part-delta', index: 1, text: 'hi' },
      { type: 'part-end', index: 1 },
      { type: 'finish', finish: { reason: 'stop' } },
      { type: 'usage', usage: USAGE },
      { type: 'end' },
    ]);
    for (const { name, body } of frames) expect(name).toBe(body['type']);
    expect(frames.map(({ body }) => body)).toEqual([
      {
        type: 'message_start',
        message: {
          id: 'msg_01890a5dac96774bbcceb302099a8057',
          type: 'message',
          role: 'assistant',
          model: 'm',
          content: [],
          stop_reason: null,
          stop_sequence: null,
          usage: { input_tokens: 12, cache_creation_input_tokens: 0, cache_read_input_tokens: 0, output_tokens: 0 },
        },
      },
      { type: 'ping' },
      block(0, { type: 'thinking', thinking: '', signature: '' }),
      delta(0, { type: 'thinking_delta', thinking: 'hm' }),
      stop(0),
      block(1, { type: 'text', text: '' }),
      delta(1, { type: 'text_delta', text: 'hi' }),
      stop(1),
      {
        type: 'message_delta',
        delta: { stop_reason: 'end_turn', stop_sequence: null },
        usage: { input_tokens: 3, cache_creation_input_tokens: 1, cache_read_input_tokens: 2, output_tokens: 9 },
      },
      { type: 'message_stop' },
    ]);
  });

  test('calls that grow at the same time follow each other', () => {
    const call = (index: number): StreamEvent => ({
      type: 'part-start',
      index,
      part: { type: 'tool-call', id: `c${index}`, name: `f${index}`, argumentsJson: '' },
    });
    const frames = write([
      { type: 'start' },
      { type: 'part-start', index: 0, part: { type: 'text', text: '' } },
      { type: 'part-end', index: 0 },
      call(1),
      call(2),
      { type: 'part-delta', index: 2, text: '{"b"' },
      { type: 'part-delta', index: 1, text: '{"a"' },
      call(3),
      { type: 'part-delta', index: 2, text: ':2}' },
      { type: 'part-end', index: 2 },
      { type: 'part-delta', index: 1, text: ':1}' },
      { type: 'part-delta', index: 3, text: '' },
      { type: 'part-end', index: 1 },
      { type: 'part-delta', index: 3, text: '{}' },
      { type: 'finish', finish: { reason: 'stop' } },
      { type: 'end' },
    ]);
    const use = (at: number, id: number): object =>
      block(at, { type: 'tool_use', id: `c${id}`, name: `f${id}`, input: {} });
    expect(frames.slice(2).map(({ body }) => body)).toEqual([
      use(0, 1),
      delta(0, { type: 'input_json_delta', partial_json: '{"a"' }),
      delta(0, { type: 'input_json_delta', partial_json: ':1}' }),
      stop(0),
      use(1, 2),
      delta(1, { type: 'input_json_delta', partial_json: '{"b":2}' }),
      stop(1),
      use(2, 3),
      delta(2, { type: 'input_json_delta', partial_json: '{}' }),
      stop(2),
      expect.objectContaining({ delta: { stop_reason: 'tool_use', stop_sequence: null } }),
      { type: 'message_stop' },
    ]);
  });

  test('only its own proof is a signature; what has no place is no block', () => {
    const reasoning = (index: number, family: 'messages' | 'gemini'): readonly StreamEvent[] => [
      { type: 'part-start', index, part: { type: 'reasoning', text: '' } },
      { type: 'part-proof', index, proof: { family, value: 'c2ln' } },
      { type: 'part-end', index },
    ];
    const media: Part = { type: 'media', kind: 'image', mediaType: 'image/png', source: { data: 'AAAA' } };
    const foreign: Part = { type: 'opaque', family: 'gemini', name: 'x', value: {} };
    const own: Part = { type: 'opaque', family: 'messages', name: 'x', value: { type: 'x', y: 1 } };
    const frames = write([
      ...reasoning(0, 'gemini'),
      ...reasoning(1, 'messages'),
      { type: 'part-start', index: 2, part: media },
      { type: 'part-end', index: 2 },
      { type: 'part-start', index: 3, part: foreign },
      { type: 'part-end', index: 3 },
      { type: 'part-start', index: 4, part: own },
      { type: 'part-end', index: 4 },
      { type: 'part-start', index: 5, part: { type: 'refusal', text: 'no' } },
      { type: 'warning', message: 'w' },
      { type: 'finish', finish: { reason: 'filter' } },
      { type: 'end' },
    ]);
    expect(frames.slice(2, -1).map(({ body }) => body)).toEqual([
      block(0, { type: 'thinking', thinking: '', signature: '' }),
      delta(0, { type: 'signature_delta', signature: 'c2ln' }),
      stop(0),
      block(1, { type: 'x', y: 1 }),
      stop(1),
      block(2, { type: 'text', text: '' }),
      delta(2, { type: 'text_delta', text: 'no' }),
      stop(2),
      expect.objectContaining({ delta: { stop_reason: 'refusal', stop_sequence: null } }),
    ]);
  });

  test('an answer of nothing is a whole message', () => {
    expect(write([{ type: 'end' }]).map(({ name }) => name)).toEqual([
      'message_start',
      'ping',
      'message_delta',
      'message_stop',
    ]);
    expect(messagesCodec.streamEncoder(CONTEXT).encode({ type: 'error', message: 'm' })).toBe('');
  });
});
