import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, request as send, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { node } from './peers.ts';
import { ask, startMcpWorld, type McpWorld, type Sent } from './world.ts';

/**
 * The conformance suite looks at the gateway as a client: its servers are behind the gateway, and a client of the test
 * drives that. Some answer no `server/discover`, which a relay answers for them.
 */

const SUITE = node('node_modules/@modelcontextprotocol/conformance/dist/index.js');
const CLIENT = node('conformance-client.js');
const DISCOVERED = {
  resultType: 'complete',
  supportedVersions: ['2026-07-28'],
  capabilities: { tools: {} },
  ttlMs: 0,
  cacheScope: 'private',
};

interface Orders {
  readonly url: string;
  readonly context: { readonly toolCalls?: readonly { name: string; arguments: Record<string, unknown> }[] };
}

interface Scenario {
  readonly scenario: string;
  readonly revision: '2026-07-28' | '2025-11-25';
  /** The suite's server answers no `server/discover`. */
  readonly isMute?: true;
  /** What the client does; `path`: of the server at the gateway. */
  readonly drive: (path: string, orders: Orders) => Promise<void>;
}

let world: McpWorld;
let relay: Server;
let control: Server;
let folder: string;
/** Where the suite's server is, by the name of the MCPServer. */
const targets = new Map<string, string>();
/** The header that repeats an argument, by the argument, of the server that is driven. */
let repeated: Record<string, string> = {};
let driving: { readonly path: string; readonly one: Scenario } | undefined;

async function request(path: string, method: string, params: Record<string, unknown> = {}): Promise<Sent> {
  const sent = await ask(world, 'modern', path, method, params, headersOf(params));
  if (sent.status !== 200) throw new Error(`${method} ${JSON.stringify(params)}: ${sent.status} ${sent.text}`);
  return sent;
}

/** Arguments that the suite's tools want repeated. */
function headersOf({ arguments: args }: Record<string, unknown>): Record<string, string> {
  const found: Record<string, string> = {};
  for (const [name, value] of Object.entries((args ?? {}) as Record<string, unknown>)) {
    const header = repeated[name];
    if (header === undefined || value === null || value === undefined) continue;
    const text = typeof value === 'string' ? value : JSON.stringify(value);
    const plain = /^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/.test(text) && !text.startsWith('=?');
    found[header] = plain ? text : `=?base64?${Buffer.from(text).toString('base64')}?=`;
  }
  return found;
}
async function list(path: string): Promise<readonly { name: string; inputSchema?: { properties?: object } }[]> {
  const { body } = await request(path, 'tools/list');
  const tools = (body.result?.tools ?? []) as readonly { name: string; inputSchema?: { properties?: object } }[];
  repeated = {};
  for (const { inputSchema } of tools)
    for (const [name, schema] of Object.entries(inputSchema?.properties ?? {})) {
      const header = (schema as { 'x-mcp-header'?: string })['x-mcp-header'];
      if (header !== undefined) repeated[name] = `mcp-param-${header.toLowerCase()}`;
    }
  return tools;
}

async function callAll(path: string, { context }: Orders): Promise<void> {
  const tools = await list(path);
  const calls = context.toolCalls ?? tools.map(({ name }) => ({ name, arguments: { a: 5, b: 3 } }));
  for (const { name, arguments: args } of calls) await request(path, 'tools/call', { name, arguments: args });
}

const SCENARIOS: readonly Scenario[] = [
  { scenario: 'tools_call', revision: '2025-11-25', drive: callAll },
  { scenario: 'tools_call', revision: '2026-07-28', drive: callAll },
  { scenario: 'request-metadata', revision: '2026-07-28', drive: callAll },
  { scenario: 'http-standard-headers', revision: '2026-07-28', isMute: true, drive: callAll },
  { scenario: 'http-custom-headers', revision: '2026-07-28', isMute: true, drive: callAll },
  { scenario: 'http-invalid-tool-headers', revision: '2026-07-28', isMute: true, drive: callAll },
  { scenario: 'json-schema-ref-no-deref', revision: '2026-07-28', drive: callAll },
];

async function textOf(incoming: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of incoming) parts.push(part as Buffer);
  return Buffer.concat(parts).toString();
}

async function pass(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
  const text = await textOf(incoming);
  const name = (incoming.url ?? '').slice(1);
  const { id, method } = JSON.parse(text || '{}') as { id?: unknown; method?: string };
  if (method === 'server/discover' && driving?.one.isMute) {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ jsonrpc: '2.0', id, result: DISCOVERED }));
    return;
  }
  const target = new URL(targets.get(name)!);
  const onward = send(
    target,
    { method: incoming.method, headers: { ...incoming.headers, host: target.host } },
    (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    },
  );
  onward.on('error', () => response.destroy());
  onward.end(text);
}

async function obey(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
  const orders = JSON.parse(await textOf(incoming)) as Orders;
  const { path, one } = driving!;
  targets.set(path.split('/').at(-1)!, orders.url);
  await one.drive(path, orders).then(
    () => response.end(),
    (error: unknown) => response.writeHead(500).end(String(error)),
  );
}

beforeAll(async () => {
  relay = createServer((incoming, response) => void pass(incoming, response));
  control = createServer((incoming, response) => void obey(incoming, response));
  for (const one of [relay, control]) await new Promise<void>((resolve) => one.listen(0, '127.0.0.1', resolve));
  const servers = SCENARIOS.map((_, at) => {
    const url = `http://127.0.0.1:${(relay.address() as AddressInfo).port}/s${at}`;
    return [`s${at}`, { url, definitions: { mode: 'Record' } }] as const;
  });
  world = await startMcpWorld({ servers: Object.fromEntries(servers), policy: { dlp: { mode: 'AllowLog' } } });
  folder = mkdtempSync(join(tmpdir(), 'gw-conformance-'));
}, 60_000);

afterAll(async () => {
  for (const one of [relay, control]) {
    one?.closeAllConnections();
    one?.close();
  }
  await world?.[Symbol.asyncDispose]();
  if (folder) rmSync(folder, { recursive: true, force: true });
});

test.each(SCENARIOS.map((one, at) => ({ ...one, path: `/v1/mcp/s${at}`, one })))(
  '$scenario of $revision',
  async ({ scenario, revision, path, one }) => {
    driving = { path, one };
    const [file, script] = SUITE;
    const command = CLIENT.join(' ');
    const args = ['client', '--command', command, '--scenario', scenario, '--spec-version', revision, '--verbose'];
    const url = `http://127.0.0.1:${(control.address() as AddressInfo).port}/`;
    const { status, said } = await new Promise<{ status: number; said: string }>((resolve) => {
      const options = { cwd: folder, timeout: 60_000, env: { ...process.env, CONTROL: url } };
      execFile(file, [script!, ...args], options, (error, stdout, stderr) =>
        resolve({ status: error ? 1 : 0, said: `${stdout}${stderr}` }),
      );
    });
    expect(status, said.slice(-6000)).toBe(0);
    expect(said).toMatch(/"SUCCESS"/);
  },
  90_000,
);
