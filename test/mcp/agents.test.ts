import type { ChatCompletionRequest, FixtureResponse } from '@copilotkit/aimock';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { AGENTS, work } from '../journeys/agents/agents.ts';
import { startProviderStandIn, type ProviderStandIn, type SeenRequest, type SetAnswer } from '../journeys/stand-in.ts';
import { resource } from '../harness/gateway.ts';
import { ledgerRows } from '../harness/ledger-rows.ts';
import { startMcpServer, type McpStandIn } from '../harness/mcp-server.ts';
import { node, speak } from './peers.ts';
import { startMcpWorld, type McpWorld } from './world.ts';

/**
 * Coding agents as their packages ship them ask a model through the gateway, and call the tools that it wants called
 * through the gateway, too: the user's address is known to the user, the agent and the gateway alone.
 */
const MAIL = 'ada.lovelace@example.com';
const PROMPT = `Find the customer ${MAIL} with a tool.`;

const CUSTOMER = {
  name: 'find_customer',
  description: 'Finds a customer by mail address',
  inputSchema: { type: 'object', properties: { mail: { type: 'string' } }, required: ['mail'] },
};

let crm: McpStandIn;
let providers: ProviderStandIn;
let world: McpWorld;
/** Names of tools that models were offered. */
const offered = new Set<string>();

/** A model that calls the tool with the address of the prompt, then says what the tool said. */
function says({ messages, tools = [] }: ChatCompletionRequest): FixtureResponse {
  const names = tools.map((tool) => tool.function.name);
  for (const name of names) offered.add(name);
  const tool = names.find((name) => name.includes('find_customer'));
  const results = messages.filter(({ role }) => role === 'tool');
  const result = results.find(({ content }) => JSON.stringify(content).includes('4711'));
  if (result) return { content: `The tool says: ${JSON.stringify(result.content)}` };
  // An agent that offers its tools only when the model looks for them.
  if (tool === undefined && names.includes('ToolSearch') && results.length === 0) {
    const query = 'select:mcp__gatewarden__crm__find_customer';
    return { toolCalls: [{ name: 'ToolSearch', arguments: JSON.stringify({ query, max_results: 5 }) }] };
  }
  if (tool === undefined) return { content: 'Customers' };
  const all = messages.map(({ content }) => JSON.stringify(content)).join('\n');
  const mail = /Find the customer (\S+) with a tool/.exec(all)?.[1] ?? 'unknown';
  return { toolCalls: [{ name: tool, arguments: JSON.stringify({ mail }) }] };
}

/** The stand-in has no calls of tools in a namespace, as the vendor's own models make them. */
function ofNamespace({ kind, body }: SeenRequest): SetAnswer | undefined {
  const text = body.toString();
  if (kind !== 'openai' || !text.includes('"type":"namespace"') || text.includes('4711')) return undefined;
  const mail = /Find the customer (\S+) with a tool/.exec(text)?.[1];
  const item = {
    type: 'function_call',
    id: 'fc_1',
    call_id: 'call_1',
    namespace: 'mcp__gatewarden',
    name: 'crm__find_customer',
    arguments: JSON.stringify({ mail }),
    status: 'completed',
  };
  const response = { id: 'resp_1', object: 'response', status: 'completed', model: 'gpt-5', output: [item] };
  const usage = { input_tokens: 9, output_tokens: 9, total_tokens: 18 };
  const events = [
    { type: 'response.created', response: { ...response, status: 'in_progress', output: [] } },
    { type: 'response.output_item.added', output_index: 0, item: { ...item, arguments: '', status: 'in_progress' } },
    { type: 'response.output_item.done', output_index: 0, item },
    { type: 'response.completed', response: { ...response, usage } },
  ];
  return { type: 'text/event-stream', body: events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('') };
}

beforeAll(async () => {
  crm = await startMcpServer({
    tools: [CUSTOMER],
    call: ({ body }) => {
      const { mail } = body.params!['arguments'] as { mail: string };
      return { content: [{ type: 'text', text: `Customer 4711 has ${mail} and sales@crm.example` }] };
    },
  });
  providers = await startProviderStandIn({ says, answer: ofNamespace });
  const credentials = [{ name: 'main', type: 'APIKey', secretKeyRef: { name: 'keys', key: 'main' } }];
  const vendors = [
    { slug: 'anthropic', base: '' },
    { slug: 'openai', base: '/v1' },
  ];
  world = await startMcpWorld({
    servers: { crm: { url: crm.url } },
    policy: { dlp: { mode: 'Tokenize' } },
    prices: [
      { model: 'mcp/crm/*', unit: 'Call', input: '0.001' },
      ...vendors.map(({ slug }) => ({ model: `${slug}/*`, input: '2', output: '8' })),
    ],
    more: [
      {
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { name: 'keys', namespace: 'default' },
        stringData: { main: 'sk-own' },
      },
      ...vendors.map(({ slug, base }) => {
        const endpoint = { url: `${providers.url}/${slug}${base}`, allowInsecure: true };
        return resource('Provider', slug, { slug, vendor: slug, jurisdiction: 'EU', endpoint, credentials });
      }),
    ],
  });
}, 120_000);

afterAll(async () => {
  await world?.[Symbol.asyncDispose]();
  await providers?.close();
  await crm?.[Symbol.asyncDispose]();
});

const SESSIONS = AGENTS.filter(({ hands }) => hands).flatMap((agent) =>
  (['own', 'other'] as const)
    .filter((place) => !agent[place].startsWith('mistral'))
    .map((place) => [agent.name, place, agent] as const),
);

test.each(SESSIONS)('%s with the model of %s', async (_name, place, agent) => {
  const [from, calls] = [providers.seen.length, crm.of('tools/call').length];
  const rowsBefore = (await ledgerRows(world.databaseUrl)).length;
  const ended = await work(agent, {
    gatewayUrl: world.gateway.url,
    key: world.key,
    model: agent[place],
    contact: 'reception',
    prompt: PROMPT,
    toolsUrl: `${world.gateway.url}/v1/mcp`,
  });
  const told = `${ended.said.slice(-1500)}\n${ended.errors.slice(-1500)}\noffered: ${[...offered].join(' ')}`;
  expect(ended, told).toMatchObject({ code: 0 });
  expect(ended.said, told).toContain(`Customer 4711 has ${MAIL} and sales@crm.example`);
  // The server got a tag, and the model heard of two.
  const sent = crm.of('tools/call').slice(calls);
  expect(sent.map(({ body }) => body.params?.['arguments'])).toEqual([{ mail: '«EMAIL_1»' }]);
  const asked = providers.seen.slice(from).map(({ body }) => body.toString());
  expect(asked.some((body) => body.includes('Customer 4711'))).toBe(true);
  for (const body of asked) for (const mail of [MAIL, 'sales@crm.example']) expect(body).not.toContain(mail);
  const rows = (await ledgerRows(world.databaseUrl, rowsBefore + 3)).slice(rowsBefore);
  expect(rows.filter(({ surface }) => surface === 'mcp')).toMatchObject([
    { model: 'mcp/crm/find_customer', cost_nano_eur: '1000000', outcome: 'served', dlp: { findings: { EMAIL: 1 } } },
  ]);
});

test('an agent of a few lines', async () => {
  const [from, calls] = [providers.seen.length, crm.of('tools/call').length];
  const given = [world.gateway.url, world.key, 'anthropic/claude-sonnet-5', PROMPT];
  const { text, steps } = await speak<{ text: string; steps: number }>(node('agent.js'), given);
  expect(text).toContain(`Customer 4711 has ${MAIL} and sales@crm.example`);
  expect(steps).toBe(2);
  expect(crm.of('tools/call').at(-1)?.body.params?.['arguments']).toEqual({ mail: '«EMAIL_1»' });
  expect(crm.of('tools/call')).toHaveLength(calls + 1);
  const asked = providers.seen.slice(from).map(({ body }) => body.toString());
  expect(asked).toHaveLength(2);
  for (const body of asked) for (const mail of [MAIL, 'sales@crm.example']) expect(body).not.toContain(mail);
});
