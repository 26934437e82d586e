import OpenAI from 'openai';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { chat } from '../harness/answers.ts';
import { rowOf, ledgerRows } from '../harness/ledger-rows.ts';
import { ANY_ARGUMENTS, startMcpServer, type McpStandIn } from '../harness/mcp-server.ts';
import { startUpstream, type Upstream } from '../harness/upstream.ts';
import { mcpResources, post, startMcpWorld, type McpWorld, type McpWorldOptions } from './world.ts';

/** Policies and keys that change while the gateway runs tools for a request. */

const CRM: OpenAI.Responses.Tool.Mcp = { type: 'mcp', server_label: 'crm', require_approval: 'never' };
let crm: McpStandIn;
let model: Upstream;
let options: McpWorldOptions;
let world: McpWorld;
let client: OpenAI;

beforeAll(async () => {
  crm = await startMcpServer({ tools: ['first', 'second'].map((name) => ({ name, inputSchema: ANY_ARGUMENTS })) });
  model = await startUpstream();
  options = { upstreamUrl: model.url, servers: { crm: { url: crm.url } } };
  world = await startMcpWorld(options);
  client = new OpenAI({ apiKey: world.key, baseURL: `${world.gateway.url}/v1`, maxRetries: 0 });
  const calling = (name: string) => chat({ content: '', toolCalls: [{ id: name, name, arguments: '{}' }] });
  model.respond([calling('crm__first'), calling('crm__second'), chat({ content: 'Done.' })]);
}, 60_000);

afterAll(async () => {
  await world?.[Symbol.asyncDispose]();
  await Promise.all([crm?.[Symbol.asyncDispose](), model?.close()]);
});

/** Changes the configuration while a tool works, and ends the tool when the gateway has noticed. */
function meanwhile(
  change: () => void,
  path: string,
  noticed: (sent: Awaited<ReturnType<typeof post>>) => boolean,
): void {
  crm.behaviour.call = async ({ body }) => {
    if (body.params?.['name'] === 'first') {
      change();
      const list = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
      await expect.poll(async () => noticed(await post(world, path, list)), { timeout: 20_000 }).toBe(true);
    }
    return { content: [{ type: 'text', text: 'ok' }] };
  };
}

const ask = () => client.responses.create({ model: 'upstream/m', input: 'Go.', tools: [CRM] });

test('a tool that policy takes away is not run in the next round', async () => {
  meanwhile(
    () => world.configure({ ...options, policy: { allowedTools: ['crm/first'] } }),
    '/v1/mcp/crm',
    ({ body }) => body.result?.tools?.length === 1,
  );
  const answer = await ask();
  const calls = answer.output.flatMap((item) => (item.type === 'mcp_call' ? [[item.name, item.status]] : []));
  expect(calls).toEqual([
    ['first', 'completed'],
    ['second', 'failed'],
  ]);
  expect(crm.of('tools/call')).toHaveLength(1);
}, 60_000);

test('a key that is revoked ends the request with its next call', async () => {
  const before = model.requests.length;
  model.respond(chat({ content: '', toolCalls: [{ id: 'a', name: 'crm__first', arguments: '{}' }] }));
  const revoked = mcpResources(options, world.key).map((one) => {
    const { kind, spec } = one as { readonly kind: string; readonly spec: object };
    return kind === 'VirtualKey' ? { ...one, spec: { ...spec, revoked: true } } : one;
  });
  meanwhile(
    () => world.gateway.configure(revoked),
    '/v1/mcp/crm',
    ({ status }) => status === 401,
  );
  const thrown: unknown = await ask().catch((error: unknown) => error);
  expect(thrown).toMatchObject({ status: 401, code: 'invalid_api_key' });
  expect(model.requests).toHaveLength(before + 1);
  const { requestID } = thrown as { readonly requestID: string };
  await rowOf(world.databaseUrl, requestID);
  await expect
    .poll(async () => (await ledgerRows(world.databaseUrl)).filter((row) => row.parent === requestID).at(-1))
    .toMatchObject({ outcome: 'refused', code: 'invalid_api_key' });
}, 60_000);
