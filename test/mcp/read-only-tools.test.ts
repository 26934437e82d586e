import { afterAll, beforeAll, expect, test } from 'vitest';
import { rowOf } from '../harness/ledger-rows.ts';
import { ANY_ARGUMENTS, startMcpServer, type McpStandIn } from '../harness/mcp-server.ts';
import { ask, startMcpWorld, textOf, type McpWorld } from './world.ts';

/** `tools.only: ReadOnly`: by the accepted definition, on both doors, in the list and at the call. */

const tool = (name: string, annotations?: object) => ({
  name,
  inputSchema: ANY_ARGUMENTS,
  ...(annotations && { annotations }),
});
let server: McpStandIn;
let world: McpWorld;

beforeAll(async () => {
  server = await startMcpServer({
    era: 'modern',
    tools: [
      tool('find', { readOnlyHint: true }),
      tool('erase', { readOnlyHint: false }),
      tool('plain'),
      tool('read_all', { readOnlyHint: true }),
    ],
  });
  const only = 'ReadOnly';
  world = await startMcpWorld({
    servers: {
      crm: { url: server.url, tools: { only } },
      few: { url: server.url, tools: { only, exclude: ['read_*'] } },
    },
  });
}, 60_000);
afterAll(async () => {
  await world?.[Symbol.asyncDispose]();
  await server?.[Symbol.asyncDispose]();
});

const names = async (path: string): Promise<readonly string[]> => {
  const { body } = await ask(world, 'modern', path, 'tools/list');
  return body.result?.tools?.map(({ name }) => name) ?? [];
};

test('only tools whose definition says so are listed and called', async () => {
  expect(await names('/v1/mcp/crm')).toEqual(['find', 'read_all']);
  expect(await names('/v1/mcp/few')).toEqual(['find']);
  expect(await names('/v1/mcp')).toEqual(['crm__find', 'crm__read_all', 'few__find']);
  for (const [path, prefix] of [
    ['/v1/mcp/crm', ''],
    ['/v1/mcp', 'crm__'],
  ] as const) {
    for (const name of ['erase', 'plain']) {
      const call = { name: `${prefix}${name}`, arguments: {} };
      const answer = await ask(world, 'legacy', path, 'tools/call', call);
      expect(answer.body.error?.code).toBe(-32602);
      const row = await rowOf(world.databaseUrl, answer.headers.get('x-request-id'));
      expect(row).toMatchObject({
        code: 'tool_not_found',
        route: [expect.stringContaining('its definition does not say readOnlyHint') as string],
      });
    }
    const found = await ask(world, 'legacy', path, 'tools/call', { name: `${prefix}find`, arguments: { n: 1 } });
    expect(textOf(found)).toBe('{"n":1}');
  }
  expect(server.of('tools/call')).toHaveLength(2);
});

test('a hint that turns is a changed definition, and opens nothing', async () => {
  await names('/v1/mcp/crm');
  server.behaviour.tools = server.behaviour.tools.map(({ name }) => tool(name, { readOnlyHint: true }));
  await expect.poll(() => names('/v1/mcp/crm'), { timeout: 10_000, interval: 200 }).toEqual(['find', 'read_all']);
  const before = server.of('tools/call').length;
  const answer = await ask(world, 'modern', '/v1/mcp/crm', 'tools/call', { name: 'erase', arguments: {} });
  expect(answer.body.result?.isError === true || answer.body.error !== undefined).toBe(true);
  expect(server.of('tools/call')).toHaveLength(before);
}, 30_000);
