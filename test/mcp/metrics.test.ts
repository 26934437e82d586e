import type { ServerResponse } from 'node:http';
import { expect, test } from 'vitest';
import { startMcpServer } from '../harness/mcp-server.ts';
import { ask, startMcpWorld, type McpWorld } from './world.ts';

/** What a scrape says of calls of tools, lists and streams. */

async function scrape({ gateway }: McpWorld): Promise<readonly string[]> {
  const text = await (await fetch(`${gateway.adminUrl}/metrics`)).text();
  return text.split('\n').filter((line) => line.startsWith('gw_mcp_'));
}

test('how long calls and lists took, and the streams that are open', async () => {
  await using server = await startMcpServer();
  await using world = await startMcpWorld({ servers: { crm: { url: server.url } } });
  await ask(world, 'legacy', '/v1/mcp/crm', 'tools/call', { name: 'echo', arguments: {} });
  await ask(world, 'legacy', '/v1/mcp/crm', 'tools/call', { name: 'nothing', arguments: {} });
  const lines = await scrape(world);
  expect(lines).toContain('gw_mcp_call_seconds_count{server="default/crm"} 2');
  expect(lines).toContain('gw_mcp_call_seconds_bucket{server="default/crm",le="+Inf"} 2');
  expect(lines.find((line) => line.startsWith('gw_mcp_list_seconds_count'))).toMatch(/ [1-9]$/);
  expect(lines).toContain('gw_mcp_streams 0');

  const waiting = Promise.withResolvers<ServerResponse>();
  server.behaviour.call = ({ body }, response) => {
    const { progressToken } = (body.params?.['_meta'] ?? {}) as { progressToken?: string };
    const params = { progressToken, progress: 1 };
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(`data: ${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/progress', params })}\n\n`);
    waiting.resolve(response);
  };
  const leave = new AbortController();
  const answer = await fetch(`${world.gateway.url}/v1/mcp/crm`, {
    method: 'POST',
    signal: leave.signal,
    headers: {
      authorization: `Bearer ${world.key}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
    },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: 'echo', arguments: {}, _meta: { progressToken: 1 } },
    }),
  });
  expect(answer.headers.get('content-type')).toContain('text/event-stream');
  await waiting.promise;
  expect(await scrape(world)).toContain('gw_mcp_streams 1');
  leave.abort();
  for (let tries = 0; !(await scrape(world)).includes('gw_mcp_streams 0'); tries++) {
    expect(tries).toBeLessThan(200);
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
  (await waiting.promise).destroy();
}, 60_000);

test('a server that is not configured any longer is not counted', async () => {
  await using server = await startMcpServer();
  await using world = await startMcpWorld({ servers: { crm: { url: server.url }, old: { url: server.url } } });
  for (const name of ['crm', 'old']) await ask(world, 'legacy', `/v1/mcp/${name}`, 'tools/list');
  const up = async () => (await scrape(world)).filter((line) => line.startsWith('gw_mcp_server_up{'));
  expect(await up()).toEqual(['gw_mcp_server_up{server="default/crm"} 1', 'gw_mcp_server_up{server="default/old"} 1']);
  world.configure({ servers: { crm: { url: server.url } } });
  await expect.poll(up, { timeout: 10_000 }).toEqual(['gw_mcp_server_up{server="default/crm"} 1']);
}, 60_000);
