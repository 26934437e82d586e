import { expect, test } from 'vitest';
import { readDocument } from '../document/document.ts';
import { META_CAPABILITIES, META_VERSION, negotiated, readEra, type RepeatedHeaders } from './eras.ts';
import { readMessage, RpcFault } from './message.ts';

const NO_HEADERS: RepeatedHeaders = { version: undefined, method: undefined, name: undefined };
const META = { [META_VERSION]: '2026-07-28', [META_CAPABILITIES]: {} };
const CALL = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'söhne', _meta: META } };
const HEADERS = { version: '2026-07-28', method: 'tools/call', name: '=?base64?c8O2aG5l?=' };

function eraOf(message: object, headers: Partial<RepeatedHeaders>): string {
  try {
    const read = readMessage(readDocument('mcp', JSON.stringify(message)));
    const { era, version } = readEra(read, { ...NO_HEADERS, ...headers });
    return `${era} ${version}`;
  } catch (thrown) {
    if (thrown instanceof RpcFault) return `${thrown.status} ${thrown.code}`;
    throw thrown;
  }
}

test.each<[object, Partial<RepeatedHeaders>, string]>([
  [{ jsonrpc: '2.0', id: 1, method: 'initialize' }, {}, 'legacy 2025-03-26'],
  [{ jsonrpc: '2.0', id: 1, method: 'ping' }, { version: '2025-06-18' }, 'legacy 2025-06-18'],
  [{ jsonrpc: '2.0', id: 1, method: 'ping' }, { version: '1999-01-01' }, '400 -32022'],
  [CALL, HEADERS, 'modern 2026-07-28'],
  [CALL, { ...HEADERS, name: 'sohne' }, '400 -32020'],
  [CALL, { ...HEADERS, name: undefined }, '400 -32020'],
  [CALL, { ...HEADERS, method: 'tools/list' }, '400 -32020'],
  [CALL, { ...HEADERS, version: undefined }, '400 -32020'],
  [CALL, { ...HEADERS, version: '2025-11-25' }, '400 -32020'],
  [{ ...CALL, params: { name: 'x' } }, HEADERS, '400 -32602'],
  [{ ...CALL, params: { _meta: { ...META, [META_VERSION]: 7 } } }, HEADERS, '400 -32602'],
  [{ ...CALL, params: { _meta: { ...META, [META_VERSION]: '2031-01-01' } } }, { version: '2031-01-01' }, '400 -32022'],
  [{ jsonrpc: '2.0', method: 'notifications/x' }, { version: '2026-07-28' }, 'modern 2026-07-28'],
  [{ jsonrpc: '2.0', method: 'notifications/x' }, { version: '2026-07-28', method: 'other' }, '400 -32020'],
  [{ jsonrpc: '2.0', id: 1, result: {} }, {}, 'legacy 2025-03-26'],
])('%j with %j: %s', (message, headers, era) => {
  expect(eraOf(message, headers)).toBe(era);
});

test('a legacy client gets the revision that it asks for, or the newest with a handshake', () => {
  expect(negotiated('2025-03-26')).toBe('2025-03-26');
  for (const asked of ['2026-07-28', 'x', 7, undefined]) expect(negotiated(asked)).toBe('2025-11-25');
});

test.each<[string, number]>([
  ['{"jsonrpc":"2.0","id":{},"method":"a"}', -32600],
  ['{"jsonrpc":"2.0","id":1}', -32600],
  ['{"jsonrpc":"2.0","id":1,"method":""}', -32600],
  ['{"jsonrpc":"2.0","id":1,"method":"a","params":[]}', -32600],
  [`{"jsonrpc":"2.0","id":"${'x'.repeat(300)}","method":"a"}`, -32600],
])('%s is refused', (text, code) => {
  expect(() => readMessage(readDocument('mcp', text))).toThrow(expect.objectContaining({ code }));
});

test('an id keeps its spelling', () => {
  const message = readMessage(readDocument('mcp', '{"jsonrpc":"2.0","id":9007199254740993.0,"method":"a"}'));
  expect(message).toMatchObject({ kind: 'request', idSource: '9007199254740993.0' });
});
