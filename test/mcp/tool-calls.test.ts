import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { startMcpServer, type McpStandIn } from '../harness/mcp-server.ts';
import { rowOf } from '../harness/ledger-rows.ts';
import { ask, post, startMcpWorld, textOf, type McpWorld } from './world.ts';

/** Calls of tools through the gateway, in both eras on both sides. */

let legacy: McpStandIn;
let modern: McpStandIn;
let world: McpWorld;

beforeAll(async () => {
  legacy = await startMcpServer();
  modern = await startMcpServer({ era: 'modern' });
  world = await startMcpWorld({
    servers: { old: { url: legacy.url }, new: { url: modern.url } },
    prices: [{ model: 'mcp/old/*', unit: 'Call', input: '0.002' }],
  });
}, 60_000);

afterAll(async () => {
  await world?.[Symbol.asyncDispose]();
  await legacy?.[Symbol.asyncDispose]();
  await modern?.[Symbol.asyncDispose]();
});

afterEach(() => {
  for (const server of [legacy, modern]) server.behaviour.streams = false;
});

const ERAS = ['legacy', 'modern'] as const;
const MATRIX = ERAS.flatMap((client) =>
  ['old', 'new'].flatMap((server) => [false, true].map((streams) => ({ client, server, streams }))),
);

test.each(MATRIX)('a $client client calls $server (streams: $streams)', async ({ client, server, streams }) => {
  for (const one of [legacy, modern]) one.behaviour.streams = streams;
  const args = { mail: 'ada@example.com', n: 1.5 };
  const answer = await ask(world, client, `/v1/mcp/${server}`, 'tools/call', { name: 'echo', arguments: args });
  expect(answer.text).toContain('result');
  expect(JSON.parse(textOf(answer))).toEqual(args);
  expect(answer.body.result?.['resultType']).toBe(client === 'modern' ? 'complete' : undefined);
  const sent = (server === 'old' ? legacy : modern).of('tools/call').at(-1);
  expect(sent?.body.params?.['arguments']).toEqual({ mail: '«EMAIL_1»', n: 1.5 });
  expect(sent?.text).not.toContain('ada@example.com');
  const row = await rowOf(world.databaseUrl, answer.headers.get('x-request-id'));
  expect(row).toMatchObject({
    surface: 'mcp',
    wire_format: 'mcp',
    model: `mcp/${server}/echo`,
    provider: `mcp/${server}`,
    provider_model: 'echo',
    jurisdiction: 'US',
    outcome: 'served',
    units: { calls: 1 },
    usage: null,
    cost_nano_eur: server === 'old' ? '2000000' : '0',
    dlp: { mode: 'tokenize', findings: { EMAIL: 1 } },
    tool: {
      eras: [client === 'modern' ? '2026-07-28' : '2025-03-26', server === 'old' ? '2025-11-25' : '2026-07-28'],
      is_error: false,
      method: 'tools/call',
      result_findings: {},
      result_mode: 'allow_log',
    },
  });
  expect(row.tool?.arguments).toMatch(/^[\w-]{43}$/);
  expect(row.tool?.definition).toMatch(/^[0-9a-f]{64}$/);
});

test('a legacy client opens, pings and lists, and is refused what there is not', async () => {
  const opened = await ask(world, 'legacy', '/v1/mcp/old', 'initialize', {
    protocolVersion: '2025-06-18',
    capabilities: {},
    clientInfo: { name: 'test', version: '1' },
  });
  expect(opened.body.result).toMatchObject({ protocolVersion: '2025-06-18', capabilities: { tools: {} } });
  // By which its calls can be cancelled; nothing depends on it.
  expect(opened.headers.get('mcp-session-id')).toMatch(/^[\w-]{60,400}$/);
  expect((await ask(world, 'legacy', '/v1/mcp/old', 'ping')).body.result).toEqual({});
  expect((await ask(world, 'legacy', '/v1/mcp/old', 'tools/list')).body.result?.tools?.map(({ name }) => name)).toEqual(
    ['echo'],
  );
  const unknown = await ask(world, 'legacy', '/v1/mcp/old', 'resources/list');
  expect([unknown.status, unknown.body.error?.code]).toEqual([200, -32601]);
});

test.each([404, 400] as const)(
  'a session that the server forgot (%s) is opened again, and the call is sent again',
  async (status) => {
    legacy.behaviour.lostStatus = status;
    await ask(world, 'legacy', '/v1/mcp/old', 'tools/call', { name: 'echo', arguments: { a: 1 } });
    const before = legacy.of('initialize').length;
    legacy.forgetSessions();
    const answer = await ask(world, 'legacy', '/v1/mcp/old', 'tools/call', { name: 'echo', arguments: { a: 2 } });
    expect(textOf(answer)).toBe('{"a":2}');
    legacy.behaviour.lostStatus = 404;
    expect(legacy.of('initialize')).toHaveLength(before + 1);
  },
);

test('a call whose session is lost and cannot be opened again was sent', async () => {
  await ask(world, 'legacy', '/v1/mcp/old', 'tools/call', { name: 'echo', arguments: { a: 1 } });
  legacy.forgetSessions();
  legacy.behaviour.opens = false;
  const answer = await ask(world, 'legacy', '/v1/mcp/old', 'tools/call', { name: 'echo', arguments: { a: 2 } });
  legacy.behaviour.opens = true;
  expect(answer.status).toBe(502);
  const row = await rowOf(world.databaseUrl, answer.headers.get('x-request-id'));
  expect(row.attempts).toMatchObject([{ status: 404, sent: true }]);
});

test('a call that is refused with 400 is not sent again, whatever the server says of the session', async () => {
  const { call } = legacy.behaviour;
  const params = { name: 'echo', arguments: { a: 3 } };
  const before = legacy.of('tools/call').length;
  legacy.behaviour.call = ({ body }, response) => {
    const error = { code: -32000, message: 'Bad Request: No valid session ID provided' };
    response.writeHead(400, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ jsonrpc: '2.0', id: body.id, error }));
  };
  const refused = await ask(world, 'legacy', '/v1/mcp/old', 'tools/call', params);
  legacy.behaviour.call = call;
  expect([refused.status, legacy.of('tools/call').length]).toEqual([502, before + 1]);
  const opened = legacy.of('initialize').length;
  expect(textOf(await ask(world, 'legacy', '/v1/mcp/old', 'tools/call', params))).toBe('{"a":3}');
  expect(legacy.of('initialize')).toHaveLength(opened + 1);
});

test('all servers together: names with a prefix, and the same tools', async () => {
  const listed = await ask(world, 'modern', '/v1/mcp', 'tools/list');
  expect(listed.body.result?.tools?.map(({ name }) => name)).toEqual(['new__echo', 'old__echo']);
  expect(listed.body.result?.tools?.[0]?.['_meta']).toEqual({ 'gatewarden.dev/tool': { server: 'new', name: 'echo' } });
  const answer = await ask(world, 'modern', '/v1/mcp', 'tools/call', { name: 'old__echo', arguments: { b: 'x' } });
  expect(textOf(answer)).toBe('{"b":"x"}');
  expect(await rowOf(world.databaseUrl, answer.headers.get('x-request-id'))).toMatchObject({ model: 'mcp/old/echo' });
});

test('whatever a server says on its way, every event that its client gets is JSON', async () => {
  const { call } = legacy.behaviour;
  legacy.behaviour.call = ({ body }, response) => {
    const { progressToken } = (body.params?.['_meta'] ?? {}) as { progressToken?: string };
    const notice = (params: object): string =>
      `data: ${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/progress', params })}\n\n`;
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const params of [{ progressToken }, { progressToken, message: 'half' }, { progressToken, progress: 1 }])
      response.write(notice(params));
    response.end(`data: {"jsonrpc":"2.0","id":"${String(body.id)}","result":{"content":[]}}\n\n`);
  };
  const params = { name: 'echo', arguments: {}, _meta: { progressToken: 5 } };
  const answer = await post(world, '/v1/mcp/old', { jsonrpc: '2.0', id: 9, method: 'tools/call', params });
  legacy.behaviour.call = call;
  const lines = answer.text.split('\n').filter((line) => line.startsWith('data: '));
  expect(lines.map((line) => JSON.parse(line.slice(6)) as unknown)).toEqual([
    { jsonrpc: '2.0', method: 'notifications/progress', params: { progressToken: 5, progress: 1 } },
    { jsonrpc: '2.0', id: 9, result: { content: [] } },
  ]);
});

test('clients that wait for less than the workload lets them do not have a server left alone', async () => {
  const { call } = modern.behaviour;
  modern.behaviour.call = () => new Promise((resolve) => setTimeout(() => resolve({ content: [] }), 1500));
  const params = { name: 'echo', arguments: {} };
  const hasty = { 'x-gw-upstream-timeout': '1' };
  const answers = await Promise.all(
    Array.from({ length: 12 }, async () => ask(world, 'modern', '/v1/mcp/new', 'tools/call', params, hasty)),
  );
  modern.behaviour.call = call;
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([504]));
  const after = await ask(world, 'modern', '/v1/mcp/new', 'tools/call', params);
  expect(after.status).toBe(200);
});
