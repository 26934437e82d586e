import { expect, test, vi } from 'vitest';
import type { ServerReadRequest } from '#/call/server-read.ts';
import type { McpServerConfig } from '#/config/snapshot.ts';
import { GatewayError } from '#/errors/gateway-error.ts';
import { PIECE } from '#/wire/document/large-text.ts';
import { readResult } from '#/wire/mcp/leaves.ts';
import { linkedText, type Told } from './linked-text.ts';
import { clientText } from './read-results.ts';

/** Addresses in results of several servers: large results are read once, in turns, and none has links without an end. */

const SERVER = { prefix: 'crm', offer: new Set(['resources']) } as unknown as McpServerConfig;
const told = (text: string, server?: string): Told & { readonly request: ServerReadRequest } => {
  const key = { workload: { id: 'w', organization: { id: 'o' } } };
  const request = {
    key,
    signal: new AbortController().signal,
    era: { era: 'modern' },
    method: 'resources/read',
    server,
  };
  return { text, request: request as unknown as ServerReadRequest };
};
const links = (count: number, text = 'x', list = 'content'): string =>
  JSON.stringify({
    [list]: Array.from({ length: count }, (_, at) => ({ type: 'resource_link', uri: `memo://${at}`, text })),
  });

/** What work gives, and the characters of texts that were parsed at once. */
async function watched<T>(
  work: () => Promise<T>,
): Promise<{ readonly got: T; readonly longest: number; readonly all: number }> {
  const parse = vi.spyOn(JSON, 'parse');
  try {
    const got = await work();
    const lengths = parse.mock.calls.map(([text]) => text.length);
    return { got, longest: Math.max(0, ...lengths), all: lengths.reduce((sum, length) => sum + length, 0) };
  } finally {
    parse.mockRestore();
  }
}

test('a large result is never parsed at once', async () => {
  const text = links(5000, 'a "text"\n'.repeat(20));
  const { got, longest } = await watched(() => linkedText(told(text), SERVER));
  expect(got).toBe(text.replaceAll('memo://', 'gw-crm+memo://'));
  expect(longest).toBeLessThanOrEqual(PIECE + 2);
});

test('a resource is parsed once, a large one never at once', async () => {
  const small = links(3, 'x', 'contents');
  const inFew = await watched(() => clientText(told(small), 'result', SERVER));
  expect(inFew.all).toBeLessThan(small.length * 2);
  const large = links(5000, 'a "text"\n'.repeat(20), 'contents');
  const { got, longest } = await watched(() => clientText(told(large), 'result', SERVER));
  const whole = large.replaceAll('memo://', 'gw-crm+memo://');
  expect(got).toBe(`${whole.slice(0, -1)},"cacheScope":"private","ttlMs":0}`);
  expect(longest).toBeLessThanOrEqual(PIECE + 2);
  const own = await watched(() => clientText(told(large, 'crm'), 'result', SERVER));
  expect(own.got).toBe(`${large.slice(0, -1)},"cacheScope":"private","ttlMs":0}`);
  expect(own.longest).toBeLessThanOrEqual(PIECE + 2);
});

test('what a text says is not read again where it is known', async () => {
  const text = links(3);
  const known = readResult(text);
  const { got, all } = await watched(() => linkedText({ ...told(text), known }, SERVER));
  expect([got, all]).toEqual([text.replaceAll('memo://', 'gw-crm+memo://'), 0]);
  const other = links(2);
  expect(await linkedText({ ...told(other), known }, SERVER)).toBe(other.replaceAll('memo://', 'gw-crm+memo://'));
});

test.each([
  ['blocks', links(10_001)],
  ['contents', links(10_001, 'x', 'contents')],
  ['members of one name', `{"content":{${'"uri":"memo://a",'.repeat(10_001)}"b":1}}`],
  ['resources of one block', `{"content":[{${'"resource":{"uri":"memo://a"},'.repeat(10_001)}"b":1}]}`],
])('a result with too many links in %s is refused as one that cannot be read', async (_, text) => {
  const refusal = await linkedText(told(text), SERVER);
  expect(refusal).toBeInstanceOf(GatewayError);
  expect(refusal).toMatchObject({ code: 'upstream_error' });
  expect(await clientText(told(text), 'result', SERVER)).toMatchObject({ code: 'upstream_error' });
});
