import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decodeAll } from '../../../test/harness/recordings.ts';
import type { Part, StreamEvent } from '../hub/canonical.ts';
import { readDocument } from '../document/document.ts';
import { collectAnswer } from '../hub/collect-answer.ts';
import { messagesCodec, messagesUpstream } from './codec.ts';
import { CONTEXT, write, delta } from './testing/streams.ts';

const words = fc.string({ minLength: 1, maxLength: 8 });

const part: fc.Arbitrary<Part> = fc.oneof(
  fc.record({ type: fc.constant('text' as const), text: words }),
  fc.record({ type: fc.constant('reasoning' as const), text: words }),
  fc.record({
    type: fc.constant('reasoning' as const),
    text: fc.string(),
    proof: fc.record({ family: fc.constant('messages' as const), value: words }),
  }),
  fc.record({
    type: fc.constant('tool-call' as const),
    id: words,
    name: words,
    argumentsJson: fc.json().map((json) => `{"a":${json}}`),
  }),
  fc.record({ data: words }).map(({ data }): Part => {
    const value = { type: 'redacted_thinking', data };
    return { type: 'opaque', family: 'messages', name: 'redacted_thinking', value };
  }),
);

const tokens = fc.nat(10_000_000);

const usage = fc.record({
  input: tokens,
  cacheRead: tokens,
  cacheWrite5m: tokens,
  cacheWrite1h: tokens,
  output: tokens,
  reasoning: tokens,
});

const finish = fc.constantFrom(
  { reason: 'length' as const },
  { reason: 'refusal' as const },
  { reason: 'pause' as const },
  { reason: 'context' as const },
  { reason: 'tool-calls' as const },
  { reason: 'stop-sequence' as const, stopSequence: 'END' },
);

/** The part as it grows, its text in two pieces. */
function grow(index: number, whole: Part): readonly StreamEvent[] {
  if (whole.type === 'text') return pieces(index, { ...whole, text: '' }, whole.text);
  if (whole.type === 'tool-call') return pieces(index, { ...whole, argumentsJson: '' }, whole.argumentsJson);
  if (whole.type !== 'reasoning') return pieces(index, whole, '');
  const said = pieces(index, { type: 'reasoning', text: '' }, whole.text);
  if (whole.proof === undefined) return said;
  return [...said.slice(0, -1), { type: 'part-proof', index, proof: whole.proof }, ...said.slice(-1)];
}

function pieces(index: number, empty: Part, text: string): readonly StreamEvent[] {
  const half = Math.floor(text.length / 2);
  const said = [text.slice(0, half), text.slice(half)].filter((piece) => piece !== '');
  return [
    { type: 'part-start', index, part: empty },
    ...said.map((piece): StreamEvent => ({ type: 'part-delta', index, text: piece })),
    { type: 'part-end', index },
  ];
}

/** Parts that grow at once: their first events in order, the rest of the last one first. */
function interleaved(parts: readonly Part[]): readonly StreamEvent[] {
  const grown = parts.map((whole, index) => grow(index, whole));
  return [...grown.flatMap((events) => events.slice(0, 1)), ...grown.toReversed().flatMap((events) => events.slice(1))];
}

describe('any answer is read as it was written', () => {
  test('in one piece', () => {
    fc.assert(
      fc.property(fc.array(part), usage, finish, (parts, told, ended) => {
        const written = messagesCodec.encodeAnswer({ parts, usage: told, finish: ended }, CONTEXT);
        const said = parts.map((one) =>
          one.type === 'tool-call' ? { ...one, argumentsJson: JSON.stringify(JSON.parse(one.argumentsJson)) } : one,
        );
        expect(messagesUpstream.decodeAnswer(written)).toEqual({
          id: 'msg_01890a5dac96774bbcceb302099a8057',
          parts: said,
          usage: told,
          finish: ended,
        });
      }),
    );
  });

  test('in a stream whose parts grow at once', () => {
    fc.assert(
      fc.property(fc.array(part), usage, finish, (parts, told, ended) => {
        const encoder = messagesCodec.streamEncoder(CONTEXT);
        const events: readonly StreamEvent[] = [
          { type: 'start' },
          ...interleaved(parts),
          { type: 'finish', finish: ended },
          { type: 'usage', usage: told },
          { type: 'end' },
        ];
        const text = events.map((one) => encoder.encode(one)).join('');
        const again = decodeAll(messagesUpstream.streamDecoder(), [Buffer.from(text)]);
        expect(again.filter(({ type }) => type === 'warning')).toEqual([]);
        expect(collectAnswer(again)).toEqual({
          id: 'msg_01890a5dac96774bbcceb302099a8057',
          parts,
          usage: told,
          finish: ended,
        });
      }),
    );
  });
});

test('invalid arguments are no input, but pass as they are in a stream', () => {
  const call: Part = { type: 'tool-call', id: 't', name: 'f', argumentsJson: '{"a":' };
  const answer = messagesCodec.encodeAnswer({ parts: [call], finish: { reason: 'stop' } }, CONTEXT);
  expect(answer).toMatchObject({
    content: [{ type: 'tool_use', id: 't', name: 'f', input: {} }],
    stop_reason: 'tool_use',
    usage: { input_tokens: 12, output_tokens: 0 },
  });
  const frames = write([{ type: 'part-start', index: 0, part: call }]);
  expect(frames.at(-1)?.body).toEqual(delta(0, { type: 'input_json_delta', partial_json: '{"a":' }));
});

test('signed thinking is no leaf of an answer', () => {
  const answer = readDocument(
    'messages',
    JSON.stringify({
      content: [
        { type: 'thinking', thinking: 'SIGNED', signature: 'c2ln' },
        { type: 'redacted_thinking', data: 'SEALED' },
        { type: 'thinking', thinking: 'unsigned', signature: '' },
        { type: 'text', text: 'said', more: 'x' },
        { type: 'tool_use', id: 't', name: 'f', input: { text: 'argument' } },
      ],
      stop_sequence: 'END',
    }),
  );
  const leaves = messagesCodec.answerLeaves(answer, true).map(({ text, kind }) => [text, kind]);
  expect(leaves).not.toContainEqual(['SIGNED', 'text']);
  expect(leaves).not.toContainEqual(['SEALED', 'text']);
  expect(leaves).toContainEqual(['unsigned', 'text']);
  expect(leaves).toContainEqual(['said', 'json']);
  expect(leaves).toContainEqual(['x', 'text']);
  expect(leaves).toContainEqual(['argument', 'text']);
  expect(leaves).toContainEqual(['END', 'text']);
});
