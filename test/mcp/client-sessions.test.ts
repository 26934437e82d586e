import { hash, randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, inject, test } from 'vitest';
import { newKey, resource, startGateway, type GatewayProcess } from '../harness/gateway.ts';
import { rowOf } from '../harness/ledger-rows.ts';
import { ANY_ARGUMENTS, startMcpServer, type McpReceived, type McpStandIn } from '../harness/mcp-server.ts';
import { createDatabase } from '../harness/postgres.ts';
import { ask, mcpResources, META, post, textOf, type McpWorld } from './world.ts';
import { open, type Told } from './sse-client.ts';

/** Servers that keep state for each client: sessions, questions, streams and cancellations, over two gateways. */

const [key, other] = [newKey(), newKey()];
const INITIALIZE = {
  protocolVersion: '2025-11-25',
  capabilities: { elicitation: {}, sampling: {}, roots: { listChanged: true }, experimental: { x: {} } },
  clientInfo: { name: 'test', version: '1' },
};
let server: McpStandIn;
let shared: McpStandIn;
let databaseUrl: string;
let gateways: readonly GatewayProcess[];
let folder: string;
/** Calls by session, as a server that keeps state. */
const counts = new Map<string, number>();

/** Each tool by its name. */
const call = async ({ body, headers }: McpReceived, response: Parameters<McpStandIn['ask']>[0]): Promise<unknown> => {
  const { name, arguments: args = {} } = body.params as { name: string; arguments?: Record<string, unknown> };
  const session = String(headers['mcp-session-id']);
  const count = (counts.get(session) ?? 0) + 1;
  counts.set(session, count);
  const text = (said: unknown) => ({ content: [{ type: 'text', text: String(said) }] });
  if (name === 'count') return text(count);
  if (name === 'wait') return new Promise(() => {});
  const { result, error } = await server.ask(response, String(args['method']), args['params'] as object);
  return text(`${JSON.stringify(args['mail'])} ${JSON.stringify(result ?? error)}`);
};

beforeAll(async () => {
  const tools = ['count', 'ask', 'wait'].map((name) => ({ name, inputSchema: ANY_ARGUMENTS }));
  server = await startMcpServer({ tools, call });
  shared = await startMcpServer();
  databaseUrl = await createDatabase(inject('databaseUrl'));
  folder = mkdtempSync(join(tmpdir(), 'gatewarden-keys-'));
  const env = { GW_CONTENT_KEY_FILE: join(folder, 'keys') };
  const resources = resourcesWith({});
  const start = () => startGateway({ resources, redisUrl: inject('redisUrl'), databaseUrl, env });
  // The first makes the key.
  const first = await start();
  gateways = [first, await start()];
}, 120_000);

/** `more`: fields of the other key. */
function resourcesWith(more: object): object[] {
  const PerClient = { sessions: 'PerClient', clientCapabilities: ['Elicitation', 'Roots'] };
  return mcpResources(
    {
      servers: {
        kept: { url: server.url, ...PerClient },
        shared: { url: shared.url, clientCapabilities: ['Elicitation'] },
      },
      prices: [{ model: 'mcp/kept/*', unit: 'Call', input: '0.002' }],
      more: [
        resource('VirtualKey', 'other', {
          workloadRef: { name: 'app' },
          hash: { value: hash('sha256', other, 'hex') },
          ...more,
        }),
      ],
    },
    key,
  );
}

afterAll(async () => {
  await Promise.all(gateways?.map((gateway) => gateway.stop()) ?? []);
  await server?.[Symbol.asyncDispose]();
  await shared?.[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

afterEach(() => {
  server.behaviour.lostStatus = 404;
});

const at = (index: number, as = key): Pick<McpWorld, 'gateway' | 'key'> => ({ gateway: gateways[index % 2]!, key: as });

async function initialize(path = '/v1/mcp/kept', index = 0, as = key): Promise<Record<string, string>> {
  const { headers, status } = await ask(at(index, as), 'legacy', path, 'initialize', INITIALIZE);
  expect(status).toBe(200);
  return { 'mcp-session-id': headers.get('mcp-session-id') ?? '' };
}

const count = (index: number, session: Record<string, string>, path = '/v1/mcp/kept', as = key) =>
  ask(at(index, as), 'legacy', path, 'tools/call', { name: path === '/v1/mcp' ? 'kept__count' : 'count' }, session);

const asking = (method: string, params?: object, mail?: string) => ({
  jsonrpc: '2.0',
  id: 7,
  method: 'tools/call',
  params: { name: 'ask', arguments: { method, params, mail } },
});

const FORM = { message: 'Who?', requestedSchema: { type: 'object', properties: { mail: { type: 'string' } } } };

test.each(['/v1/mcp/kept', '/v1/mcp'])(
  'each client of %s has its own state, whichever gateway it asks',
  async (path) => {
    const [one, two] = [await initialize(path), await initialize(path, 1)];
    expect(one).not.toEqual(two);
    const said: string[] = [];
    for (const [index, session] of [one, two, one, one, two, one].entries())
      said.push(textOf(await count(index, session, path)));
    expect(said).toEqual(['1', '1', '2', '3', '2', '4']);
    // The server learns of the client as much as the resource allows.
    expect(server.of('initialize').at(-1)?.body.params?.['capabilities']).toEqual({
      elicitation: {},
      roots: { listChanged: true },
    });
  },
);

test('clients without a session, of either era, share nothing: each call has a session of its own, which ends', async () => {
  const before = server.of('initialize').length;
  for (const era of ['legacy', 'modern', 'legacy'] as const)
    expect(textOf(await ask(at(0), era, '/v1/mcp/kept', 'tools/call', { name: 'count' }))).toBe('1');
  expect(server.of('initialize')).toHaveLength(before + 3);
  const used = server
    .of('tools/call')
    .slice(-3)
    .map(({ headers }) => String(headers['mcp-session-id']));
  await expect.poll(() => used.filter((session) => server.sessions.has(session))).toEqual([]);
});

test('a session is of one key and one path, and invalid once it is changed', async () => {
  const session = await initialize();
  const id = session['mcp-session-id']!;
  const own = server.of('tools/call').length;
  const forged = Buffer.from(id, 'base64url');
  forged[forged.length - 1]! ^= 1;
  for (const [wrong, path, as] of [
    [id, '/v1/mcp/kept', other],
    [id, '/v1/mcp', key],
    [forged.toString('base64url'), '/v1/mcp/kept', key],
    [randomBytes(200).toString('base64url'), '/v1/mcp/kept', key],
    [server.received.at(-1)?.headers['mcp-session-id'] ?? 'x', '/v1/mcp/kept', key],
    ['x'.repeat(8000), '/v1/mcp/kept', key],
  ] as const) {
    const headers = { 'mcp-session-id': String(wrong) };
    const refused = await count(0, headers, path, as);
    expect([refused.status, refused.body.error?.code]).toEqual([404, -32010]);
    const left = await open(at(0, as), path, undefined, headers, 'DELETE');
    expect(left.status).toBe(404);
  }
  expect(server.of('tools/call')).toHaveLength(own);
  expect(textOf(await count(1, session))).toBe('1');
});

test.each([404, 400] as const)(
  'a server that forgot the session (%s) has its client open another one',
  async (status) => {
    const session = await initialize();
    await count(0, session);
    server.behaviour.lostStatus = status;
    server.forgetSessions();
    const lost = await count(1, session);
    expect([lost.status, lost.body.error?.data?.['code']]).toEqual([404, 'not_found']);
    expect(lost.body.error?.message).toContain('initialize again');
    expect(await rowOf(databaseUrl, lost.headers.get('x-request-id'))).toMatchObject({
      outcome: 'failed',
      code: 'not_found',
      reason: 'session',
      cost_nano_eur: '0',
    });
    server.behaviour.lostStatus = 404;
    expect(textOf(await count(0, await initialize()))).toBe('1');
  },
);

test('DELETE ends the session at the server, and needs one', async () => {
  const session = await initialize();
  await count(0, session);
  const id = String(server.of('tools/call').at(-1)?.headers['mcp-session-id']);
  expect((await open(at(1), '/v1/mcp/kept', undefined, session, 'DELETE')).status).toBe(204);
  await expect.poll(() => server.sessions.has(id)).toBe(false);
  expect((await count(0, session)).status).toBe(404);
  const none = await open(at(0), '/v1/mcp/kept', undefined, {}, 'DELETE');
  expect([none.status, none.headers.get('allow')]).toEqual([405, 'POST']);
});

test.each([0, 1])('a question is answered at gateway %s, each side knowing its own words', async (index) => {
  const session = await initialize();
  const answer = await open(at(0), '/v1/mcp/kept', asking('elicitation/create', FORM, 'ada@example.com'), session);
  const question = (await answer.next()) as Told & { readonly id: string };
  expect(question).toMatchObject({ method: 'elicitation/create', params: FORM });
  // The client's own address, in its question: as the server knows it.
  const result = { action: 'accept', content: { mail: 'bob@example.com', again: 'ada@example.com' } };
  const reply = await post(at(index), '/v1/mcp/kept', { jsonrpc: '2.0', id: question.id, result }, session);
  expect([reply.status, reply.text]).toEqual([202, '']);
  const told = await answer.next();
  expect(told?.result?.content?.[0]?.text).toBe(`"ada@example.com" ${JSON.stringify(result)}`);
  const sent = server.received.findLast(({ body }) => String(body.id).startsWith('asked-'));
  expect(sent?.body.result).toEqual({ action: 'accept', content: { mail: '«EMAIL_2»', again: '«EMAIL_1»' } });
  const row = await rowOf(databaseUrl, answer.headers.get('x-request-id'));
  expect(row).toMatchObject({
    cost_nano_eur: '2000000',
    tool: { asks: ['elicitation/create'], method: 'tools/call' },
  });
  const answered = await rowOf(databaseUrl, reply.headers.get('x-request-id'));
  expect(answered).toMatchObject({
    outcome: 'served',
    model: 'mcp/kept/ask',
    parent: row.call_id,
    cost_nano_eur: '0',
    dlp: { findings: { EMAIL: 3 } },
    tool: { method: 'elicitation/create' },
  });
});

test.each<[string, string, object | undefined, number]>([
  ['a capability that the resource does not allow', 'sampling/createMessage', { messages: [] }, -32601],
  ['a method that there is not', 'evil/method', {}, -32601],
  ['an address to open', 'elicitation/create', { mode: 'url', url: 'https://evil.example', message: 'x' }, -32601],
])('a server gets an error for %s, and the client hears nothing of it', async (_what, method, params, code) => {
  const session = await initialize();
  const answer = await post(at(0), '/v1/mcp/kept', asking(method, params), session);
  expect(answer.text).toContain(`\\"code\\":${code}`);
  expect(answer.text).not.toContain('"method"');
});

test('only the session that was asked answers, and once', async () => {
  const [session, stranger] = [await initialize(), await initialize()];
  const answer = await open(at(0), '/v1/mcp/kept', asking('roots/list'), session);
  const question = await answer.next();
  const reply = { jsonrpc: '2.0', id: question?.id, result: { roots: [] } };
  const theirs = await initialize('/v1/mcp/kept', 0, other);
  for (const [as, headers] of [
    [key, stranger],
    [other, theirs],
  ] as const)
    for (const index of [0, 1])
      await post(at(index, as), '/v1/mcp/kept', { ...reply, result: { roots: ['evil'] } }, headers);
  expect((await post(at(0, other), '/v1/mcp/kept', reply, session)).status).toBe(404);
  expect((await post(at(0), '/v1/mcp/kept', reply, session)).status).toBe(202);
  expect((await answer.next())?.result?.content?.[0]?.text).toBe('undefined {"roots":[]}');
  expect((await post(at(0), '/v1/mcp/kept', reply, session)).status).toBe(400);
});

test.each([0, 1])('a call that is cancelled at gateway %s stops at its server, and the row says so', async (index) => {
  const session = await initialize();
  const path = '/v1/mcp/kept';
  const message = { jsonrpc: '2.0', id: 'my call', method: 'tools/call', params: { name: 'wait' } };
  const before = server.of('tools/call').length;
  const cancelled = server.of('notifications/cancelled').length;
  const waiting = open(at(0), path, message, session);
  await expect.poll(() => server.of('tools/call').length).toBe(before + 1);
  const cancel = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 'my call' } };
  // Another client's call may have the same id.
  await post(at(0), path, cancel, await initialize());
  await post(at(1, other), path, cancel, await initialize(path, 1, other));
  expect(server.of('notifications/cancelled')).toHaveLength(cancelled);
  expect((await post(at(index), path, cancel, session)).status).toBe(202);
  const answer = await waiting;
  expect([answer.status, await answer.next()]).toEqual([200, undefined]);
  await expect.poll(() => server.of('notifications/cancelled').length).toBe(cancelled + 1);
  expect(server.of('notifications/cancelled').at(-1)?.body.params?.['requestId']).toBe(
    server.of('tools/call').at(-1)?.body.id,
  );
  expect(await rowOf(databaseUrl, answer.headers.get('x-request-id'))).toMatchObject({
    outcome: 'hung_up',
    reason: 'cancelled',
    status: 499,
    cost_nano_eur: '2000000',
  });
});

test('the stream of a session has what its servers say, and what they ask is answered', async () => {
  const session = await initialize('/v1/mcp', 1);
  const stream = await open(at(1), '/v1/mcp', undefined, session, 'GET');
  expect([stream.status, stream.headers.get('content-type')]).toEqual([200, 'text/event-stream; charset=utf-8']);
  const own = () => [...server.streams].at(-1)?.[1];
  await expect.poll(own).toBeDefined();
  const say = (message: object): void =>
    void own()?.write(`data: ${JSON.stringify({ jsonrpc: '2.0', ...message })}\n\n`);
  say({ method: 'notifications/message', params: { level: 'info', data: 'up', more: 'x' } });
  say({ method: 'notifications/evil', params: {} });
  say({ method: 'notifications/tools/list_changed', params: { x: 1 } });
  expect(await stream.next()).toEqual({
    jsonrpc: '2.0',
    method: 'notifications/message',
    params: { level: 'info', data: 'up' },
  });
  expect(await stream.next()).toEqual({ jsonrpc: '2.0', method: 'notifications/tools/list_changed' });
  say({ id: 1, method: 'roots/list' });
  const question = await stream.next();
  expect(question?.method).toBe('roots/list');
  const result = { roots: [{ uri: 'file:///ada@example.com' }] };
  const reply = await post(at(0), '/v1/mcp', { jsonrpc: '2.0', id: question?.id, result }, session);
  expect(reply.status).toBe(202);
  await expect.poll(() => server.received.at(-1)?.body.result).toEqual({ roots: [{ uri: 'file:///«EMAIL_1»' }] });
  expect(await rowOf(databaseUrl, reply.headers.get('x-request-id'))).toMatchObject({
    model: 'mcp/kept',
    tool: { method: 'roots/list' },
  });
  own()?.end();
  expect(await stream.next()).toBeUndefined();
});

test('streams are few for each key, and need a session that a server keeps something in', async () => {
  const session = await initialize();
  const streams = await Promise.all(
    Array.from({ length: 17 }, async () => open(at(0), '/v1/mcp/kept', undefined, session, 'GET')),
  );
  expect(streams.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([
    ...Array.from({ length: 16 }, () => 200),
    429,
  ]);
  for (const stream of streams) stream.leave();
  await expect
    .poll(async () => {
      const again = await open(at(0), '/v1/mcp/kept', undefined, session, 'GET');
      again.leave();
      return again.status;
    })
    .toBe(200);
  for (const [path, headers] of [
    ['/v1/mcp/kept', {}],
    ['/v1/mcp/shared', await initialize('/v1/mcp/shared')],
  ] as const)
    expect((await open(at(0), path, undefined, headers, 'GET')).status).toBe(405);
});

test.each(['legacy', 'modern'] as const)(
  'a %s client that hangs up has its call stopped at the server',
  async (era) => {
    const session = era === 'legacy' ? await initialize() : {};
    const stopped = () => server.of('notifications/cancelled').length;
    const before = [server.of('tools/call').length, stopped()] as const;
    const meta = { _meta: META };
    const message = {
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: 'wait', ...(era === 'modern' && meta) },
    };
    const modern = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': 'wait' };
    const leaving = new AbortController();
    const asked = fetch(`${gateways[0]!.url}/v1/mcp/kept`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${key}`,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        ...(era === 'modern' ? modern : session),
      },
      body: JSON.stringify(message),
      signal: leaving.signal,
    });
    await expect.poll(() => server.of('tools/call').length).toBe(before[0] + 1);
    leaving.abort();
    await expect(asked).rejects.toThrow(/aborted/);
    await expect.poll(stopped).toBe(before[1] + 1);
  },
);

test('a stream ends when its key is revoked', async () => {
  const session = await initialize('/v1/mcp/kept', 0, other);
  const stream = await open(at(0, other), '/v1/mcp/kept', undefined, session, 'GET');
  expect(stream.status).toBe(200);
  gateways[0]!.configure(resourcesWith({ revoked: true }));
  expect(await stream.next()).toBeUndefined();
  gateways[0]!.configure(resourcesWith({}));
}, 60_000);

test('the level of logs is set at the servers of a session, and at none without one', async () => {
  const session = await initialize();
  const set = (headers: Record<string, string>, level: string, path = '/v1/mcp/kept') =>
    ask(at(1), 'legacy', path, 'logging/setLevel', { level }, headers);
  expect((await set(session, 'warning')).body.result).toEqual({});
  expect(server.of('logging/setLevel').at(-1)?.body.params).toEqual({ level: 'warning' });
  expect((await set(session, 'loud')).body.error?.code).toBe(-32602);
  expect((await set({}, 'warning')).body.error?.code).toBe(-32601);
});
