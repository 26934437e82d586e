import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { SseDecoder, SseEventTooLarge, writeEvent, type SseEvent } from './sse.ts';

const NEVER = 1 << 20;

function decode(bytes: Uint8Array, cuts: readonly number[], limit = NEVER): SseEvent[] {
  const decoder = new SseDecoder(limit);
  const events: SseEvent[] = [];
  let at = 0;
  for (const cut of [...cuts, bytes.length]) {
    events.push(...decoder.push(bytes.subarray(at, cut)));
    at = cut;
  }
  return [...events, ...decoder.end()];
}

const STREAMS: readonly [string, string][] = [
  ['line feeds', 'data: {"a":"é😀"}\n\n: comment\n\ndata: [DONE]\n\n'],
  ['CRLF', 'data: 1\r\n\r\nevent: x\r\ndata: 2\r\n\r\n'],
  ['CR', 'data: 1\r\rdata: 2\r\r'],
  ['mixed', 'data:1\r\n\ndata: 2\n\r\nid: 4\ndata: a\ndata: b\n\n'],
  ['no blank line at the end', 'data: 1\n\ndata: 2'],
  ['empty data and unknown fields', 'data:\n\nfoo: bar\ndata: x\nretry: 3\n\n'],
];

describe.each(STREAMS)('%s', (_name, text) => {
  const bytes = new TextEncoder().encode(text);
  const whole = decode(bytes, []);

  test('loses no character', () => {
    expect(whole.map((event) => event.raw).join('')).toBe(text);
  });

  test('decodes the same cut at every byte', () => {
    for (let cut = 0; cut <= bytes.length; cut++) expect(decode(bytes, [cut])).toEqual(whole);
  });

  test('decodes the same in any pieces', () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.nat(bytes.length)), (cuts) => {
        expect(
          decode(
            bytes,
            cuts.sort((a, b) => a - b),
          ),
        ).toEqual(whole);
      }),
    );
  });
});

test('reads fields as the standard says', () => {
  const [event] = decode(new TextEncoder().encode('event: e\ndata: a\ndata:b\n: c\n\n'), []);
  expect(event).toMatchObject({ event: 'e', data: 'a\nb' });
});

test('an event over the limit is refused, whole or growing, and one at the limit is not', () => {
  const event = (length: number) => new TextEncoder().encode(`data: ${'x'.repeat(length - 8)}\n\n`);
  expect(decode(event(100), [], 100)).toHaveLength(1);
  expect(() => decode(event(101), [], 100)).toThrow(SseEventTooLarge);
  expect(() => new SseDecoder(100).push(new TextEncoder().encode('x'.repeat(101)))).toThrow(SseEventTooLarge);
});

test.each(['\n', '\r\n', '\r'])('a large event in small pieces is put together, its lines ending with %j', (line) => {
  const data = 'x'.repeat(100_000);
  const bytes = new TextEncoder().encode(`event: e${line}data: ${data}${line}${line}data: next${line}${line}`);
  const cuts = Array.from({ length: Math.floor(bytes.length / 7) }, (_, index) => index * 7);
  expect(decode(bytes, cuts).map((event) => event.data)).toEqual([data, 'next']);
});

test('whatever ends the lines of the data, all of it reads back', () => {
  const data = '{"a":1,\r"b":2,\r\r\n"c":3}\n';
  const events = decode(new TextEncoder().encode(writeEvent(data, 'message')), []);
  expect(events.map((event) => event.data)).toEqual(['{"a":1,\n"b":2,\n\n"c":3}\n']);
});

test('writes events that read back', () => {
  const [first, second] = decode(new TextEncoder().encode(writeEvent('{"a":1}') + writeEvent('x', 'ping')), []);
  expect(first).toMatchObject({ event: undefined, data: '{"a":1}' });
  expect(second).toMatchObject({ event: 'ping', data: 'x' });
});
