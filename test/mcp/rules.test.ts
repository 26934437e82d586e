import { afterAll, beforeAll, expect, test } from 'vitest';
import { rowOf } from '../harness/ledger-rows.ts';
import { startMcpServer, type McpStandIn } from '../harness/mcp-server.ts';
import { ask, post, startMcpWorld, textOf, type McpWorld } from './world.ts';

/** Rules on arguments: asked about originals, on both doors and in both eras, before anything leaves or is billed. */

let server: McpStandIn;
let world: McpWorld;

beforeAll(async () => {
  server = await startMcpServer({
    tools: ['find', 'send', 'free'].map((name) => ({ name, inputSchema: { type: 'object' } })),
  });
  const mail = { type: 'string', pattern: '^[^@]+@example\\.com$' };
  world = await startMcpWorld({
    servers: {
      crm: {
        url: server.url,
        rules: [
          { tools: ['find', 'send'], arguments: { properties: { limit: { type: 'integer', maximum: 50 } } } },
          { tools: ['send'], arguments: { properties: { to: mail }, required: ['to'], additionalProperties: false } },
        ],
      },
    },
    policy: { dlp: { mode: 'Tokenize' } },
    prices: [{ model: 'mcp/*', unit: 'Call', input: '0.5' }],
  });
}, 60_000);

afterAll(async () => {
  await world?.[Symbol.asyncDispose]();
  await server?.[Symbol.asyncDispose]();
});

const DOORS = [
  ['/v1/mcp', 'crm__'],
  ['/v1/mcp/crm', ''],
] as const;

test.each(DOORS)('%s: originals are checked, tags are sent', async (path, prefix) => {
  for (const era of ['legacy', 'modern'] as const) {
    const answer = await ask(world, era, path, 'tools/call', {
      name: `${prefix}send`,
      arguments: { to: 'ada@example.com' },
    });
    expect([answer.body.result?.isError, textOf(answer)]).toEqual([undefined, '{"to":"ada@example.com"}']);
    expect(server.of('tools/call').at(-1)?.body.params?.['arguments']).toEqual({ to: '«EMAIL_1»' });
  }
});

test.each<[string, unknown, string]>([
  [
    'send',
    { to: 'ada@secret.example' },
    'rules[1] of the MCP server crm: /to must match the pattern ^[^@]+@example\\.com$.',
  ],
  ['send', { to: '«EMAIL_1»' }, 'rules[1] of the MCP server crm: /to must match the pattern ^[^@]+@example\\.com$.'],
  [
    'send',
    { to: 'a@example.com', secret: 1 },
    'rules[1] of the MCP server crm: the arguments must have no members but "to".',
  ],
  ['send', undefined, 'rules[1] of the MCP server crm: the arguments must have the member "to".'],
  ['find', { limit: 51, secret: 1 }, 'rules[0] of the MCP server crm: /limit must be at most 50.'],
  ['find', { limit: '9secret' }, 'rules[0] of the MCP server crm: /limit must be of the type integer.'],
])('%s with %j is refused', async (name, args, told) => {
  const before = server.of('tools/call').length;
  for (const [path, prefix] of DOORS) {
    for (const era of ['legacy', 'modern'] as const) {
      const answer = await ask(world, era, path, 'tools/call', { name: `${prefix}${name}`, arguments: args });
      expect([answer.status, answer.body.result?.isError]).toEqual([200, true]);
      expect(textOf(answer)).toBe(`Refused by Gatewarden (tool_arguments_denied): ${told}`);
      expect(answer.text).not.toContain('secret');
      const id = answer.headers.get('x-request-id')!;
      expect(answer.body.result?.['_meta']).toEqual({
        'gatewarden.dev/error': { code: 'tool_arguments_denied', request_id: id },
      });
      const row = await rowOf(world.databaseUrl, id);
      expect(row).toMatchObject({ outcome: 'refused', code: 'tool_arguments_denied', step: 'route' });
      const why = told.replace('the MCP server crm', 'MCPServer default/crm').slice(0, -1);
      expect(row['route']).toEqual([`mcp/crm/${name}: refused: ${why}`]);
      expect(JSON.stringify(row)).not.toContain('secret');
    }
  }
  expect(server.of('tools/call')).toHaveLength(before);
});

test('a tool without rules takes any arguments', async () => {
  const free = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'free', arguments: { limit: 99 } } };
  expect((await post(world, '/v1/mcp/crm', free)).body.result?.isError).toBeUndefined();
});

test('arguments that take too long to check are refused', async () => {
  const answer = await ask(world, 'legacy', '/v1/mcp/crm', 'tools/call', {
    name: 'send',
    arguments: { to: `${'a'.repeat(300_000)}@example.com` },
  });
  expect(textOf(answer)).toMatch(
    /\(tool_arguments_denied\): rules\[1\] .* take more than 200000 steps to check: send less\.$/,
  );
});
