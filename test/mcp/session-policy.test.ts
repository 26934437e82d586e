import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { ANY_ARGUMENTS, startMcpServer, type McpStandIn } from '../harness/mcp-server.ts';
import { open, type OpenAnswer } from './sse-client.ts';
import { ask, startMcpWorld, type McpWorld, type McpWorldOptions } from './world.ts';

/** What policy has to say of sessions, their streams, and answers outside of calls. */

const CAPABILITIES = { elicitation: {}, roots: {} };
const PATH = '/v1/mcp/kept';
const OPEN = { allowedTools: ['kept/cou*'] };
let server: McpStandIn;
let world: McpWorld;
const streams: OpenAnswer[] = [];

const optionsWith = (policy: object): McpWorldOptions => ({
  servers: {
    kept: { url: server.url, sessions: 'PerClient', clientCapabilities: ['Elicitation', 'Roots'] },
  },
  policy,
});

beforeAll(async () => {
  server = await startMcpServer({ tools: [{ name: 'count', inputSchema: ANY_ARGUMENTS }] });
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
