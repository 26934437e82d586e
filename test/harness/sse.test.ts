import { describe, expect, test } from 'vitest';
import { parseSse, sseData } from './sse.ts';

const parse = (text: string): unknown => parseSse(Buffer.from(text));

describe('reading a stream of events', () => {
  test.each([
    ['LF', '\n'],
    ['CRLF', '\r\n'],
    ['CR', '\r'],
  ])('events and comments come out in order, lines ended by %s', (_name, eol) => {
    const text = [': hello', '', 'data: {"a":1}', '', 'event: error', 'id: 7', 'data: x', 'data:  y', '', ''].join(eol);
    expect(parse(text)).toEqual([
      { type: 'comment', text: 'hello' },
      { type: 'event', event: 'message', data: '{"a":1}' },
      { type: 'event', event: 'error', id: '7', data: 'x\n y' },
    ]);
  });

  test('a comment between the lines of an event does not end it', () => {
    expect(parse('event: ping\n: still here\ndata: 1\n\n')).toEqual([
      { type: 'comment', text: 'still here' },
      { type: 'event', event: 'ping', data: '1' },
    ]);
  });

  test('an empty data line is data', () => {
    expect(parse('data:\n\n')).toEqual([{ type: 'event', event: 'message', data: '' }]);
  });

  test('only the data', () => {
    expect(sseData(Buffer.from(': c\n\ndata: é«»\n\ndata: [DONE]\n\n'))).toEqual(['é«»', '[DONE]']);
  });

  test('nothing is nothing', () => {
    expect(parse('')).toEqual([]);
  });
});

describe('refusing what a client could trip over', () => {
  test.each([
    ['a last event without its blank line', 'data: 1\n'],
    ['a last line without an end', 'data: 1\n\ndata: 2'],
    ['a field that is not one', 'date: 1\n\n'],
    ['JSON outside a field', '{"error":1}\n\n'],
    ['an event without data', 'event: ping\n\n'],
    ['two names', 'event: a\nevent: b\ndata: 1\n\n'],
  ])('%s', (_name, text) => {
    expect(() => parse(text)).toThrow(SyntaxError);
  });

  test('a cut UTF-8 sequence', () => {
    expect(() => parseSse(Buffer.from('data: é\n\n').filter((byte) => byte !== 0xa9))).toThrow(TypeError);
  });
});
