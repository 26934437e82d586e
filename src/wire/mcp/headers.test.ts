import fc from 'fast-check';
import { expect, test } from 'vitest';
import { BadParamHeader, decodeHeader, encodeHeader, headersOf, paramHeaders, unlikeHeader } from './headers.ts';

test('any text comes back from a header, which holds printable ASCII alone', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), (text) => {
      const encoded = encodeHeader(text);
      expect(encoded).toMatch(/^[\x20-\x7e]*$/);
      expect(encoded).toBe(encoded.trim());
      expect(decodeHeader(encoded)).toBe(text);
    }),
  );
});

test.each(['=?base64?!?=', '=?base64?YQ?=', '=?base64?/w==?='])('%s is no text', (value) => {
  expect(decodeHeader(value)).toBeUndefined();
});

const SCHEMA = {
  type: 'object',
  properties: {
    region: { type: 'string', 'x-mcp-header': 'Region' },
    deep: { type: 'object', properties: { n: { type: 'integer', 'x-mcp-header': 'N' } } },
    'x-mcp-header': { type: 'string' },
  },
};

test('declared headers repeat arguments, wherever properties lead', () => {
  const declared = paramHeaders(SCHEMA);
  const args = { region: 'Köln', deep: { n: 4 }, other: 1 };
  const headers = headersOf(declared, args);
  expect(headers).toEqual({ 'mcp-param-region': '=?base64?S8O2bG4=?=', 'mcp-param-n': '4' });
  expect(unlikeHeader(declared, args, headers)).toBeUndefined();
  expect(unlikeHeader(declared, args, { ...headers, 'mcp-param-n': '4.0' })).toBeUndefined();
  expect(unlikeHeader(declared, args, { ...headers, 'mcp-param-n': '5' })).toBe('mcp-param-n');
  expect(unlikeHeader(declared, args, { 'mcp-param-n': '4' })).toBe('mcp-param-region');
  expect(unlikeHeader(declared, { region: null, deep: [] }, {})).toBeUndefined();
});

test.each<[string, object]>([
  ['of no property', { 'x-mcp-header': 'A' }],
  ['of items', { properties: { a: { items: { type: 'string', 'x-mcp-header': 'A' } } } }],
  ['of a branch', { anyOf: [{ properties: { a: { type: 'string', 'x-mcp-header': 'A' } } }] }],
  ['without a name', { properties: { a: { type: 'string', 'x-mcp-header': '' } } }],
  ['that ends a line', { properties: { a: { type: 'string', 'x-mcp-header': 'A\r\nB' } } }],
  ['of an object', { properties: { a: { type: 'object', 'x-mcp-header': 'A' } } }],
  ['twice', { properties: { a: { type: 'string', 'x-mcp-header': 'A' }, b: { type: 'string', 'x-mcp-header': 'a' } } }],
])('a header %s makes a definition invalid', (_name, schema) => {
  expect(() => paramHeaders(schema as never)).toThrow(BadParamHeader);
});
