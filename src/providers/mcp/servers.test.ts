import { expect, test, vi } from 'vitest';
import type { McpServerConfig } from '#/config/snapshot.ts';
import type { Incoming } from '#/ports/provider.ts';
import { PIECE } from '#/wire/document/large-text.ts';
import type { Steps } from '#/wire/document/steps.ts';
import type { Transport, TransportRequest } from '../http/transport.ts';
import { TokenOriginFault } from '#/ports/mcp-servers.ts';
import { createMcpServers } from './servers.ts';

/** An answer that is all there. */
function answered(status: number, type: string, text: string): Incoming {
  return {
    status,
    header: (name) => (name === 'content-type' ? type : undefined),
    text: async () => text,
    async *chunks() {
      yield Buffer.from(text);
    },
    close: () => undefined,
  };
}

/** A legacy server whose tool does what `call` says; `posts` counts messages to it in the background; it never answers them. */
function legacyServer(call: (id: string) => string) {
  let posts = 0;
  const transport: Transport = {
    async send({ body }: TransportRequest) {
      const { id, method } = JSON.parse(body as string) as { readonly id?: string; readonly method?: string };
      if (method === 'server/discover') return answered(400, 'application/json', '{}');
      if (method === 'initialize') {
        const result = { protocolVersion: '2025-11-25', capabilities: {} };
        return answered(200, 'application/json', JSON.stringify({ jsonrpc: '2.0', id, result }));
      }
      if (method === 'notifications/initialized') return answered(202, 'text/plain', '');
      if (method === 'tools/call') return answered(200, 'text/event-stream', call(id ?? ''));
      posts += 1;
      return new Promise<Incoming>(() => {});
    },
    close: async () => undefined,
  };
  return { transport, posts: () => posts };
}

const SERVER = {
  id: 'acme/crm',
  url: 'http://crm.example/mcp',
  auth: { type: 'none' },
  sessions: 'shared',
  clientCapabilities: [],
  maxResultBytes: 10 * 1024 * 1024,
} as unknown as McpServerConfig;

test('a server that asks thousands of times whether the gateway is there takes few connections', async () => {
  const ping = (id: number): string => `data: {"jsonrpc":"2.0","id":${id},"method":"ping"}\n\n`;
  const pings = Array.from({ length: 5000 }, (_, id) => ping(id)).join('');
  const { transport, posts } = legacyServer(
    (id) => `${pings}data: {"jsonrpc":"2.0","id":"${id}","result":{"content":[]}}\n\n`,
  );
  const servers = createMcpServers(transport, { name: 'gatewarden', version: '1' });
  const ask = { tool: 'echo', arguments: '{}', headers: {}, meta: {}, timeoutMs: 5000 };
  using answer = await servers.call(SERVER, { ...ask, signal: new AbortController().signal });
  expect(answer.kind).toBe('result');
  expect(posts()).toBe(16);
});

test.each([
  'https://evil.example/t',
  'https://id.example.evil.example/t',
  'https://id.example:8443/t',
  'http://id.example/t',
])('no token of a user is sent to %s', async (tokenUrl) => {
  const sent: TransportRequest[] = [];
  const transport: Transport = {
    send: async (request) => {
      sent.push(request);
      return answered(500, 'text/plain', '');
    },
    close: async () => undefined,
  };
  const servers = createMcpServers(transport, {}, ['https://id.example']);
  const auth = { type: 'token_exchange', tokenUrl, clientId: 'a', clientSecret: 'b', scopes: [] } as const;
  const ask = { tool: 'echo', arguments: '{}', headers: {}, meta: {}, timeoutMs: 5000, subject: 'secret' };
  const signal = new AbortController().signal;
  await expect(servers.call({ ...SERVER, auth }, { ...ask, signal })).rejects.toThrow(TokenOriginFault);
  expect(sent).toEqual([]);
  const good = { ...SERVER, auth: { ...auth, tokenUrl: 'https://id.example/t' } };
  await expect(servers.call(good, { ...ask, signal })).rejects.toThrow(/status 500/);
  expect(sent.map(({ origin }) => origin)).toEqual(['https://id.example']);
});

test('a token whose signature is spelled in another way is the same token', async () => {
  const sent: TransportRequest[] = [];
  const transport: Transport = {
    send: async (request) => {
      sent.push(request);
      return answered(400, 'application/json', '{}');
    },
    close: async () => undefined,
  };
  const servers = createMcpServers(transport, {}, ['https://id.example']);
  const auth = {
    type: 'token_exchange',
    tokenUrl: 'https://id.example/t',
    clientId: 'a',
    clientSecret: 'b',
    scopes: [],
  };
  const server = { ...SERVER, auth } as McpServerConfig;
  const call = (subject: string) => {
    const ask = { tool: 'echo', arguments: '{}', headers: {}, meta: {}, timeoutMs: 5000, subject };
    return servers.call(server, { ...ask, signal: new AbortController().signal });
  };
  for (const subject of ['eyJ.a.sigA', 'eyJ.a.sigB', 'eyJ.a.sigC']) await expect(call(subject)).rejects.toThrow(/400/);
  expect(sent).toHaveLength(1);
  await expect(call('eyJ.b.sigA')).rejects.toThrow(/400/);
  expect(sent).toHaveLength(2);
});

const API = {
  ...SERVER,
  name: 'crm',
  maxResultBytes: 32 * 1024 * 1024,
  api: {
    operations: new Map([
      [
        'echo',
        { method: 'POST', path: '/x', parameters: [], body: { argument: 'body', contentType: 'application/json' } },
      ],
    ]),
    digest: '',
  },
} as unknown as McpServerConfig;

/** Calls a tool whose server or API answers so. `longest`: characters of the longest text that was parsed at once. */
async function callLarge(server: McpServerConfig, answer: string, args = '{}') {
  const transport: Transport = {
    async send({ body, path }: TransportRequest) {
      if (path.endsWith('/x')) return answered(200, 'application/json', answer);
      const { id, method } = JSON.parse(body as string) as { readonly id?: string; readonly method?: string };
      const about = `{"jsonrpc":"2.0","id":"${id}","result":`;
      if (method === 'tools/call') return answered(200, 'application/json', `${about}${answer}}`);
      return answered(200, 'application/json', `${about}{"supportedVersions":["2026-07-28"],"capabilities":{}}}`);
    },
    close: async () => undefined,
  };
  let turns = 0;
  const inTurns = async <T>(steps: Steps<T>): Promise<T> => {
    for (;;) {
      const step = steps.next();
      if (step.done === true) return step.value;
      turns += 1;
    }
  };
  const servers = createMcpServers(transport, { name: 'gatewarden', version: '1' });
  const parse = vi.spyOn(JSON, 'parse');
  try {
    const ask = { tool: 'echo', arguments: args, headers: {}, meta: {}, timeoutMs: 5000, inTurns };
    using got = await servers.call(server, { ...ask, signal: new AbortController().signal });
    const longest = Math.max(0, ...parse.mock.calls.map(([text]) => text.length));
    return { body: got.document.body, text: got.document.text, turns, longest };
  } finally {
    parse.mockRestore();
  }
}

test('a large answer of an API is read in turns, never at once', async () => {
  const { body, turns, longest } = await callLarge(API, JSON.stringify({ a: ['"\\\n', 'x'.repeat(500_000)] }));
  expect(body['structuredContent']).toEqual({ a: ['"\\\n', 'x'.repeat(500_000)] });
  expect(turns).toBeGreaterThan(20);
  expect(longest).toBeLessThanOrEqual(PIECE + 2);
});

test('large arguments of an API are read in turns', async () => {
  const { turns, longest } = await callLarge(API, '{}', `{"body":"${'x'.repeat(500_000)}"}`);
  expect(turns).toBeGreaterThan(5);
  expect(longest).toBeLessThanOrEqual(PIECE + 2);
});

test.each([
  ['empty lists', `[${'[],'.repeat(3_000_000)}[]]`],
  ['lists in lists', `${'['.repeat(3_000_000)}${']'.repeat(3_000_000)}`],
  ['numbers', `[${'1,'.repeat(1_100_000)}1]`],
])('an answer of an API that is %s is passed on as text alone', async (_, answer) => {
  const { body, longest } = await callLarge(API, answer);
  expect(body).toEqual({ content: [{ type: 'text', text: answer }] });
  expect(longest).toBeLessThanOrEqual(PIECE + 2);
});

test('what only becomes JSON when it is put into a result is passed on as text alone', async () => {
  for (const padding of ['', ' '.repeat(100_000)]) {
    const answer = `{},"isError":true,"more":{${padding}}`;
    const { body } = await callLarge(API, answer);
    expect(body).toEqual({ content: [{ type: 'text', text: answer }] });
  }
});

test('characters of two halves and lone halves stay as they are where a large answer is cut into pieces', async () => {
  for (const before of ['', 'x']) {
    const answer = JSON.stringify({ a: `${before}${'😀'.repeat(100_000)}` });
    const { body } = await callLarge(API, answer);
    expect(body['content']).toEqual([{ type: 'text', text: answer }]);
  }
});

test('a result of an MCP server that is tiny values is refused before it is parsed', async () => {
  const calling = callLarge({ ...SERVER, maxResultBytes: 32 * 1024 * 1024 }, `{"a":[${'[],'.repeat(3_000_000)}[]]}`);
  await expect(calling).rejects.toThrow('the answer has too many values');
});
