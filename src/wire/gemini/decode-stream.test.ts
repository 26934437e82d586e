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
import { geminiUpstream } from './codec.ts';

const streams = recordingsOf('google', '.chunks.txt');
const recorded = skipUnless(streams.length > 0, NO_RECORDINGS);

/** Input, cache, output and reasoning as the files themselves tell them. */
const USAGE: Readonly<Record<string, readonly [number, number, number, number]>> = {
  'google-reasoning.chunks.txt': [9, 0, 29, 256],
  'google-reasoning.json': [9, 0, 29, 282],
  'google-stream-no-args-tool-call.chunks.txt': [249, 0, 58, 183],
  'google-stream-tool-call-arguments.chunks.txt': [26, 0, 23, 132],
  'google-text.chunks.txt': [9, 0, 23, 185],
  'google-text.json': [9, 0, 28, 244],
  'google-tool-call-gemini3.chunks.txt': [29, 0, 15, 804],
  'google-tool-call-gemini3.json': [29, 0, 15, 1801],
  'google-tool-call.chunks.txt': [29, 0, 15, 45],
  'google-tool-call.json': [29, 0, 15, 893],
};

function usage(name: string): object {
  const [input, cacheRead, output, reasoning] = USAGE[name] ?? [];
  return { input, cacheRead, cacheWrite5m: 0, cacheWrite1h: 0, output, reasoning };
}

const decode = (...chunks: readonly unknown[]): readonly StreamEvent[] =>
  decodeAll(
    geminiUpstream.streamDecoder(),
    chunks.map((chunk) => Buffer.from(`data: ${JSON.stringify(chunk)}\n\n`)),
  );
const parts = (...content: readonly object[]): JsonObject =>
  ({ candidates: [{ content: { parts: content } }] }) as never;
const warnings = (events: readonly StreamEvent[]): readonly StreamEvent[] =>
  events.filter(({ type }) => type === 'warning' || type === 'error');

describe('recordings', recorded, () => {
  test.each(streams)('%s reads the same wherever it is cut', (name) => {
    const bytes = Buffer.from(recordedStream('google', name));
    const whole = decodeAll(geminiUpstream.streamDecoder(), [bytes]);
    expect(warnings(whole)).toEqual([]);
    // One of them was answered by capacity that was paid for beforehand.
    const serviceTier = name.includes('no-args') ? { serviceTier: 'reserved' } : {};
    expect(collectAnswer(whole).usage).toEqual({ ...usage(name), ...serviceTier });
    for (let at = 1; at < bytes.length; at++) {
      const cut = decodeAll(geminiUpstream.streamDecoder(), [bytes.subarray(0, at), bytes.subarray(at)]);
      if (JSON.stringify(cut) !== JSON.stringify(whole)) expect(cut, `cut at ${at}`).toEqual(whole);
    }
  });

  test.each(recordingsOf('google', '.json').filter((name) => !name.includes('429')))('%s', (name) => {
    const answer = geminiUpstream.decodeAnswer(recordedBody('google', name));
    expect(answer?.usage).toEqual(usage(name));
    expect(answer?.finish.reason).toBe(name.includes('tool-call') ? 'tool-calls' : 'stop');
  });

  test('an error is no answer', () => {
    expect(geminiUpstream.decodeAnswer(recordedBody('google', 'google-429-retry-info.json'))).toBeUndefined();
  });

  test('arguments that come in pieces add up', () => {
    const read = (name: string) =>
      collectAnswer(decodeAll(geminiUpstream.streamDecoder(), [Buffer.from(recordedStream('google', name))]));
    const both = read('google-stream-tool-call-arguments.chunks.txt');
    expect(both.parts).toMatchObject([
      { type: 'tool-call', name: 'getWeather', argumentsJson: '{"location":"Boston"}', proof: { family: 'gemini' } },
      { type: 'tool-call', name: 'getWeather', argumentsJson: '{"location":"San Francisco"}' },
    ]);
    expect(both.finish).toEqual({ reason: 'tool-calls' });
    expect(new Set(both.parts.map((part) => 'id' in part && part.id)).size).toBe(2);
    const calls = read('google-stream-no-args-tool-call.chunks.txt').parts.filter(({ type }) => type === 'tool-call');
    expect(calls.map((part) => 'argumentsJson' in part && part.argumentsJson)).toEqual([
      '{}',
      '{"id":"A"}',
      '{"id":"B"}',
      '{"id":"C"}',
    ]);
  });

  test('the signature of a text is kept apart from it, byte for byte', () => {
    const text = recordedBody('google', 'google-text.json');
    const answer = geminiUpstream.decodeAnswer(text);
    const [candidate] = text['candidates'] as unknown as [{ content: { parts: [{ thoughtSignature: string }] } }];
    expect(answer?.parts).toMatchObject([
      { type: 'text' },
      {
        type: 'opaque',
        family: 'gemini',
        value: { text: '', thoughtSignature: candidate.content.parts[0].thoughtSignature },
      },
    ]);
  });
});

describe('streams', () => {
  test('parts open and close as their kind changes', () => {
    const events = decode(
      { responseId: 'r1', ...parts({ text: 'hm', thought: true }), usageMetadata: { promptTokenCount: 5 } },
      parts({ text: '', thought: true, thoughtSignature: 'c2ln' }),
      parts({ text: 'a' }, { text: 'b' }),
      parts({ functionCall: { id: 'x', name: 'f', args: { n: 1 } } }),
      { candidates: [{ finishReason: 'STOP' }], usageMetadata: { promptTokenCount: 5, candidatesTokenCount: 2 } },
    );
    expect(events.map((event) => ('index' in event ? `${event.type} ${event.index}` : event.type))).toEqual([
      'start',
      'part-start 0',
      'part-delta 0',
      'part-proof 0',
      'part-end 0',
      'part-start 1',
      'part-delta 1',
      'part-delta 1',
      'part-end 1',
      'part-start 2',
      'part-delta 2',
      'part-end 2',
      'usage',
      'finish',
    ]);
    expect(collectAnswer(events)).toEqual({
      id: 'r1',
      parts: [
        { type: 'reasoning', text: 'hm', proof: { family: 'gemini', value: 'c2ln' } },
        { type: 'text', text: 'ab' },
        { type: 'tool-call', id: 'x', name: 'f', argumentsJson: '{"n":1}' },
      ],
      finish: { reason: 'tool-calls' },
      usage: { input: 5, cacheRead: 0, cacheWrite5m: 0, cacheWrite1h: 0, output: 2, reasoning: 0 },
    });
  });

  test('a stream is over when it says why, not before', () => {
    const reader = geminiUpstream.streamDecoder();
    const read = (body: object) => reader.decode({ event: undefined, data: JSON.stringify(body), raw: '' });
    read(parts({ text: 'a' }));
    expect(reader.finished).toBe(false);
    expect(reader.end()).toEqual([{ type: 'part-end', index: 0 }]);
    read({ candidates: [{ finishReason: 'MAX_TOKENS' }] });
    expect(reader.finished).toBe(true);
  });

  test.each([
    [{ error: { code: 503, message: 'busy', status: 'UNAVAILABLE' } }, { message: 'busy', code: 'UNAVAILABLE' }],
    [[{ error: { code: 429, message: 'slow' } }], { message: 'slow', code: '429' }],
    [{ error: 'no' }, { message: 'no' }],
  ])('an error: %j', (body, expected) => {
    expect(decode(body)).toEqual([{ type: 'error', ...expected }]);
  });

  test('pieces of arguments without a place are named, and the rest goes on', () => {
    const call = (more: object): JsonObject => parts({ functionCall: { ...more } });
    const piece = (jsonPath: string, value: object) =>
      call({ partialArgs: [{ jsonPath, ...value }], willContinue: true });
    const events = decode(
      call({ name: 'f', willContinue: true }),
      piece('$.a.b[0]', { numberValue: 1 }),
      piece("$.a['x.y']", { boolValue: false }),
      piece('$.a.b[1]', { nullValue: 'NULL_VALUE' }),
      piece('$.__proto__.polluted', { stringValue: 'p' }),
      piece('$.a.b[900000000]', { numberValue: 1 }),
      piece('nonsense', { numberValue: 1 }),
      call({}),
    );
    expect(warnings(events)).toHaveLength(2);
    expect(collectAnswer(events).parts).toMatchObject([
      { argumentsJson: '{"a":{"b":[1,null],"x.y":false},"__proto__":{"polluted":"p"}}' },
    ]);
    expect({}).not.toHaveProperty('polluted');
  });
});

describe('answers', () => {
  const finish = (finishReason: string, ...content: readonly object[]): unknown =>
    geminiUpstream.decodeAnswer({ candidates: [{ content: { parts: content as never }, finishReason }] })?.finish
      .reason;

  test.each([
    ['STOP', 'stop'],
    ['MAX_TOKENS', 'length'],
    ['SAFETY', 'filter'],
    ['RECITATION', 'filter'],
    ['MALFORMED_FUNCTION_CALL', 'malformed'],
    ['CONTINUATION', 'pause'],
    ['OTHER', 'stop'],
    ['toString', 'stop'],
  ])('%s is %s', (word, expected) => {
    expect(finish(word, { text: 'a' })).toBe(expected);
  });

  test('a stop after a call is the call, but a length stays one', () => {
    expect(finish('STOP', { functionCall: { name: 'f' } })).toBe('tool-calls');
    expect(finish('MAX_TOKENS', { functionCall: { name: 'f' } })).toBe('length');
  });

  test('a blocked prompt is an answer without parts; nothing at all is none', () => {
    expect(geminiUpstream.decodeAnswer({ promptFeedback: { blockReason: 'SAFETY' } })).toEqual({
      parts: [],
      finish: { reason: 'filter' },
    });
    for (const body of [{}, { candidates: [] }, { candidates: [{}] }, { usageMetadata: { promptTokenCount: 1 } }]) {
      expect(geminiUpstream.decodeAnswer(body)).toBeUndefined();
    }
    expect(decode({ promptFeedback: { blockReason: 'OTHER' } })).toContainEqual({
      type: 'finish',
      finish: { reason: 'filter' },
    });
  });

  test('cached tokens are inside the prompt, what tools brought in beside it', () => {
    const usageMetadata = {
      promptTokenCount: 100,
      cachedContentTokenCount: 60,
      toolUsePromptTokenCount: 7,
      candidatesTokenCount: 5,
      thoughtsTokenCount: 3,
    };
    expect(geminiUpstream.decodeAnswer({ ...parts({ text: 'a' }), usageMetadata })?.usage).toEqual({
      input: 47,
      cacheRead: 60,
      cacheWrite5m: 0,
      cacheWrite1h: 0,
      output: 5,
      reasoning: 3,
    });
  });

  test('pictures are media, code is for its own family alone, and what is new is said to be', () => {
    const image = { inlineData: { mimeType: 'image/PNG', data: 'AAAA' } };
    const code = { executableCode: { language: 'PYTHON', code: '1' } };
    const events = decode(parts(image, code, { novelty: {} }));
    expect(collectAnswer(events).parts).toEqual([
      { type: 'media', kind: 'image', mediaType: 'image/png', source: { data: 'AAAA' } },
      { type: 'opaque', family: 'gemini', name: 'executableCode', value: code },
      { type: 'opaque', family: 'gemini', name: 'unknown', value: { novelty: {} } },
    ]);
    expect(warnings(events)).toEqual([{ type: 'warning', message: 'a part is of an unknown kind' }]);
  });

  test('calls without ids get some: other ones in other answers, the same when read again', () => {
    const ids = (responseId: string) =>
      geminiUpstream
        .decodeAnswer({ responseId, ...parts({ functionCall: { name: 'f' } }, { functionCall: { name: 'f' } }) })
        ?.parts.map((part) => 'id' in part && part.id);
    expect(ids('r1')).toEqual(ids('r1'));
    expect(new Set([...(ids('r1') ?? []), ...(ids('r2') ?? [])]).size).toBe(4);
  });

  test('queries of a grounded answer are searches', () => {
    const grounded = {
      candidates: [{ finishReason: 'STOP', groundingMetadata: { webSearchQueries: ['a', 'b'] } }],
      usageMetadata: { promptTokenCount: 5, candidatesTokenCount: 2 },
    };
    expect(geminiUpstream.decodeAnswer(grounded)?.usage).toMatchObject({ input: 5, searches: 2 });
    expect(geminiUpstream.decodeAnswer({ ...grounded, candidates: [{ finishReason: 'STOP' }] })?.usage?.searches).toBe(
      undefined,
    );
  });

  test('no shape breaks it', () => {
    const names = ['candidates', 'content', 'parts', 'functionCall', 'partialArgs', 'usageMetadata', 'text', 'error'];
    const value = fc.letrec((tie) => ({
      json: fc.oneof(
        fc.constant(null),
        fc.string(),
        fc.integer(),
        fc.array(tie('json'), { maxLength: 3 }),
        fc.dictionary(fc.constantFrom(...names, 'jsonPath', 'name', 'inlineData', 'finishReason'), tie('json')),
      ),
    })).json;
    fc.assert(
      fc.property(value, (json) => {
        const events = decode(json);
        const open = events.filter(({ type }) => type === 'part-start').length;
        expect(events.filter(({ type }) => type === 'part-end')).toHaveLength(open);
      }),
    );
  });
});
