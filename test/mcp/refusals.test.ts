import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { newKey } from '../harness/gateway.ts';
import { startMcpServer, type McpStandIn } from '../harness/mcp-server.ts';
import { ledgerRows, rowOf } from '../harness/ledger-rows.ts';
import { ask, META, post, startMcpWorld, textOf, type McpWorld } from './world.ts';

/** Every refusal of the gateway: its status, its code, and that the server was not asked. */

const SCHEMA = { type: 'object', properties: { region: { type: 'string', 'x-mcp-header': 'Region' } } };
let server: McpStandIn;
let world: McpWorld;
let closedUrl: string;

beforeAll(async () => {
  server = await startMcpServer({
    tools: [
      { name: 'echo', inputSchema: { type: 'object' } },
      { name: 'hidden', inputSchema: { type: 'object' } },
      { name: 'where', inputSchema: SCHEMA },
      { name: 'mail', inputSchema: { type: 'object', properties: { to: { type: 'string', format: 'email' } } } },
    ],
  });
  const closed = createServer();
  await new Promise<void>((resolve) => closed.listen(0, '127.0.0.1', resolve));
  closedUrl = `http://127.0.0.1:${(closed.address() as AddressInfo).port}/`;
  await new Promise((resolve) => closed.close(resolve));
  world = await startMcpWorld(
    {
      servers: {
        old: { url: server.url, tools: { exclude: ['hid*'] }, timeoutSeconds: 1, maxResultKiB: 8 },
        down: { url: closedUrl },
        far: { url: server.url, jurisdiction: 'CN' },
        others: { url: server.url, workloads: ['elsewhere'] },
      },
      policy: {
        residency: { allowedJurisdictions: ['US', 'EU'] },
        allowedTools: ['*/e*', '*/where', '*/mail', 'far/*'],
      },
      more: [
        {
          apiVersion: 'gatewarden.dev/v1alpha1',
          kind: 'Workload',
          metadata: { name: 'elsewhere', namespace: 'default' },
          spec: { organizationRef: { name: 'acme' } },
        },
      ],
    },
    { GW_MCP_ORIGINS: 'https://good.example' },
  );
}, 60_000);

afterAll(async () => {
  await world?.[Symbol.asyncDispose]();
  await server?.[Symbol.asyncDispose]();
});

const CALL = { jsonrpc: '2.0', id: 7, method: 'tools/call', params: { name: 'echo', arguments: {} } };
const MODERN = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': 'echo' };
const MODERN_CALL = { ...CALL, params: { ...CALL.params, _meta: META } };

test.each<[string, unknown, Record<string, string>, number, number | undefined, unknown]>([
  ['a wrong key', CALL, { authorization: `Bearer ${newKey()}` }, 401, -32010, undefined],
  ['an origin', CALL, { origin: 'https://evil.example' }, 403, -32010, undefined],
  ['no JSON', '{"jsonrpc":', {}, 400, -32700, undefined],
  ['a batch', [CALL], {}, 400, -32600, undefined],
  ['another version of JSON-RPC', { ...CALL, jsonrpc: '1.0' }, {}, 400, -32600, 7],
  ['a member twice', '{"jsonrpc":"2.0","id":7,"id":8,"method":"ping"}', {}, 400, -32600, undefined],
  [
    'depth',
    `{"jsonrpc":"2.0","id":7,"method":"ping","params":{"a":${'['.repeat(300)}${']'.repeat(300)}}}`,
    {},
    400,
    -32600,
    undefined,
  ],
  ['a null id', { ...CALL, id: null }, {}, 400, -32600, undefined],
  ['a content type', CALL, { 'content-type': 'text/plain' }, 415, -32600, undefined],
  [
    'a size',
    { ...CALL, params: { ...CALL.params, arguments: { a: 'x'.repeat(4_300_000) } } },
    {},
    413,
    -32600,
    undefined,
  ],
  ['an Accept', CALL, { accept: 'text/html' }, 406, -32600, undefined],
  ['a revision', CALL, { 'mcp-protocol-version': '2030-01-01' }, 400, -32022, 7],
  ['a modern header without _meta', CALL, MODERN, 400, -32602, 7],
  ['a revision in _meta alone', MODERN_CALL, {}, 400, -32020, 7],
  ['another revision in the header', MODERN_CALL, { ...MODERN, 'mcp-protocol-version': '2025-11-25' }, 400, -32020, 7],
  ['another method in the header', MODERN_CALL, { ...MODERN, 'mcp-method': 'tools/list' }, 400, -32020, 7],
  ['no method in a header', MODERN_CALL, { 'mcp-protocol-version': '2026-07-28', 'mcp-name': 'echo' }, 400, -32020, 7],
  ['another name in the header', MODERN_CALL, { ...MODERN, 'mcp-name': 'hidden' }, 400, -32020, 7],
  ['a name in bad base64', MODERN_CALL, { ...MODERN, 'mcp-name': '=?base64?!?=' }, 400, -32020, 7],
  [
    'no capabilities',
    { ...CALL, params: { ...CALL.params, _meta: { 'io.modelcontextprotocol/protocolVersion': '2026-07-28' } } },
    MODERN,
    400,
    -32602,
    7,
  ],
  ['a method of the other era', { ...CALL, method: 'server/discover' }, {}, 200, -32601, 7],
  [
    'a method that only the legacy era has',
    { ...MODERN_CALL, method: 'ping' },
    { ...MODERN, 'mcp-method': 'ping' },
    404,
    -32601,
    7,
  ],
  ['no name', { ...CALL, params: {} }, {}, 200, -32602, 7],
  ['arguments that are a list', { ...CALL, params: { name: 'echo', arguments: [1] } }, {}, 200, -32602, 7],
  ['a cursor', { ...CALL, method: 'tools/list', params: { cursor: 'x' } }, {}, 200, -32602, 7],
  ['a tool that is not there', { ...CALL, params: { name: 'nothing' } }, {}, 200, -32602, 7],
  ['a tool that is not offered', { ...CALL, params: { name: 'hidden' } }, {}, 200, -32602, 7],
])('%s is refused', async (_name, message, headers, status, code, id) => {
  const before = server.of('tools/call').length;
  const answer = await post(world, '/v1/mcp/old', message, headers);
  expect([answer.status, answer.body.error?.code, answer.body.id]).toEqual([status, code, id]);
  expect(answer.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
  if (status === 401) expect(answer.headers.get('www-authenticate')).toBe('Bearer');
  if (code === -32022) expect(answer.body.error?.data?.['supported']).toContain('2026-07-28');
  expect(server.of('tools/call')).toHaveLength(before);
});

test.each(['GET', 'DELETE'])('%s: 401 first, then 405', async (method) => {
  const send = (key: string) =>
    fetch(`${world.gateway.url}/v1/mcp/old`, { method, headers: { authorization: `Bearer ${key}` } });
  expect((await send(newKey())).status).toBe(401);
  const answer = await send(world.key);
  expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'POST']);
});

test.each(['/.well-known/oauth-protected-resource', '/.well-known/oauth-authorization-server/v1/mcp'])(
  '%s: a definite 404, for browsers too',
  async (path) => {
    const answer = await fetch(`${world.gateway.url}${path}`, { headers: { accept: 'text/html' }, redirect: 'manual' });
    expect(answer.status).toBe(404);
  },
);

test('a listed origin may call; notifications and responses are accepted', async () => {
  expect((await post(world, '/v1/mcp/old', CALL, { origin: 'https://good.example' })).status).toBe(200);
  for (const message of [
    { jsonrpc: '2.0', method: 'notifications/initialized' },
    { jsonrpc: '2.0', id: 3, result: {} },
  ])
    expect((await post(world, '/v1/mcp/old', message)).status).toBe(202);
});

test('a tool that is not there and one that is not offered differ in the row alone', async () => {
  const [absent, excluded, unlisted] = await Promise.all(
    [
      ['old', 'nothing'],
      ['old', 'hidden'],
      ['far', 'echo'],
    ].map(async ([name, tool]) => {
      const answer = await post(world, `/v1/mcp/${name}`, { ...CALL, params: { name: tool } });
      const { data: _, ...error } = answer.body.error ?? { code: 0, message: '' };
      return {
        error,
        result: answer.body.result,
        row: await rowOf(world.databaseUrl, answer.headers.get('x-request-id')),
      };
    }),
  );
  expect(absent?.error).toEqual(excluded?.error);
  expect([absent?.row.code, absent?.row.model]).toEqual(['tool_not_found', 'mcp/old']);
  expect([excluded?.row.code, excluded?.row.model]).toEqual(['tool_not_found', 'mcp/old/hidden']);
  expect(excluded?.row.route?.[0]).toMatch(/refused: not among the tools that MCPServer default\/old offers/);
  expect(unlisted?.row).toMatchObject({ code: 'residency_denied', step: 'route', outcome: 'refused' });
  expect(unlisted?.result).toMatchObject({
    isError: true,
    _meta: { 'gatewarden.dev/error': { code: 'residency_denied' } },
  });
});

test('what policy denies is on no list', async () => {
  const names = async (path: string) =>
    (await ask(world, 'modern', path, 'tools/list')).body.result?.tools?.map(({ name }) => name);
  expect(await names('/v1/mcp/old')).toEqual(['echo', 'where', 'mail']);
  expect(await names('/v1/mcp')).toEqual(['old__echo', 'old__where', 'old__mail']);
  expect(await names('/v1/mcp/far')).toEqual([]);
});

test('a server that is not there and one of others are the same', async () => {
  for (const method of ['tools/list', 'initialize', 'tools/call']) {
    const [absent, others] = await Promise.all(
      ['nobody', 'others'].map((name) => post(world, `/v1/mcp/${name}`, { ...CALL, method })),
    );
    expect([absent?.status, absent?.body.error?.code, absent?.body.error?.data?.['code']]).toEqual([
      404,
      -32010,
      'not_found',
    ]);
    expect(absent?.body.error?.message).toBe(others?.body.error?.message);
    expect(others?.status).toBe(404);
  }
});

test('a header that does not repeat its argument is refused, and one that does is not', async () => {
  const params = { name: 'where', arguments: { region: 'München' } };
  for (const more of [{}, { 'mcp-param-region': 'Berlin' }, { 'mcp-param-region': '=?base64?!?=' }]) {
    const answer = await ask(world, 'modern', '/v1/mcp/old', 'tools/call', params, more);
    expect([answer.status, answer.body.error?.code]).toEqual([400, -32020]);
  }
  const repeated = { 'mcp-param-region': `=?base64?${Buffer.from('München').toString('base64')}?=` };
  const answer = await ask(world, 'modern', '/v1/mcp/old', 'tools/call', params, repeated);
  expect(answer.status).toBe(200);
});

test('a tag that the schema of the tool does not take is refused as the result', async () => {
  const before = server.of('tools/call').length;
  const params = { name: 'mail', arguments: { to: 'ada@example.com' } };
  const answer = await ask(world, 'legacy', '/v1/mcp/old', 'tools/call', params);
  expect(answer.status).toBe(200);
  expect(answer.body.result).toMatchObject({ isError: true });
  expect(textOf(answer)).toMatch(/^Refused by Gatewarden \(data_protection\): .*Nothing was sent\.$/);
  expect(server.of('tools/call')).toHaveLength(before);
  expect(await rowOf(world.databaseUrl, answer.headers.get('x-request-id'))).toMatchObject({
    outcome: 'refused',
    step: 'inspect',
    code: 'data_protection',
    dlp: { findings: { EMAIL: 1 } },
    held_nano_eur: '0',
  });
});

test.each<[string, () => void, number, number, string]>([
  ['no answer in time', () => (server.behaviour.call = () => new Promise(() => {})), 504, -32010, 'upstream_timeout'],
  [
    'a status',
    () => (server.behaviour.call = (_, response) => void response.writeHead(500).end()),
    502,
    -32010,
    'upstream_error',
  ],
  [
    'a refused credential',
    () => (server.behaviour.call = (_, response) => void response.writeHead(401).end()),
    502,
    -32010,
    'upstream_error',
  ],
  [
    'a redirect',
    () => (server.behaviour.call = (_, response) => void response.writeHead(302, { location: '/' }).end()),
    502,
    -32010,
    'upstream_error',
  ],
  [
    'too many calls',
    () => (server.behaviour.call = (_, response) => void response.writeHead(429, { 'retry-after': '3' }).end()),
    503,
    -32010,
    'upstream_overloaded',
  ],
  [
    'a broken stream',
    () =>
      (server.behaviour.call = (_, response) =>
        void response.writeHead(200, { 'content-type': 'text/event-stream' }).end('data: {"jsonrpc"')),
    502,
    -32010,
    'upstream_error',
  ],
  [
    'no message',
    () =>
      (server.behaviour.call = (_, response) =>
        void response.writeHead(200, { 'content-type': 'application/json' }).end('{"a":1}')),
    502,
    -32010,
    'upstream_error',
  ],
  [
    'an error of its own',
    () => (server.behaviour.call = () => ({ error: { code: -32050, message: 'for ada@example.com' } })),
    200,
    -32050,
    '',
  ],
])('a server with %s', async (_name, behave, status, code, told) => {
  const { call } = server.behaviour;
  behave();
  const answer = await post(world, '/v1/mcp/old', CALL);
  server.behaviour.call = call;
  expect([answer.status, answer.body.error?.code, answer.body.id]).toEqual([status, code, 7]);
  expect(answer.body.error?.data?.['code'] ?? '').toBe(told);
  const row = await rowOf(world.databaseUrl, answer.headers.get('x-request-id'));
  const isCharged = status === 504 || status === 200;
  expect(row).toMatchObject({ outcome: status === 200 ? 'served' : 'failed', usage: null });
  expect(row.units).toEqual(isCharged ? { calls: 1 } : undefined);
  expect(row.attempts).toHaveLength(1);
});

test('a result that is too large is refused, and was run', async () => {
  const { call } = server.behaviour;
  server.behaviour.call = () => ({ content: [{ type: 'text', text: 'x'.repeat(200_000) }] });
  const answer = await post(world, '/v1/mcp/old', CALL);
  server.behaviour.call = call;
  expect(textOf(answer)).toMatch(/result_too_large.*8 KiB/);
  expect(await rowOf(world.databaseUrl, answer.headers.get('x-request-id'))).toMatchObject({ units: { calls: 1 } });
});

test('a server that is down: its list and its tools are 502, and /v1/mcp says that they are missing', async () => {
  for (const method of ['tools/list', 'tools/call']) {
    const answer = await post(world, '/v1/mcp/down', { ...CALL, method });
    expect([answer.status, answer.body.error?.code]).toEqual([502, -32010]);
  }
  const all = await ask(world, 'legacy', '/v1/mcp', 'tools/list');
  expect(all.headers.get('x-gw-unavailable')).toBe('down');
  expect(all.body.result?.['_meta']).toEqual({ 'gatewarden.dev/unavailable': ['down'] });
});

test('a client that leaves: the server learns it, and the call is charged', async () => {
  const { call } = server.behaviour;
  server.behaviour.call = () => new Promise(() => {});
  const leaving = new AbortController();
  const sent = fetch(`${world.gateway.url}/v1/mcp/old`, {
    method: 'POST',
    headers: { authorization: `Bearer ${world.key}`, 'content-type': 'application/json' },
    body: JSON.stringify(CALL),
    signal: leaving.signal,
  });
  const [calls, cancels] = [server.of('tools/call').length, server.of('notifications/cancelled').length];
  while (server.of('tools/call').length === calls) await new Promise((resolve) => setTimeout(resolve, 10));
  leaving.abort();
  await expect(sent).rejects.toThrow(/abort/i);
  while (server.of('notifications/cancelled').length === cancels)
    await new Promise((resolve) => setTimeout(resolve, 10));
  server.behaviour.call = call;
  expect(server.of('notifications/cancelled').at(-1)?.body.params).toEqual({
    requestId: server.of('tools/call').at(-1)?.body.id,
  });
  let row;
  while (!row) row = (await ledgerRows(world.databaseUrl)).find(({ outcome }) => outcome === 'hung_up');
  expect(row).toMatchObject({ model: 'mcp/old/echo', units: { calls: 1 }, usage: null });
});
