import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { freePort } from '../harness/free-port.ts';
import { ledgerRows } from '../harness/ledger-rows.ts';
import { EVERYTHING, node, Peers, python, speak, type Program } from './peers.ts';
import { startMcpWorld, type McpWorld } from './world.ts';

/** Clients of others list and call tools of servers of others, with personal data in arguments and results. */

/** `make test-mcp` runs every client with every server on both endpoints; by default a third of that. */
const ALL = process.env['MCP_CLIENTS'] === 'all';
const MAIL = 'ada@example.com';
const NODE_MODULES = 'node_modules/@modelcontextprotocol';

interface Report {
  readonly names: readonly string[];
  readonly result: { readonly content: readonly { readonly type: string; readonly text?: string }[] };
}

interface Client {
  readonly name: string;
  report(url: string, key: string, tool: string, args: object): Promise<Report>;
}

const peers = new Peers();
let folder: string;
let world: McpWorld;

/** A script that receives all of it on its command line. */
function scripted(name: string, program: Program, ...more: readonly string[]): Client {
  return {
    name,
    report: (url, key, tool, args) => speak(program, [url, key, tool, JSON.stringify(args), ...more]),
  };
}

const inspector: Client = {
  name: 'Inspector',
  async report(url, key, tool, args) {
    const program = node('node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js');
    const given = ['--cli', url, '--transport', 'http', '--header', `Authorization: Bearer ${key}`, '--method'];
    const listed = await speak<{ tools: readonly { name: string }[] }>(program, [...given, 'tools/list']);
    const pairs = Object.entries(args).map(
      ([name, value]) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`,
    );
    const call = [...given, 'tools/call', '--tool-name', tool, ...pairs.flatMap((pair) => ['--tool-arg', pair])];
    return { names: listed.tools.map((one) => one.name), result: await speak<Report['result']>(program, call) };
  },
};

const CLIENTS: readonly Client[] = [
  scripted('Python SDK', python('sdk_client.py'), 'legacy'),
  scripted('Python SDK in the new era', python('sdk_client.py'), 'auto'),
  scripted('AI SDK', node('ai-sdk-client.js')),
  scripted('LangChain', node('langchain-client.js')),
  scripted('FastMCP', python('fastmcp_client.py')),
  scripted('LangChain for Python', python('langchain_client.py', 'mcp-langchain')),
  inspector,
];

/** A call, and what its result says to the client. */
const CALLS = [
  { server: 'everything', tool: 'echo', args: () => ({ message: `to ${MAIL}` }), says: `Echo: to ${MAIL}` },
  { server: 'dual', tool: 'echo', args: () => ({ text: `to ${MAIL}`, region: 'Köln' }), says: `to ${MAIL} Köln` },
  {
    server: 'fast',
    tool: 'greet',
    args: () => ({ name: 'Ada', mail: MAIL }),
    says: `Dear Ada, we wrote to ${MAIL}`,
  },
  // What arrived was a tag.
  { server: 'fast', tool: 'backwards', args: () => ({ text: `to ${MAIL}` }), says: '»1_LIAME« ot' },
  { server: 'files', tool: 'read_text_file', args: () => ({ path: join(folder, 'todo.txt') }), says: `Call ${MAIL}` },
  {
    server: 'memory',
    tool: 'create_entities',
    args: () => ({ entities: [{ name: crypto.randomUUID(), entityType: 'person', observations: [`has ${MAIL}`] }] }),
    says: `has ${MAIL}`,
  },
] as const;

/** A server that talks over its standard input, behind the bridge that the guide names. */
async function bridged(script: string, env: Readonly<Record<string, string>> = {}): Promise<string> {
  const port = await freePort();
  const stdio = `${process.execPath} ${node(`${NODE_MODULES}/${script}`)[1]} ${folder}`;
  const options = ['--port', String(port), '--outputTransport', 'streamableHttp', '--stateful', '--stdio', stdio];
  await peers.start(node('node_modules/supergateway/dist/index.js'), options, /Listening on port/, env);
  return `http://127.0.0.1:${port}/mcp`;
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'gatewarden-notes-'));
  writeFileSync(join(folder, 'todo.txt'), `Call ${MAIL}`);
  const [everything, fast] = [await freePort(), await freePort()];
  const [, dual, , files, memory] = await Promise.all([
    peers.start(node(EVERYTHING), ['streamableHttp'], /listening|running|started/i, { PORT: String(everything) }),
    peers.start(node('dual-server.js'), [], /http:\S+/),
    peers.start(python('fastmcp_server.py'), [String(fast)], /Uvicorn running/, { FASTMCP_CHECK_FOR_UPDATES: 'off' }),
    bridged('server-filesystem/dist/index.js'),
    bridged('server-memory/dist/index.js', { MEMORY_FILE_PATH: join(folder, 'memory.jsonl') }),
  ]);
  const servers = {
    everything: { url: `http://127.0.0.1:${everything}/mcp` },
    dual: { url: dual },
    fast: { url: `http://127.0.0.1:${fast}/mcp` },
    files: { url: files },
    memory: { url: memory },
  };
  world = await startMcpWorld({ servers, prices: [{ model: 'mcp/*', unit: 'Call', input: '0.001' }] });
}, 120_000);

afterAll(async () => {
  await world?.[Symbol.asyncDispose]();
  peers[Symbol.dispose]();
  if (folder) rmSync(folder, { recursive: true, force: true });
});

const RUNS = CLIENTS.map((client, row) => ({
  client,
  calls: CALLS.filter((_, column) => ALL || (row + column) % 3 === 0),
}));

describe.each(RUNS)('$client.name', ({ client, calls }) => {
  test.each(calls)(
    'calls $tool of $server',
    async ({ server, tool, args, says }) => {
      const endpoints = [
        [`/v1/mcp/${server}`, tool],
        ['/v1/mcp', `${server}__${tool}`],
      ] as const;
      for (const [path, name] of ALL ? endpoints : [endpoints[(client.name.length + tool.length) % 2]!]) {
        const before = (await ledgerRows(world.databaseUrl)).length;
        const { names, result } = await client.report(`${world.gateway.url}${path}`, world.key, name, args());
        expect(names).toContain(name);
        expect(result.content.map(({ text }) => text).join('\n')).toContain(says);
        const row = (await ledgerRows(world.databaseUrl, before + 1)).at(-1);
        expect(row).toMatchObject({
          model: `mcp/${server}/${tool}`,
          outcome: 'served',
          cost_nano_eur: '1000000',
          dlp: { findings: server === 'files' ? {} : { EMAIL: 1 } },
        });
        // As text, and in `structuredContent`.
        if (server === 'files') expect(row?.tool?.result_findings).toEqual({ EMAIL: 2 });
      }
    },
    150_000,
  );
});

test('what a server keeps is a tag', () => {
  const kept = readFileSync(join(folder, 'memory.jsonl'), 'utf8');
  expect(kept).toContain('has «EMAIL_1»');
  expect(kept).not.toContain(MAIL);
});
