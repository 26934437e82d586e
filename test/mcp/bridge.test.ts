import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { BRIDGE_TOKEN, startBridge, type BridgeProcess } from '../harness/bridge.ts';
import { META } from './world.ts';

/** The bridge to servers over standard input, asked directly in both eras, with a server that behaves badly. */

const SCRIPT = join(import.meta.dirname, 'stdio-server.ts');
const command = [process.execPath, SCRIPT];
let bridge: BridgeProcess;

beforeAll(async () => {
  bridge = await startBridge({ command, env: { GW_BRIDGE_MAX_MIB: '1', API_KEY: 'of-the-server', PORT: '9' } });
}, 30_000);
afterAll(() => bridge?.[Symbol.asyncDispose]());

interface Reply {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly body: {
    readonly id?: unknown;
    readonly result?: Record<string, unknown> & { readonly content?: readonly { readonly text: string }[] };
    readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown };
  };
}

async function post(
  message: unknown,
  headers: Readonly<Record<string, string>> = {},
  { url, signal }: { readonly url?: string; readonly signal?: AbortSignal } = {},
): Promise<Reply> {
  const response = await fetch(url ?? bridge.url, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${BRIDGE_TOKEN}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...headers,
    },
    body: typeof message === 'string' ? message : JSON.stringify(message),
    ...(signal && { signal }),
  });
  const text = await response.text();
  const isJson = response.headers.get('content-type')?.startsWith('application/json') === true;
  return {
    status: response.status,
    headers: response.headers,
    text,
    body: isJson ? (JSON.parse(text) as Reply['body']) : {},
  };
}

/** A call as a client of the newer era makes it. */
function call(
  name: string,
  args: object = {},
  more: { readonly url?: string; readonly signal?: AbortSignal } = {},
  meta: object = {},
): Promise<Reply> {
  const params = { name, arguments: args, _meta: { ...META, ...meta } };
  const headers = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': name };
  return post({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }, headers, more);
}

/** A process that has ended and whose parent does not ask for it runs no longer. */
function isRunning(pid: number): boolean {
  try {
    return !/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}

/** Resolves once the server has so many calls of a tool. */
const called = (name: string, times: number, of: BridgeProcess = bridge): Promise<void> =>
  expect.poll(() => of.errors().split(`called ${name}\n`).length - 1, { timeout: 15_000 }).toBe(times);

const said = ({ body }: Reply): string | undefined => body.result?.content?.[0]?.text;

/** A session of the older era. */
async function open(): Promise<Readonly<Record<string, string>>> {
  const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } };
  const { headers, body } = await post({ jsonrpc: '2.0', id: 1, method: 'initialize', params });
  expect(body.result).toEqual({
    protocolVersion: '2025-06-18',
    capabilities: { tools: {} },
    serverInfo: { name: 'scripted', version: '1' },
  });
  const session = { 'mcp-session-id': headers.get('mcp-session-id')!, 'mcp-protocol-version': '2025-06-18' };
  expect((await post({ jsonrpc: '2.0', method: 'notifications/initialized' }, session)).status).toBe(202);
  return session;
}

test('clients of both eras get their own answers, whatever ids they use', async () => {
  const sessions = await Promise.all([open(), open()]);
  const legacy = (at: number) =>
    post(
      {
        jsonrpc: '2.0',
        id: 'same',
        method: 'tools/call',
        params: { name: 'slow', arguments: { ms: 50 - at, said: `${at}` } },
      },
      sessions[at % 2],
    );
  const answers = await Promise.all(
    Array.from({ length: 12 }, (_, at) => (at % 3 === 0 ? call('slow', { ms: 20, said: `${at}` }) : legacy(at))),
  );
  expect(answers.map(said)).toEqual(answers.map((_, at) => `${at}`));
  expect(answers.map(({ body }) => body.id)).toEqual(answers.map((_, at) => (at % 3 === 0 ? 1 : 'same')));
  expect(answers[0]!.body.result?.['resultType']).toBe('complete');
  expect(answers[1]!.body.result?.['resultType']).toBeUndefined();
});

test('the newer era asks without a session, and its lists may be kept for a while', async () => {
  const headers = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/list' };
  const list = await post({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: { _meta: META } }, headers);
  expect(list.body.result).toMatchObject({ resultType: 'complete', ttlMs: 5000, cacheScope: 'private' });
  expect(said(await call('meta', {}, {}, { traceparent: 'x' }))).toBe('{"traceparent":"x"}');
  const subscribing = { ...headers, 'mcp-method': 'subscriptions/listen' };
  const listen = await post(
    { jsonrpc: '2.0', id: 1, method: 'subscriptions/listen', params: { _meta: META } },
    subscribing,
  );
  expect([listen.status, listen.body.error?.code]).toEqual([404, -32601]);
});

test('numbers keep their digits on the way to the server', async () => {
  const message =
    '{"jsonrpc":"2.0","id":5,\n"method":"tools/call","params":{"name":"meta","_meta":{"n":12345678901234567890}}}';
  const answer = await post(message, await open());
  expect(said(answer)).toBe(JSON.stringify({ n: 12345678901234567000 }));
});

test('a session that is not known is 404, and none is 400', async () => {
  const list = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
  expect((await post(list)).status).toBe(400);
  const unknown = await post(list, { 'mcp-session-id': 'x' });
  expect([unknown.status, unknown.body.id]).toEqual([404, 1]);
  const session = await open();
  const gone = await fetch(bridge.url, {
    method: 'DELETE',
    headers: { authorization: `Bearer ${BRIDGE_TOKEN}`, ...session },
  });
  expect(gone.status).toBe(200);
  expect((await post(list, session)).status).toBe(404);
});

test.each<readonly [string, number, RequestInit, string]>([
  ['no token', 401, { headers: {} }, '/mcp'],
  ['a wrong token', 401, { headers: { authorization: 'Bearer bridge-token-012345678' } }, '/mcp'],
  ['a web page', 403, { headers: { authorization: `Bearer ${BRIDGE_TOKEN}`, origin: 'http://127.0.0.1' } }, '/mcp'],
  ['GET', 405, { headers: { authorization: `Bearer ${BRIDGE_TOKEN}` } }, '/mcp'],
  ['another path', 404, { headers: { authorization: `Bearer ${BRIDGE_TOKEN}` } }, '/'],
  [
    'another content type',
    415,
    { method: 'POST', body: '{}', headers: { authorization: `Bearer ${BRIDGE_TOKEN}`, 'content-type': 'text/plain' } },
    '/mcp',
  ],
])('%s is %d', async (_, status, init, path) => {
  const response = await fetch(new URL(path, bridge.url), init);
  expect(response.status).toBe(status);
  expect(await response.text()).not.toContain(BRIDGE_TOKEN);
});

test.each([
  ['half of JSON', '{', 400, -32700],
  ['a batch', '[]', 400, -32700],
  ['a member twice', '{"jsonrpc":"2.0","id":1,"method":"ping","method":"x"}', 400, -32600],
  ['no version', '{"id":1,"method":"ping"}', 400, -32600],
  [
    'a header that differs',
    JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: { _meta: META } }),
    400,
    -32020,
  ],
  ['too much', `{"x":"${'y'.repeat(4 * 1024 * 1024)}"}`, 413, -32600],
])('%s is refused', async (_, message, status, code) => {
  const more: Record<string, string> = message.includes('2026')
    ? { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call' }
    : {};
  const answer = await post(message, more);
  expect([answer.status, answer.body.error?.code]).toEqual([status, code]);
});

test('methods that need a connection of its own are unknown', async () => {
  const session = await open();
  for (const method of ['logging/setLevel', 'resources/subscribe', 'sampling/createMessage', 'x']) {
    const { body } = await post({ jsonrpc: '2.0', id: 1, method, params: {} }, session);
    expect(body.error?.code).toBe(-32601);
  }
  expect((await post({ jsonrpc: '2.0', id: 1, method: 'ping' }, session)).body.result).toEqual({});
});

test('progress goes to the client that asked, with its own token', async () => {
  const answer = await call('progress', {}, {}, { progressToken: 'mine' });
  const events = answer.text
    .split('\n')
    .filter((line) => line.startsWith('data: '))
    .map((line) => JSON.parse(line.slice(6)) as object);
  expect(events.slice(0, 2)).toEqual(
    [1, 2].map((progress) => ({
      jsonrpc: '2.0',
      method: 'notifications/progress',
      params: { progressToken: 'mine', progress, total: 2 },
    })),
  );
  expect(events).toHaveLength(3);
  expect(answer.text).not.toContain('foreign');
});

test('the server is refused what no client can do, and its errors pass', async () => {
  expect(JSON.parse(said(await call('ask'))!)).toEqual([
    { id: 'q1', error: -32601 },
    { id: 'q2', result: {} },
  ]);
  expect((await call('fail')).body.error).toEqual({ code: -32005, message: 'refused', data: { big: 1 } });
});

test('a client that leaves cancels its request, and one of the older era says so', async () => {
  const leaving = new AbortController();
  const left = call('never', {}, { signal: leaving.signal }).catch((error: unknown) => (error as Error).name);
  await called('never', 1);
  leaving.abort();
  expect(await left).toBe('AbortError');
  const session = await open();
  const waiting = post({ jsonrpc: '2.0', id: 'c', method: 'tools/call', params: { name: 'never' } }, session);
  await called('never', 2);
  const cancel = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 'c' } };
  // Another session's request of this name is not meant.
  await post(cancel, await open());
  await post(cancel, session);
  await waiting;
  await expect
    .poll(async () => (JSON.parse(said(await call('cancelled'))!) as readonly unknown[]).length, { timeout: 15_000 })
    .toBe(2);
});

test('lines of the server that are no messages are dropped, and its answer comes', async () => {
  expect(said(await call('garbage', { said: 'here' }))).toBe('here');
  await expect.poll(bridge.log).toContain('bridge.no_message');
  expect(bridge.log()).not.toContain('secret-content');
});

test('a flood on standard error is passed on in part, and stops nothing', async () => {
  expect(said(await call('flood', { lines: 5000 }))).toBe('done');
  expect(said(await call('echo', { said: 'alive' }))).toBe('alive');
  const lines = (): readonly string[] =>
    bridge
      .errors()
      .split('\n')
      .filter((line) => line.startsWith('flood'));
  await expect.poll(() => lines().length).toBeGreaterThanOrEqual(50);
  expect(lines().length).toBeLessThan(2500);
  expect(Math.max(...lines().map(({ length }) => length))).toBeLessThanOrEqual(2000);
});

test.each(['giantLast', 'giantFirst'])('an answer that is too large fails its own request (%s)', async (tool) => {
  const [giant, other] = await Promise.all([
    call(tool, { bytes: 3_000_000 }),
    call('slow', { ms: 300, said: 'other' }),
  ]);
  expect(giant.body.error).toEqual({ code: -32603, message: 'the answer of the server is too large.' });
  expect(said(other)).toBe('other');
  expect(said(await call('echo', { said: 'x'.repeat(900_000) }))).toHaveLength(900_000);
});

test('the server gets the environment of its container, without the token, and its arguments as they are', async () => {
  const env = JSON.parse(said(await call('environment'))!) as Record<string, string>;
  expect(env).toMatchObject({ API_KEY: 'of-the-server', PORT: '9' });
  expect(JSON.stringify(env)).not.toContain(BRIDGE_TOKEN);
  const strange = ['', '$(touch /tmp/x); echo', '`id`', '--flag=a b', '*'];
  await using other = await startBridge({ command: [...command, ...strange] });
  expect(JSON.parse(said(await call('arguments', {}, other))!)).toEqual(strange);
}, 30_000);

test('a server that reads no more gets no more than is bounded, and the bridge refuses more', async () => {
  await using other = await startBridge({ command, env: { GW_BRIDGE_CALLS: '4', GW_BRIDGE_DRAIN_SECONDS: '0' } });
  const waiting = Array.from({ length: 4 }, () => call('never', {}, other).catch(() => undefined));
  await called('never', 4, other);
  const refused = await call('echo', { said: 'x' }, other);
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1']);
  other.process.kill('SIGTERM');
  await Promise.all(waiting);
  expect(await other.ended).toBe(0);
}, 30_000);

test('the bridge ends with its server, which answers what waits, and with all that it started', async () => {
  const other = await startBridge({ command });
  const grandchild = Number(said(await call('child', {}, other)));
  const waiting = call('never', {}, other);
  await called('never', 1, other);
  const [died, waited] = await Promise.all([call('die', { code: 7 }, other), waiting]);
  expect([died.status, waited.status]).toEqual([502, 502]);
  expect(await other.ended).toBe(1);
  expect(other.log()).toMatch(/"event":"bridge.server_ended","code":7/);
  await expect.poll(() => isRunning(grandchild)).toBe(false);
}, 30_000);

test('the bridge ends with its server, also where another process holds its output', async () => {
  const other = await startBridge({ command });
  const holder = Number(said(await call('holder', {}, other)));
  try {
    expect((await call('die', { code: 7 }, other)).status).toBe(502);
    expect(await other.ended).toBe(1);
    expect(isRunning(holder)).toBe(true);
  } finally {
    process.kill(holder, 'SIGKILL');
  }
}, 30_000);

test('a cancelled request keeps its place until it is answered, or for a while', async () => {
  await using other = await startBridge({ command, env: { GW_BRIDGE_CALLS: '1' } });
  const status = async (): Promise<number> => (await call('echo', { said: 'x' }, other)).status;
  for (const [tool, args] of [
    ['slow', { ms: 1500, said: 'late' }],
    ['never', {}],
  ] as const) {
    const leaving = new AbortController();
    const left = call(tool, args, { ...other, signal: leaving.signal }).catch(() => undefined);
    await called(tool, 1, other);
    leaving.abort();
    await left;
    expect(await status()).toBe(503);
    await expect.poll(status, { timeout: 20_000, interval: 200 }).toBe(200);
  }
}, 60_000);

test('requests in progress are answered before it ends', async () => {
  const other = await startBridge({ command });
  const waiting = call('slow', { ms: 500, said: 'in time' }, other);
  await called('slow', 1, other);
  other.process.kill('SIGTERM');
  expect(said(await waiting)).toBe('in time');
  expect(await other.ended).toBe(0);
}, 30_000);

test.each([
  [['/nowhere/at-all'], {}, /bridge.server_ended/],
  [[process.execPath, '-e', 'process.exit(4)'], {}, /"code":4/],
  [[process.execPath, '-e', 'setInterval(() => {}, 1000)'], { GW_BRIDGE_START_SECONDS: '1' }, /bridge.not_opened/],
  [[], {}, /the command line must name the server/],
  [[process.execPath], { GW_BRIDGE_TOKEN: 'short' }, /GW_BRIDGE_TOKEN must be 16 to 512 printable/],
  [[process.execPath], { GW_BRIDGE_TOKEN: '' }, /GW_BRIDGE_TOKEN is missing/],
])(
  'a server that does not start ends it: %j',
  async (wrong, env, told) => {
    await expect(startBridge({ command: wrong, env })).rejects.toThrow(told);
  },
  30_000,
);
