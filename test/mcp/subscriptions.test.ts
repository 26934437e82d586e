import { afterAll, beforeAll, expect, test } from 'vitest';
import { ANY_ARGUMENTS, startMcpServer, type McpStandIn } from '../harness/mcp-server.ts';
import { META, startMcpWorld, type McpWorld } from './world.ts';
import { open } from './sse-client.ts';

/** Streams of modern clients that say when the list of tools has changed. */

const HEADERS = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'subscriptions/listen' };
const ID = 'io.modelcontextprotocol/subscriptionId';
let server: McpStandIn;
let world: McpWorld;

beforeAll(async () => {
  server = await startMcpServer({ era: 'modern' });
  world = await startMcpWorld({ servers: { tools: { url: server.url, definitions: { mode: 'Record' } } } });
}, 60_000);

afterAll(async () => {
  await world?.[Symbol.asyncDispose]();
  await server?.[Symbol.asyncDispose]();
});

const listen = (notifications: unknown, path = '/v1/mcp') =>
  open(
    world,
    path,
    { jsonrpc: '2.0', id: 'mine', method: 'subscriptions/listen', params: { notifications, _meta: META } },
    HEADERS,
  );

test('clients that listen learn of a changed list, and all of them of the end of the gateway', async () => {
  const wished = { toolsListChanged: true, promptsListChanged: true, resourceSubscriptions: ['a://b'] };
  const [all, one, none] = [await listen(wished), await listen(wished, '/v1/mcp/tools'), await listen({})];
  for (const [stream, notifications] of [
    [all, { toolsListChanged: true }],
    [one, { toolsListChanged: true }],
    [none, {}],
  ] as const)
    expect(await stream.next()).toEqual({
      jsonrpc: '2.0',
      method: 'notifications/subscriptions/acknowledged',
      params: { _meta: { [ID]: 'mine' }, notifications },
    });
  server.behaviour.tools = [...server.behaviour.tools, { name: 'more', inputSchema: ANY_ARGUMENTS }];
  for (const stream of [all, one])
    expect(await stream.next()).toEqual({
      jsonrpc: '2.0',
      method: 'notifications/tools/list_changed',
      params: { _meta: { [ID]: 'mine' } },
    });
  const refused = await listen(1);
  expect([refused.status, (await refused.next())?.error?.code]).toEqual([400, -32602]);
  const started = performance.now();
  const stopped = world.gateway.stop();
  for (const stream of [all, one, none]) {
    expect(await stream.next()).toEqual({
      jsonrpc: '2.0',
      id: 'mine',
      result: { resultType: 'complete', _meta: { [ID]: 'mine' } },
    });
    expect(await stream.next()).toBeUndefined();
  }
  expect(await stopped).toBe(0);
  // It did not wait for its five minutes.
  expect(performance.now() - started).toBeLessThan(60_000);
}, 90_000);
