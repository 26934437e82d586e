import { afterAll, beforeAll, expect, test } from 'vitest';
import OpenAI from 'openai';
import { chat } from '../harness/answers.ts';
import { freePort } from '../harness/free-port.ts';
import { rowOf } from '../harness/ledger-rows.ts';
import { startUpstream, type Upstream } from '../harness/upstream.ts';
import { EVERYTHING, node, Peers, speak } from './peers.ts';
import { ask, startMcpWorld, textOf, type McpWorld } from './world.ts';

/** Servers and clients of others (`tools/mcp`), with the gateway between them. */

const peers = new Peers();
let world: McpWorld;
let model: Upstream;

beforeAll(async () => {
  const port = await freePort();
  const [, dual] = await Promise.all([
    peers.start(node(EVERYTHING), ['streamableHttp'], /listening|running|started/i, { PORT: String(port) }),
    peers.start(node('dual-server.js'), [], /http:\S+/),
  ]);
  model = await startUpstream();
  world = await startMcpWorld({
    upstreamUrl: model.url,
    servers: { everything: { url: `http://127.0.0.1:${port}/mcp` }, dual: { url: dual } },
  });
}, 90_000);

afterAll(async () => {
  await world?.[Symbol.asyncDispose]();
  await model?.close();
  peers[Symbol.dispose]();
});

interface ClientReport {
  readonly names: readonly string[];
  readonly result: { readonly content: readonly { readonly type: string; readonly text?: string }[] };
  readonly progress: readonly object[];
  readonly version?: string | null;
}

function report(script: string, path: string, tool: string, args: object, mode?: string): Promise<ClientReport> {
  const given = [`${world.gateway.url}${path}`, world.key, tool, JSON.stringify(args)];
  return speak(node(script), mode === undefined ? given : [...given, mode]);
}

const CLIENTS = [
  { script: 'sdk-v1-client.js', mode: undefined, version: undefined },
  { script: 'sdk-v2-client.js', mode: undefined, version: '2025-11-25' },
  { script: 'sdk-v2-client.js', mode: 'auto', version: '2026-07-28' },
];
const MATRIX = CLIENTS.flatMap((client) =>
  [
    { server: 'everything', args: { message: 'to ada@example.com' }, says: 'Echo: to ada@example.com' },
    { server: 'dual', args: { text: 'to ada@example.com', region: 'Köln' }, says: 'to ada@example.com Köln' },
  ].map((call) => ({ ...client, ...call })),
);

test.each(MATRIX)(
  '$script ($mode) calls $server on both endpoints',
  async ({ script, mode, version, server, args, says }) => {
    for (const [path, name] of [
      [`/v1/mcp/${server}`, 'echo'],
      ['/v1/mcp', `${server}__echo`],
    ] as const) {
      const { names, result, version: spoken } = await report(script, path, name, args, mode);
      expect(names).toContain(name);
      expect(result.content).toEqual([{ type: 'text', text: says }]);
      if (version !== undefined) expect(spoken).toBe(version);
    }
  },
  60_000,
);

test.each(CLIENTS)(
  '$script ($mode) hears of progress',
  async ({ script, mode }) => {
    const args = { duration: 1, steps: 3 };
    const { result, progress } = await report(
      script,
      '/v1/mcp/everything',
      'trigger-long-running-operation',
      args,
      mode,
    );
    expect(result.content[0]?.text).toMatch(/completed/i);
    expect(progress.at(-1)).toMatchObject({ progress: 3, total: 3 });
  },
  60_000,
);

test('the server of the new era is asked in it, with its arguments in headers', async () => {
  const params = { name: 'echo', arguments: { text: 'x', region: 'Köln' } };
  const answer = await ask(world, 'legacy', '/v1/mcp/dual', 'tools/call', params);
  expect(textOf(answer)).toBe('x Köln');
  const row = await rowOf(world.databaseUrl, answer.headers.get('x-request-id'));
  expect(row.tool?.eras).toEqual(['2025-03-26', '2026-07-28']);
});

test('pictures and the like pass, and are reported as not inspected', async () => {
  const answer = await ask(world, 'modern', '/v1/mcp/everything', 'tools/call', {
    name: 'get-tiny-image',
    arguments: {},
  });
  expect(answer.body.result?.content?.some((part) => 'data' in part)).toBe(true);
  expect(answer.headers.get('x-gw-unscanned')).toContain('image');
});

test('the gateway runs tools of both servers for a model', async () => {
  const client = new OpenAI({ apiKey: world.key, baseURL: `${world.gateway.url}/v1`, maxRetries: 0 });
  const call = (name: string, args: object): Parameters<typeof chat>[0] => ({
    content: '',
    toolCalls: [{ id: `call_${name}`, name, arguments: JSON.stringify(args) }],
  });
  model.respond([
    chat(call('everything__get-sum', { a: 2, b: 3 })),
    chat(call('dual__echo', { text: 'x', region: 'Köln' })),
    chat({ content: 'Five, and x.' }),
  ]);
  const answer = await client.responses.create({
    model: 'upstream/m',
    input: 'What are 2 and 3?',
    tools: [
      { type: 'mcp', server_label: 'everything', allowed_tools: ['get-sum'], require_approval: 'never' },
      { type: 'mcp', server_label: 'dual', require_approval: 'never' },
    ],
  });
  const outputs = answer.output.flatMap((item) => (item.type === 'mcp_call' ? [item.output] : []));
  expect(outputs).toEqual([expect.stringContaining('5'), 'x Köln']);
  expect(answer.output_text).toBe('Five, and x.');
});
