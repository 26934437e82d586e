import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { startMcpServer, type McpStandIn } from '../harness/mcp-server.ts';
import { rowOf } from '../harness/ledger-rows.ts';
import { randomFor } from '../harness/random.ts';
import { startRedis } from '../harness/redis.ts';
import { ask, META, post, startMcpWorld, type McpWorld } from './world.ts';

/** Lists of many tools, servers that come and go, limits, and messages of any shape. */

const many = (count: number) =>
  Array.from({ length: count }, (_, at) => ({ name: `tool_${at}`, inputSchema: { type: 'object' } }));
let big: McpStandIn;
let small: McpStandIn;
let world: McpWorld;

beforeAll(async () => {
  big = await startMcpServer({ tools: many(700) });
  small = await startMcpServer();
  world = await startMcpWorld({
    servers: {
      big: { url: big.url, definitions: { mode: 'Record' } },
      small: { url: small.url, definitions: { mode: 'Record' } },
    },
    policy: { allowedTools: ['big/tool_*', 'small/*'] },
  });
  // A server that takes longer than five seconds to list its tools is left out: on a busy machine, the first time.
  const unavailable = async () => (await ask(world, 'modern', '/v1/mcp', 'tools/list')).headers.get('x-gw-unavailable');
  while ((await unavailable()) !== null) await new Promise((resolve) => setTimeout(resolve, 100));
}, 60_000);

afterAll(async () => {
  await world?.[Symbol.asyncDispose]();
  for (const server of [big, small]) await server?.[Symbol.asyncDispose]();
});

test('a long list comes in pages, each tool once, in the order of prefixes and servers', async () => {
  const names: string[] = [];
  let cursor: unknown;
  let pages = 0;
  do {
    const { body } = await ask(world, 'modern', '/v1/mcp', 'tools/list', cursor === undefined ? {} : { cursor });
    names.push(...(body.result?.tools ?? []).map(({ name }) => name));
    cursor = body.result?.['nextCursor'];
    pages += 1;
    expect(body.result).toMatchObject({ ttlMs: 30_000, cacheScope: 'private', resultType: 'complete' });
  } while (cursor !== undefined);
  expect(pages).toBe(2);
  expect(names).toEqual([...many(700).map(({ name }) => `big__${name}`), 'small__echo']);
});

test('a tool that its server lists only now is found by its call', async () => {
  await ask(world, 'legacy', '/v1/mcp', 'tools/list');
  small.behaviour.tools = [...small.behaviour.tools, { name: 'fresh', inputSchema: { type: 'object' } }];
  await new Promise((resolve) => setTimeout(resolve, 2100));
  const answer = await ask(world, 'legacy', '/v1/mcp', 'tools/call', { name: 'small__fresh', arguments: {} });
  expect(answer.body.result?.isError ?? false).toBe(false);
  expect(small.of('tools/call').at(-1)?.body.params?.['name']).toBe('fresh');
});

test('limits and budgets of the workload hold: 429 and 402 with what to wait for, sealed', async () => {
  // Other files spend for a workload of the same name.
  const redis = await startRedis({ control: true });
  onTestFinished(() => redis.stop());
  await using poor = await startMcpWorld(
    {
      servers: { small: { url: small.url } },
      prices: [{ model: 'mcp/small/echo', unit: 'Call', input: '0.4' }],
      workload: { budget: { amount: '1', period: 'Daily' } },
    },
    {},
    redis.url,
  );
  const call = () => ask(poor, 'legacy', '/v1/mcp/small', 'tools/call', { name: 'echo', arguments: {} });
  const answers = [await call(), await call(), await call()];
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 402]);
  expect(answers[2]?.body.error).toMatchObject({ code: -32010, data: { code: 'insufficient_quota' } });
  expect(await rowOf(poor.databaseUrl, answers[2]?.headers.get('x-request-id'))).toMatchObject({ outcome: 'refused' });
  poor.configure({ servers: { small: { url: small.url } }, workload: { limits: { requestsPerMinute: 1 } } });
  let last = await call();
  for (let tries = 0; last.status !== 429 && tries < 400; tries++) {
    await new Promise((resolve) => setTimeout(resolve, 50));
    last = await call();
  }
  expect(last.status).toBe(429);
  expect(Number(last.headers.get('retry-after'))).toBeGreaterThan(0);
  expect(last.headers.get('x-ratelimit-limit-requests')).toBe('1');
  // What asks for no tool is refused as well.
  for (const method of ['tools/list', 'initialize', 'ping']) {
    const refused = await ask(poor, 'legacy', '/v1/mcp/small', method);
    expect([refused.status, refused.body.error?.data?.['code'], refused.body.id]).toEqual([
      429,
      'rate_limit_exceeded',
      1,
    ]);
  }
}, 60_000);

test('no server: the list is refused, never empty; no server answers: the list fails', async () => {
  await using none = await startMcpWorld({ servers: {} });
  expect((await ask(none, 'legacy', '/v1/mcp', 'tools/list')).status).toBe(403);
  none.configure({ servers: { a: { url: 'http://127.0.0.1:9/' }, b: { url: 'http://127.0.0.1:9/b' } } });
  let last = await ask(none, 'legacy', '/v1/mcp', 'tools/list');
  for (let tries = 0; last.status === 403 && tries < 400; tries++) {
    await new Promise((resolve) => setTimeout(resolve, 50));
    last = await ask(none, 'legacy', '/v1/mcp', 'tools/list');
  }
  expect([last.status, last.body.error?.data?.['code']]).toEqual([503, 'upstream_overloaded']);
}, 60_000);

test('a tool with a bad name or two definitions is not offered, not callable, and counted', async () => {
  const schema = { inputSchema: { type: 'object' } };
  const odd = 'two words\u0000';
  const tools = [
    { name: 'good', ...schema },
    { name: 'good', ...schema },
    { name: 'twice', ...schema, description: 'nice' },
    { name: 'twice', ...schema, description: 'evil' },
    { name: odd, ...schema },
    ...many(1000).map((tool) => ({ ...tool, name: `more_${tool.name}` })),
  ];
  await using server = await startMcpServer({ tools });
  await using own = await startMcpWorld({ servers: { odd: { url: server.url } } });
  const { body } = await ask(own, 'legacy', '/v1/mcp/odd', 'tools/list');
  expect(body.result?.tools?.map(({ name }) => name).slice(0, 2)).toEqual(['good', 'more_tool_0']);
  for (const name of ['twice', odd, 'more_tool_999']) {
    const answer = await ask(own, 'legacy', '/v1/mcp/odd', 'tools/call', { name, arguments: {} });
    expect([answer.status, answer.body.error?.code]).toEqual([200, -32602]);
  }
  expect(server.of('tools/call')).toEqual([]);
  const metrics = await (await fetch(`${own.gateway.adminUrl}/metrics`)).text();
  expect(metrics).toContain('gw_mcp_tools{server="default/odd",state="unfit"} 3');
}, 60_000);

test('messages of any shape: no 500, and no call of a tool', async () => {
  const random = randomFor(7, 'messages');
  const values: readonly [unknown, ...unknown[]] = [
    null,
    true,
    1,
    -1e300,
    '',
    'x',
    [],
    {},
    [[]],
    { _meta: META },
    { name: 7 },
    { name: 'echo', arguments: [] },
  ];
  const headers: readonly [Record<string, string>, ...Record<string, string>[]] = [
    {},
    { 'mcp-protocol-version': '2026-07-28' },
    { 'mcp-protocol-version': 'x', 'mcp-method': 'tools/call', 'mcp-name': '=?base64?x?=' },
    { accept: 'text/event-stream' },
  ];
  const before = small.of('tools/call').length;
  const statuses = new Set<number>();
  for (let batch = 0; batch < 30; batch++) {
    const sent = Array.from({ length: 20 }, () => {
      const message: Record<string, unknown> = {};
      for (const name of ['jsonrpc', 'id', 'method', 'params', 'result', 'error'])
        if (random.chance(0.7)) message[name] = random.pick(values);
      if (random.chance(0.8)) message['jsonrpc'] = '2.0';
      if (random.chance(0.8))
        message['method'] = random.pick([
          'tools/list',
          'tools/call',
          'initialize',
          'server/discover',
          'x',
          '__proto__',
        ]);
      const text = JSON.stringify(message);
      const cut = random.chance(0.2) ? text.slice(0, random.whole(0, text.length)) : text;
      return post(
        world,
        random.pick(['/v1/mcp', '/v1/mcp/small', '/v1/mcp/constructor', '/v1/mcp/%00']),
        cut,
        random.pick(headers),
      );
    });
    for (const { status } of await Promise.all(sent)) statuses.add(status);
  }
  expect([...statuses].filter((status) => status >= 500)).toEqual([]);
  expect(statuses.size).toBeGreaterThan(3);
  expect(small.of('tools/call')).toHaveLength(before);
}, 60_000);
