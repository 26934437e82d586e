import type { ServerResponse } from 'node:http';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { residentBytes } from '../bench/processes.ts';
import { mutateBytes, mutateJson, type Json } from '../fuzz/mutate.ts';
import { startMcpServer, type McpReceived, type McpStandIn } from '../harness/mcp-server.ts';
import { randomFor, type Random } from '../harness/random.ts';
import { META, startMcpWorld, type McpWorld } from './world.ts';

/** Changed messages of clients and changed answers of servers: typed refusals, nothing personal leaves, no fault. */

/** `make test-mcp` sends 100,000; the default is fewer. */
const MESSAGES = Number(process.env['MCP_MESSAGES'] ?? 3000);
const SEED = Number(process.env['MCP_SEED'] ?? 20_260_728);
const AT_ONCE = 24;
const MAIL = 'ada.lovelace@example.com';
/** The codes of the table of errors, and the answers to notifications. */
const STATUSES = new Set([200, 202, 400, 402, 404, 406, 413, 415, 429, 502, 503, 504]);
const MOST_GROWN = 300 * 1024 * 1024;

const TOOLS = [
  { name: 'echo', inputSchema: { type: 'object' } },
  {
    name: 'where',
    inputSchema: { type: 'object', properties: { region: { type: 'string', 'x-mcp-header': 'Region' } } },
  },
];

let legacy: McpStandIn;
let modern: McpStandIn;
let world: McpWorld;
/** Calls that reached a server, by the number of the message that made them. */
const reached = new Set<number>();
const faults = new Set<string>();
let answerRandom: Random | undefined;

/** An answer as it should be, or, in the second test, often a changed one. */
function call({ body, text }: McpReceived, response: ServerResponse): object | undefined {
  if (text.includes(MAIL)) faults.add(`a server got the address: ${text.slice(0, 300)}`);
  const { name, arguments: args } = body.params as { name?: unknown; arguments?: { number?: unknown } };
  if (!TOOLS.some((tool) => tool.name === name)) faults.add(`a server was asked for ${JSON.stringify(name)}`);
  if (typeof args?.number === 'number') reached.add(args.number);
  const result = { content: [{ type: 'text', text: JSON.stringify(args ?? null) }] };
  const random = answerRandom;
  if (!random?.chance(0.4)) return result;
  const whole = { jsonrpc: '2.0', id: body.id as string, result: { resultType: 'complete', ...result } };
  const json = JSON.stringify(mutateJson(whole, random));
  const isStream = random.chance(0.4);
  const framed = isStream ? `event: message\ndata: ${json}\n\n` : json;
  const bytes = random.chance(0.3) ? mutateBytes(Buffer.from(framed), random) : Buffer.from(framed);
  response.writeHead(random.chance(0.9) ? 200 : random.pick([201, 204, 302, 400, 401, 404, 500, 599]), {
    'content-type': isStream ? 'text/event-stream' : random.pick(['application/json', 'application/json', 'text/html']),
  });
  response.end(bytes);
  return undefined;
}

beforeAll(async () => {
  legacy = await startMcpServer({ tools: TOOLS, call });
  modern = await startMcpServer({ era: 'modern', tools: TOOLS, call });
  world = await startMcpWorld({
    servers: { old: { url: legacy.url, timeoutSeconds: 2 }, new: { url: modern.url, timeoutSeconds: 2 } },
  });
}, 60_000);

afterAll(async () => {
  await world?.[Symbol.asyncDispose]();
  await legacy?.[Symbol.asyncDispose]();
  await modern?.[Symbol.asyncDispose]();
});

interface Message {
  readonly path: string;
  readonly body: Buffer;
  readonly headers: Record<string, string>;
}

const METHODS = [
  'tools/call',
  'tools/call',
  'tools/call',
  'tools/list',
  'initialize',
  'ping',
  'server/discover',
  'notifications/cancelled',
  'notifications/initialized',
  'completion/complete',
  'resources/read',
  'prompts/get',
  'subscriptions/listen',
  'logging/setLevel',
] as const;

/** A message that is as it should be. `number`: finds it again at the server. */
function plain(
  random: Random,
  number: number,
): { readonly path: string; readonly message: Json; readonly isModern: boolean } {
  const isModern = random.chance(0.5);
  const path = random.pick(['/v1/mcp', '/v1/mcp/old', '/v1/mcp/new', '/v1/mcp/none']);
  const method = random.pick(METHODS);
  const prefix = path === '/v1/mcp' ? random.pick(['old__', 'new__']) : '';
  const tool = {
    name: `${prefix}${random.pick(['echo', 'where'])}`,
    arguments: { number, mail: MAIL, deep: [{ to: `for ${MAIL}` }], region: 'Köln' },
  };
  const params = {
    ...(method === 'tools/call' && tool),
    ...(method === 'initialize' && {
      protocolVersion: '2025-11-25',
      capabilities: {},
      clientInfo: { name: 'f', version: '1' },
    }),
    ...(method === 'notifications/cancelled' && { requestId: number }),
    ...(isModern && { _meta: META }),
  };
  const id = method.startsWith('notifications/') ? {} : { id: number };
  return { path, message: { jsonrpc: '2.0', ...id, method, params }, isModern };
}

/** `changes`: how often it is changed. */
function next(random: Random, number: number, changes: number): Message {
  const { path, message, isModern } = plain(random, number);
  const { method, params } = message as unknown as { method: string; params: { name?: string } };
  const headers: Record<string, string> = {
    'content-type': random.chance(0.99) ? 'application/json' : 'text/plain',
    accept: random.chance(0.99)
      ? 'application/json, text/event-stream'
      : random.pick(['*/*', 'text/html', 'application/json']),
    ...(isModern && {
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': method,
      ...(params.name !== undefined && { 'mcp-name': params.name }),
      'mcp-param-region': `=?base64?${Buffer.from('Köln').toString('base64')}?=`,
    }),
  };
  if (!random.chance(changes)) return { path, headers, body: Buffer.from(JSON.stringify(message)) };
  if (random.chance(0.2)) {
    const name = random.pick(['mcp-protocol-version', 'mcp-method', 'mcp-name', 'mcp-param-region', 'mcp-session-id']);
    headers[name] = random.pick(['', 'x', '=?base64?!?=', '2030-01-01', '2025-06-18', 'tools/list', 'a'.repeat(4000)]);
  }
  const changed = random.chance(0.8) ? mutateJson(message, random) : message;
  const text = random.chance(0.05) ? JSON.stringify([changed]) : JSON.stringify(changed);
  const bytes = Buffer.from(text);
  return { path, headers, body: random.chance(0.25) ? mutateBytes(bytes, random) : bytes };
}

/** Sends one and holds its answer against the promises of any. */
async function send(number: number, { path, headers, body }: Message, seen: Map<number, number>): Promise<void> {
  const told = `message ${number} (${body.toString('base64').slice(0, 2000)})`;
  const stop = AbortSignal.timeout(20_000);
  const listens = body.includes('subscriptions/listen');
  const response = await fetch(`${world.gateway.url}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${world.key}`, ...headers },
    body: new Uint8Array(body),
    signal: stop,
  });
  const { status } = response;
  seen.set(status, (seen.get(status) ?? 0) + 1);
  if (!STATUSES.has(status)) faults.add(`${status} for ${told}`);
  if (!/^[0-9a-f-]{36}$/.test(response.headers.get('x-request-id') ?? '')) faults.add(`no id for ${told}`);
  if (listens && response.headers.get('content-type')?.startsWith('text/event-stream'))
    return void response.body?.cancel();
  const text = await response.text();
  if (status === 202) return;
  const data = text.startsWith('{')
    ? text
    : (text
        .match(/^data: (.*)$/gm)
        ?.at(-1)
        ?.slice(6) ?? '');
  let answer: { jsonrpc?: unknown; result?: unknown; error?: { code?: unknown; data?: { code?: unknown } } } = {};
  try {
    answer = JSON.parse(data) as typeof answer;
  } catch {
    faults.add(`no JSON-RPC for ${told}: ${text.slice(0, 200)}`);
  }
  if (answer.jsonrpc !== '2.0' || (answer.result === undefined) === (answer.error === undefined))
    faults.add(`no valid answer to ${told}: ${text.slice(0, 200)}`);
  if (answer.error?.data?.code === 'internal_error') faults.add(`internal_error for ${told}`);
  if (status >= 400 && status < 500 && reached.has(number)) faults.add(`refused and sent: ${told}`);
}

/** Sends them all. Returns how often each status came. */
async function fuzz(purpose: string, changes: number, count: number): Promise<Map<number, number>> {
  const seen = new Map<number, number>();
  let number = 0;
  const client = async (): Promise<void> => {
    while (number < count) {
      const own = ++number;
      await send(own, next(randomFor(SEED, `${purpose} ${own}`), own, changes), seen);
    }
  };
  reached.clear();
  await Promise.all(Array.from({ length: AT_ONCE }, client));
  return seen;
}

test.each([
  ['messages of clients', 0.85, false],
  ['answers of servers', 0, true],
])(
  'changed %s',
  async (purpose, changes, lies) => {
    const before = residentBytes(world.gateway.pid);
    answerRandom = lies ? randomFor(SEED, 'lies') : undefined;
    const seen = await fuzz(purpose, changes, lies ? MESSAGES / 5 : MESSAGES);
    answerRandom = undefined;
    const told = JSON.stringify([...seen]);
    expect([...faults].slice(0, 10), `MCP_SEED=${SEED}, ${faults.size} faults, statuses ${told}`).toEqual([]);
    // It was not all of one kind, and calls came through.
    for (const status of lies ? [200, 502] : [200, 202, 400, 404])
      expect(seen.keys().toArray(), told).toContain(status);
    expect(reached.size).toBeGreaterThan(MESSAGES / 500);
    expect(residentBytes(world.gateway.pid) - before).toBeLessThan(MOST_GROWN);
    expect(world.gateway.log.join('\n')).not.toContain(MAIL);
  },
  1_800_000,
);
