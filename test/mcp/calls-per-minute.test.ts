import { hash } from 'node:crypto';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { createDatabase } from '../harness/postgres.ts';
import { newKey, resource, startGateway, type GatewayProcess } from '../harness/gateway.ts';
import { rowOf } from '../harness/ledger-rows.ts';
import { startMcpServer, type McpStandIn } from '../harness/mcp-server.ts';
import { startRedis, type RedisServer } from '../harness/redis.ts';
import { ask, mcpResources, type McpWorld } from './world.ts';

/** `callsPerMinute` of a server: each workload's own, over all gateways, and failing closed. */

const [key, other] = [newKey(), newKey()];
let redis: RedisServer;
let server: McpStandIn;
let databaseUrl: string;
let gateways: readonly GatewayProcess[];

beforeAll(async () => {
  redis = await startRedis({ control: true });
  server = await startMcpServer();
  databaseUrl = await createDatabase(inject('databaseUrl'));
  const resources = mcpResources(
    {
      servers: { few: { url: server.url, callsPerMinute: 3 }, many: { url: server.url } },
      prices: [{ model: 'mcp/few/*', unit: 'Call', input: '0.5' }],
      more: [
        resource('Workload', 'second', { organizationRef: { name: 'acme' } }),
        resource('VirtualKey', 'second', {
          workloadRef: { name: 'second' },
          hash: { algorithm: 'SHA256', value: hash('sha256', other, 'hex') },
        }),
      ],
    },
    key,
  );
  const start = () => startGateway({ resources, redisUrl: redis.url, databaseUrl });
  gateways = await Promise.all([start(), start()]);
}, 120_000);

afterAll(async () => {
  await Promise.all(gateways?.map((gateway) => gateway.stop()) ?? []);
  await server?.[Symbol.asyncDispose]();
  await redis?.stop();
});

function call(at: number, name: string, as = key) {
  const world: Pick<McpWorld, 'gateway' | 'key'> = { gateway: gateways[at % 2]!, key: as };
  return ask(world, 'legacy', `/v1/mcp/${name}`, 'tools/call', { name: 'echo', arguments: {} });
}

test('ten calls at once at two gateways: three are made, seven wait', async () => {
  const answers = await Promise.all(Array.from({ length: 10 }, (_one, at) => call(at, 'few')));
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(3);
  expect(server.of('tools/call')).toHaveLength(3);
  const refused = answers.filter(({ status }) => status === 429);
  expect(refused).toHaveLength(7);
  for (const { body, headers } of refused) {
    const wait = Number(headers.get('retry-after'));
    expect(wait).toBeGreaterThan(0);
    expect(wait).toBeLessThanOrEqual(61);
    expect(body.error).toMatchObject({
      code: -32010,
      message: 'Rate limit reached: 3 calls per minute of the MCP server few for this workload.',
      data: { code: 'rate_limit_exceeded', retry_after: expect.any(Number) as number },
    });
  }
  const row = await rowOf(databaseUrl, refused[0]?.headers.get('x-request-id'));
  expect(row).toMatchObject({ outcome: 'refused', code: 'rate_limit_exceeded', step: 'meter', model: 'mcp/few/echo' });
});

test('other servers, and other workloads, have their own', async () => {
  expect((await call(0, 'many')).status).toBe(200);
  const answers = await Promise.all([0, 1, 2, 3].map((at) => call(at, 'few', other)));
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(3);
});

test('without the counters nothing is sent', async () => {
  const before = server.of('tools/call').length;
  await redis.kill();
  const answer = await call(0, 'few', other);
  expect([answer.status, answer.body.error?.data?.['code']]).toEqual([503, 'limits_unavailable']);
  expect(server.of('tools/call')).toHaveLength(before);
}, 30_000);
