import { hash } from 'node:crypto';
import OpenAI, { APIError } from 'openai';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { chat } from '../harness/answers.ts';
import { newKey, resource } from '../harness/gateway.ts';
import { rowsOfRequest } from '../harness/ledger-rows.ts';
import { ANY_ARGUMENTS, startMcpServer, type McpStandIn } from '../harness/mcp-server.ts';
import { startRedis, type RedisServer } from '../harness/redis.ts';
import { startUpstream, type Upstream } from '../harness/upstream.ts';
import { startMcpWorld, type McpWorld } from './world.ts';

/** Who pays for rounds and calls of tools, and whose tools they are: two tenants, one of them with little money. */

const CRM: OpenAI.Responses.Tool.Mcp = { type: 'mcp', server_label: 'crm', require_approval: 'never' };
const strangerKey = newKey();
let crm: McpStandIn;
let theirs: McpStandIn;
let model: Upstream;
let redis: RedisServer;
let world: McpWorld;

/** A resource of the other tenant. */
const their = (kind: string, name: string, spec: object): object => ({
  ...resource(kind, name, spec),
  metadata: { name, namespace: 'other' },
});

beforeAll(async () => {
  const tools = [{ name: 'find', inputSchema: ANY_ARGUMENTS }];
  [crm, theirs, model] = await Promise.all([startMcpServer({ tools }), startMcpServer({ tools }), startUpstream()]);
  redis = await startRedis({ control: true });
  world = await startMcpWorld(
    {
      upstreamUrl: model.url,
      servers: { crm: { url: crm.url } },
      workload: { budget: { amount: '0.0035', period: 'Total' } },
      prices: [{ model: 'mcp/crm/*', unit: 'Call', input: '0.002' }],
      more: [
        their('Organization', 'other', { contact: { email: 'ops@other.example' }, priceBookRef: { name: 'prices' } }),
        their('Workload', 'app', { organizationRef: { name: 'other' } }),
        their('VirtualKey', 'key', {
          workloadRef: { name: 'app' },
          hash: { algorithm: 'SHA256', value: hash('sha256', strangerKey, 'hex') },
        }),
        their('Provider', 'upstream', {
          slug: 'upstream',
          protocol: 'Custom',
          endpoint: { url: model.url, allowInsecure: true },
          jurisdiction: 'EU',
        }),
        their('MCPServer', 'theirs', { endpoint: { url: theirs.url }, jurisdiction: 'US' }),
        their('MCPServer', 'limited', { endpoint: { url: theirs.url }, jurisdiction: 'US', callsPerMinute: 1 }),
        their('PriceBook', 'prices', { prices: [{ model: 'upstream/*', input: '2', output: '8' }] }),
      ],
    },
    {},
    redis.url,
  );
}, 60_000);

afterAll(async () => {
  await world?.[Symbol.asyncDispose]();
  await redis?.stop();
  await Promise.all([crm?.[Symbol.asyncDispose](), theirs?.[Symbol.asyncDispose](), model?.close()]);
});

const clientOf = (apiKey: string): OpenAI => new OpenAI({ apiKey, baseURL: `${world.gateway.url}/v1`, maxRetries: 2 });
const calls = chat({ content: '', toolCalls: [{ id: 'call_1', name: 'crm__find', arguments: '{}' }] });

test('one tenant has no server of the other, whatever it is called', async () => {
  model.respond(calls);
  const before = model.requests.length;
  for (const [key, label] of [
    [world.key, 'theirs'],
    [strangerKey, 'crm'],
    [strangerKey, 'other/theirs'],
    [strangerKey, '__proto__'],
  ] as const) {
    const wanted = { model: 'upstream/m', input: 'Go.', tools: [{ ...CRM, server_label: label }] };
    await expect(clientOf(key).responses.create(wanted)).rejects.toMatchObject({
      status: 400,
      param: 'tools[0].server_label',
    });
  }
  expect([model.requests.length, crm.received.length, theirs.received.length]).toEqual([before, 0, 0]);
});

test('a budget that ends in the second round ends the request, and no client tries it again', async () => {
  model.respond(calls);
  const wanted = { model: 'upstream/m', input: 'Go.', tools: [CRM], max_output_tokens: 100 };
  const thrown: unknown = await clientOf(world.key)
    .responses.create(wanted)
    .catch((error: unknown) => error);
  expect(thrown).toBeInstanceOf(APIError);
  const error = thrown as APIError;
  expect([error.status, error.code, error.headers?.get('x-should-retry')]).toEqual([
    402,
    'insufficient_quota',
    'false',
  ]);
  const rows = await rowsOfRequest(world.databaseUrl, String(error.requestID), 3);
  expect(rows.map((row) => [row.surface, row.outcome, row.code])).toEqual([
    ['responses', 'served', null],
    ['mcp', 'served', null],
    ['responses', 'refused', 'insufficient_quota'],
  ]);
  expect(crm.of('tools/call')).toHaveLength(1);
});

test('a spent limit of one server is a result that the model sees, and ends nothing', async () => {
  const limited = (id: string) => ({ id, name: 'limited__find', arguments: '{}' });
  model.respond([chat({ content: '', toolCalls: [limited('call_1'), limited('call_2')] }), chat({ content: 'Done.' })]);
  const tools = [{ ...CRM, server_label: 'limited' }];
  const { output, output_text: text } = await clientOf(strangerKey).responses.create({
    model: 'upstream/m',
    input: 'Go.',
    tools,
    max_output_tokens: 10,
  });
  expect(text).toBe('Done.');
  const ran = output.filter((item) => item.type === 'mcp_call');
  expect(ran.map(({ error }) => JSON.stringify(error ?? null))).toEqual([
    'null',
    expect.stringContaining('(rate_limit_exceeded)'),
  ]);
});
