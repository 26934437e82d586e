import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { chat } from '../harness/answers.ts';
import { runGwctl } from '../harness/gwctl.ts';
import { rowOf, rowsOfRequest } from '../harness/ledger-rows.ts';
import { startMcpServer, type McpStandIn } from '../harness/mcp-server.ts';
import { startUpstream, type Upstream } from '../harness/upstream.ts';
import { ask, startMcpWorld, textOf, type McpWorld } from './world.ts';

/** `gwctl explain`, the audit row and the refusal give one reason, whatever endpoint a call comes by. */

const NAMES = ['find', 'send', 'hidden', 'unlisted'];
let server: McpStandIn;
let upstream: Upstream;
let world: McpWorld;
let folder: string;

beforeAll(async () => {
  server = await startMcpServer({ tools: NAMES.map((name) => ({ name, inputSchema: { type: 'object' } })) });
  upstream = await startUpstream();
  world = await startMcpWorld({
    upstreamUrl: upstream.url,
    servers: {
      crm: {
        url: server.url,
        tools: { exclude: ['hidden'] },
        rules: [{ tools: ['send'], arguments: { properties: { limit: { type: 'integer', maximum: 50 } } } }],
      },
      far: { url: server.url, jurisdiction: 'CN' },
    },
    policy: {
      residency: { allowedJurisdictions: ['US', 'EU'] },
      allowedTools: ['*/find', '*/send', '*/hidden'],
    },
    prices: [{ model: 'mcp/*', unit: 'Call', input: '0.5' }],
  });
  folder = mkdtempSync(join(tmpdir(), 'gatewarden-arguments-'));
}, 60_000);

afterAll(async () => {
  await world?.[Symbol.asyncDispose]();
  await upstream?.close();
  await server?.[Symbol.asyncDispose]();
  if (folder) rmSync(folder, { recursive: true, force: true });
});

interface Explained {
  readonly status: number;
  /** Lines about the tool. */
  readonly route: readonly string[];
  readonly code: string;
  readonly message: string;
}

async function explain(tool: string, args: object): Promise<Explained> {
  const file = join(folder, 'arguments.json');
  writeFileSync(file, JSON.stringify(args));
  const asked = ['--workload', 'app', '--tool', tool, '--arguments', file];
  const { status, out } = await runGwctl(['explain', '--config', world.gateway.configDir, ...asked]);
  const lines = out.split('\n');
  const [, code = '', message = ''] = /^refused: \d+ (\w+): (.*)$/m.exec(out) ?? [];
  const route = lines.filter((line) => /^ {2}mcp\/\S+: (refused|selected)/.test(line)).map((line) => line.trim());
  return { status, route, code, message };
}

const CASES = [
  { server: 'crm', name: 'find', args: { limit: 99 }, code: '' },
  { server: 'crm', name: 'send', args: { limit: 50 }, code: '' },
  { server: 'crm', name: 'send', args: { limit: 51 }, code: 'tool_arguments_denied' },
  { server: 'crm', name: 'hidden', args: {}, code: 'tool_not_found' },
  { server: 'crm', name: 'unlisted', args: {}, code: 'permission_denied' },
  { server: 'far', name: 'find', args: {}, code: 'residency_denied' },
];
/** Told to the client as if the tool did not exist. */
const UNTOLD = new Set(['tool_not_found', 'permission_denied']);

test.each(CASES)('$server/$name with $args: $code', async ({ server: name, name: tool, args, code }) => {
  const explained = await explain(`${name}/${tool}`, args);
  expect([explained.status, explained.code]).toEqual([code === '' ? 0 : 1, code]);
  expect(explained.route).toHaveLength(1);
  for (const [path, prefix] of [
    [`/v1/mcp/${name}`, ''],
    ['/v1/mcp', `${name}__`],
  ] as const)
    for (const era of ['legacy', 'modern'] as const) {
      const before = server.of('tools/call').length;
      const listed = (await ask(world, era, path, 'tools/list')).body.result?.tools?.map((one) => one.name);
      expect(listed?.includes(`${prefix}${tool}`)).toBe(['', 'tool_arguments_denied'].includes(code));
      const params = { name: `${prefix}${tool}`, arguments: args };
      const answer = await ask(world, era, path, 'tools/call', params);
      const row = await rowOf(world.databaseUrl, answer.headers.get('x-request-id'));
      expect([row.code ?? '', row.route]).toEqual([code, explained.route]);
      expect(server.of('tools/call')).toHaveLength(code === '' ? before + 1 : before);
      if (code === '') continue;
      if (UNTOLD.has(code)) expect(answer.body.error?.message).toBe('There is no tool with this name.');
      else expect(textOf(answer)).toBe(`Refused by Gatewarden (${code}): ${explained.message}`);
    }
});

test('a tool that the gateway runs for a model is refused for the same reason, and the model reads it', async () => {
  const explained = await explain('crm/send', { limit: 51 });
  for (const path of ['/v1/chat/completions', '/v1/responses']) {
    const before = [server.of('tools/call').length, upstream.requests.length] as const;
    const toolCalls = [{ id: 'call_1', name: 'crm__send', arguments: '{"limit":51}' }];
    upstream.respond([chat({ content: '', toolCalls }), chat({ content: 'It was refused.' })]);
    const tools = [{ type: 'mcp', server_label: 'crm', require_approval: 'never' }];
    const asked = path.endsWith('responses') ? { input: 'Send.' } : { messages: [{ role: 'user', content: 'Send.' }] };
    const response = await fetch(`${world.gateway.url}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${world.key}` },
      body: JSON.stringify({ model: 'upstream/m', tools, ...asked }),
    });
    expect(response.status, await response.text()).toBe(200);
    const rows = await rowsOfRequest(world.databaseUrl, response.headers.get('x-request-id')!, 3);
    expect(rows.filter(({ surface }) => surface === 'mcp')).toMatchObject([
      { code: 'tool_arguments_denied', route: explained.route },
    ]);
    const [, offered] = upstream.requests.slice(before[1]).map(({ body }) => body);
    expect(offered).toContain(explained.message);
    expect(server.of('tools/call')).toHaveLength(before[0]);
  }
});
