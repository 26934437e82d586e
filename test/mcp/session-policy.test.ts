import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { ANY_ARGUMENTS, startMcpServer, type McpStandIn } from '../harness/mcp-server.ts';
import { open, type OpenAnswer, type Told } from './sse-client.ts';
import { ask, post, startMcpWorld, type McpWorld, type McpWorldOptions } from './world.ts';

/** What policy has to say of sessions, their streams, and answers outside of calls. */

const CAPABILITIES = { elicitation: {}, roots: {} };
const PATH = '/v1/mcp/kept';
const OPEN = { allowedTools: ['kept/cou*'] };
let server: McpStandIn;
let world: McpWorld;
const streams: OpenAnswer[] = [];

const optionsWith = (policy: object): McpWorldOptions => ({
  servers: {
    kept: {
      url: server.url,
      sessions: 'PerClient',
      clientCapabilities: ['Elicitation', 'Roots'],
      offer: ['Tools', 'Prompts'],
    },
  },
  policy,
});

beforeAll(async () => {
  server = await startMcpServer({
    tools: [{ name: 'count', inputSchema: ANY_ARGUMENTS }],
    about: { capabilities: { prompts: {} } },
  });
  world = await startMcpWorld(optionsWith(OPEN));
}, 60_000);

afterAll(async () => {
  await world?.[Symbol.asyncDispose]();
  await server?.[Symbol.asyncDispose]();
});

afterEach(() => {
  for (const stream of streams.splice(0)) stream.leave();
});

async function initialize(): Promise<Record<string, string>> {
  const params = { protocolVersion: '2025-11-25', capabilities: CAPABILITIES, clientInfo: { name: 'a', version: '1' } };
  const { headers } = await ask(world, 'legacy', PATH, 'initialize', params);
  return { 'mcp-session-id': headers.get('mcp-session-id') ?? '' };
}

/** The status of a new stream. */
async function listen(session: Record<string, string>): Promise<number> {
  const stream = await open(world, PATH, undefined, session, 'GET');
  streams.push(stream);
  return stream.status;
}

/** A new session that policy allows, with its stream. `say`: what the server says there. */
async function listening() {
  await expect.poll(() => server.streams.size).toBe(0);
  world.configure(optionsWith(OPEN));
  let session: Record<string, string> = {};
  await expect.poll(async () => listen((session = await initialize())), { timeout: 10_000 }).toBe(200);
  await expect.poll(() => server.streams.size).toBe(1);
  const own = [...server.streams].at(-1)?.[1];
  const say = (message: object): void => void own?.write(`data: ${JSON.stringify({ jsonrpc: '2.0', ...message })}\n\n`);
  return { session, stream: streams.at(-1)!, say };
}

test.each([
  ['another jurisdiction', { residency: { allowedJurisdictions: ['EU'] } }],
  ['a list of other servers', { allowedTools: ['crm/*'] }],
])(
  '%s keeps clients from sessions with a server, from those that are open too',
  async (_what, policy) => {
    world.configure(optionsWith(OPEN));
    await expect.poll(async () => listen(await initialize())).toBe(200);
    const before = await initialize();
    world.configure(optionsWith(policy));
    await expect.poll(() => listen(before), { timeout: 20_000 }).toBe(405);
    const opened = server.sessions.size;
    expect(await listen(await initialize())).toBe(405);
    // No session that this client alone has.
    expect(server.sessions.size).toBe(opened);
  },
  60_000,
);

test('changes of a list are one while the list is fetched', async () => {
  const { stream, say } = await listening();
  const held: (() => void)[] = [];
  server.behaviour.other = () => new Promise((resolve) => held.push(() => resolve({ prompts: [] })));
  for (let count = 0; count < 300; count += 1) say({ method: 'notifications/prompts/list_changed' });
  say({ id: 1, method: 'roots/list' });
  // All of them were read, and none is passed on before the list is there.
  expect((await stream.next())?.method).toBe('roots/list');
  await expect.poll(() => held.length).toBe(1);
  server.behaviour.other = () => ({ prompts: [] });
  held[0]?.();
  const changed = 'notifications/prompts/list_changed';
  expect([(await stream.next())?.method, (await stream.next())?.method]).toEqual([changed, changed]);
  say({ method: 'notifications/message', params: { level: 'info', data: 'last' } });
  expect((await stream.next())?.method).toBe('notifications/message');
}, 60_000);

test('another policy ends a stream, and is asked for an answer that comes before that', async () => {
  const { session, stream, say } = await listening();
  say({ id: 'last', method: 'roots/list' });
  const question = await stream.next();
  expect(question?.method).toBe('roots/list');
  world.configure(optionsWith({ ...OPEN, residency: { allowedJurisdictions: ['EU'] } }));
  await expect.poll(() => listen(session), { timeout: 20_000 }).toBe(405);
  const result = { roots: [{ uri: 'file:///secret' }] };
  const reply = await post(world, PATH, { jsonrpc: '2.0', id: question?.id, result }, session);
  // The stream may have ended already, and the question with it.
  expect([400, 403]).toContain(reply.status);
  say({ method: 'notifications/message', params: { level: 'info', data: 'more' } });
  expect(await stream.next()).toBeUndefined();
  expect(server.received.filter(({ text }) => text.includes('secret'))).toEqual([]);
}, 60_000);

test('a server may have 32 questions outside of calls at once, also where all come together', async () => {
  const { session, stream, say } = await listening();
  const before = server.received.length;
  const params = { message: 'Who?', requestedSchema: { type: 'object', properties: { name: { type: 'string' } } } };
  const ids = Array.from({ length: 40 }, (_, index) => `q${index}`);
  for (const id of ids) say({ id, method: 'elicitation/create', params });
  const refused = () =>
    server.received.slice(before).flatMap(({ body }) => (body.error === undefined ? [] : [body.id]));
  await expect.poll(refused).toHaveLength(8);
  expect(new Set(refused())).toEqual(new Set(ids.slice(32)));
  const questions: Told[] = [];
  for (let index = 0; index < 32; index += 1) questions.push((await stream.next())!);
  say({ id: 'more', method: 'elicitation/create', params });
  await expect.poll(refused).toHaveLength(9);
  // One that is answered makes room for another, but not for a long one.
  const answer = { jsonrpc: '2.0', id: questions[0]?.id, result: { action: 'decline' } };
  expect((await post(world, PATH, answer, session)).status).toBe(202);
  say({ id: 'long', method: 'elicitation/create', params: { ...params, message: 'x'.repeat(255 * 1024) } });
  await expect.poll(refused).toHaveLength(10);
  say({ id: 'again', method: 'elicitation/create', params: { ...params, message: 'Again?' } });
  expect((await stream.next())?.params?.['message']).toBe('Again?');
}, 60_000);
