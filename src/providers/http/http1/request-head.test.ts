import { describe, expect, it } from 'vitest';
import { BadRequest, framedBy, requestHead } from './request-head.ts';

const POST = { method: 'POST', path: '/v1/x?y=1', headers: { 'content-type': 'application/json' } };

describe('a head', () => {
  it('says host, connection and its fields in their order', () => {
    expect(requestHead({ ...POST, headers: { 'X-A': 'b', c: '' } }, 'host:1')).toEqual({
      text: 'POST /v1/x?y=1 HTTP/1.1\r\nhost: host:1\r\nconnection: keep-alive\r\nX-A: b\r\nc: \r\n',
      ascii: true,
    });
  });

  it('says that a character takes a byte where one is beyond ASCII', () => {
    expect(requestHead({ ...POST, headers: { a: '\xe9' } }, 'h').ascii).toBe(false);
    expect(requestHead({ ...POST, path: '/\xe9' }, 'h').ascii).toBe(false);
  });

  it('names the host once, where a signature names it too', () => {
    expect(requestHead({ ...POST, headers: { Host: 'h:1' } }, 'h:1').text.match(/host/gi)).toHaveLength(1);
  });

  const bad: readonly (readonly [string, Partial<typeof POST>])[] = [
    ...['\r', '\n', '\0', '\r\nx: y', '\x7f', '\u0100', '\u010d\u010a'].map(
      (mark) => [`a value with ${JSON.stringify(mark)}`, { headers: { a: `b${mark}c` } as never }] as const,
    ),
    ...['', ' ', 'a b', 'a:', 'a\r\nb', 'a\0', '\xe9'].map(
      (name) => [`a name ${JSON.stringify(name)}`, { headers: { [name]: 'b' } as never }] as const,
    ),
    ...['x', '', '/a b', '/a\r\nb', '/\0', '/a HTTP/1.1\r\nx: y', '/\u0100', 'http://h/'].map(
      (path) => [`a path ${JSON.stringify(path)}`, { path }] as const,
    ),
    ...['', 'post', 'POST ', 'PO\r\nST'].map((method) => [`a method ${JSON.stringify(method)}`, { method }] as const),
    ...['Content-Length', 'transfer-encoding', 'Connection', 'upgrade', 'expect', 'keep-alive'].map(
      (name) => [`a field ${name}`, { headers: { [name]: '1' } as never }] as const,
    ),
    ['another host', { headers: { host: 'other' } as never }],
  ];
  it.each(bad)('is not written with %s', (_name, over) => {
    expect(() => requestHead({ ...POST, ...over }, 'h')).toThrow(BadRequest);
  });
});

it.each([
  ['POST', 0, 'content-length: 0\r\n\r\n'],
  ['PATCH', 0, 'content-length: 0\r\n\r\n'],
  ['GET', 0, '\r\n'],
  ['DELETE', 0, '\r\n'],
  ['DELETE', 3, 'content-length: 3\r\n\r\n'],
])('a %s of %i bytes is framed by %j', (method, bytes, text) => {
  expect(framedBy(method, bytes)).toBe(text);
});
