import OpenAI, { APIError } from 'openai';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { chat } from '../harness/answers.ts';
import type { Answer } from '../harness/exchange.ts';
import { rowsOfRequest } from '../harness/ledger-rows.ts';
import { ANY_ARGUMENTS, startMcpServer, type McpStandIn } from '../harness/mcp-server.ts';
import { startUpstream, type Upstream } from '../harness/upstream.ts';
import { openAiTenant } from './openai-tenant.ts';
import { functionCall, message, response } from './response-answers.ts';
import { startMcpWorld, type McpWorld } from './world.ts';

/** Responses whose tools the gateway runs, with the vendor's client: verbatim and translated, whole and streamed. */

const MAIL = 'ada@example.com';
const CRM: OpenAI.Responses.Tool.Mcp = { type: 'mcp', server_label: 'crm', require_approval: 'never' };
let crm: McpStandIn;
let vendor: Upstream;
let translated: Upstream;
let world: McpWorld;
let client: OpenAI;

beforeAll(async () => {
  const tools = [
    { name: 'find', description: 'Finds', inputSchema: ANY_ARGUMENTS, annotations: { readOnlyHint: true } },
  ];
  [crm, vendor, translated] = await Promise.all([startMcpServer({ tools }), startUpstream(), startUpstream()]);
  world = await startMcpWorld({
    upstreamUrl: translated.url,
    servers: { crm: { url: crm.url } },
    policy: { dlp: { mode: 'Tokenize' } },
    ...openAiTenant(vendor.url),
  });
  client = new OpenAI({ apiKey: world.key, baseURL: `${world.gateway.url}/v1`, maxRetries: 0 });
}, 60_000);

afterAll(async () => {
  await world?.[Symbol.asyncDispose]();
  await Promise.all([crm?.[Symbol.asyncDispose](), vendor?.close(), translated?.close()]);
});

const echoes: McpStandIn['behaviour']['call'] = ({ body }) => ({
  content: [{ type: 'text', text: JSON.stringify(body.params?.['arguments'] ?? null) }],
});
afterEach(() => {
  crm.behaviour.call = echoes;
});

const ARGUMENTS = '{"mail":"«EMAIL_1»"}';
const ANSWER = '«EMAIL_1» is Ada.';
const verbatim = (...rounds: [Answer, ...Answer[]]): void => vendor.respond(rounds);
const round = (...names: readonly string[]): Answer =>
  response([message('Let me look.'), ...names.map((name, at) => functionCall(`call_${at}`, name, ARGUMENTS))]);
const chatRound = (...names: readonly string[]): Answer =>
  chat({
    content: 'Let me look.',
    toolCalls: names.map((name, at) => ({ id: `call_${at}`, name, arguments: ARGUMENTS })),
  });

const LANES = [
  {
    lane: 'verbatim',
    model: 'openai/gpt-5',
    calls: () => verbatim(round('crm__find'), response([message(ANSWER)])),
    sent: () => vendor.requests,
  },
  {
    lane: 'translated',
    model: 'upstream/m',
    calls: () => translated.respond([chatRound('crm__find'), chat({ content: ANSWER })]),
    sent: () => translated.requests,
  },
];
const asked = (model: string, more: object = {}) => ({ model, input: `Who is ${MAIL}?`, tools: [CRM], ...more });
const types = (output: readonly { readonly type: string }[]): string[] => output.map(({ type }) => type);

async function refusal(more: object): Promise<APIError> {
  const thrown: unknown = await client.responses.create(asked('openai/gpt-5', more)).catch((error: unknown) => error);
  if (thrown instanceof APIError) return thrown;
  throw new Error('it was not refused', { cause: thrown });
}

describe.each(LANES)('$lane', ({ model, calls, sent }) => {
  test('the answer tells every round, and its usage is of all', async () => {
    calls();
    const before = sent().length;
    const { data, request_id: id } = await client.responses.create(asked(model)).withResponse();
    expect(types(data.output)).toEqual(['mcp_list_tools', 'message', 'mcp_call', 'message']);
    expect(data.output_text).toContain(`${MAIL} is Ada.`);
    expect(data.output[0]).toMatchObject({
      server_label: 'crm',
      tools: [{ name: 'find', description: 'Finds', input_schema: ANY_ARGUMENTS, annotations: { readOnlyHint: true } }],
    });
    expect(data.output[2]).toMatchObject({
      name: 'find',
      server_label: 'crm',
      status: 'completed',
      arguments: JSON.stringify({ mail: MAIL }),
      output: JSON.stringify({ mail: MAIL }),
      error: null,
    });
    expect(data.usage).toMatchObject({ input_tokens: 20, output_tokens: 10, total_tokens: 30 });
    expect([data.id, data.status, data.tools]).toEqual([`resp_${String(id).replaceAll('-', '')}`, 'completed', [CRM]]);
    expect(crm.of('tools/call').at(-1)?.body.params?.['arguments']).toEqual({ mail: '«EMAIL_1»' });
    for (const { body } of sent().slice(before)) expect(body).not.toContain(MAIL);
    const rows = await rowsOfRequest(world.databaseUrl, String(id), 3);
    expect(rows.map((row) => [row.surface, row.outcome])).toEqual([
      ['responses', 'served'],
      ['mcp', 'served'],
      ['responses', 'served'],
    ]);
  });

  test('a stream is one, in the words of the vendor', async () => {
    calls();
    const events: OpenAI.Responses.ResponseStreamEvent[] = [];
    const stream = client.responses.stream(asked(model));
    for await (const event of stream) events.push(event);
    expect(events.map(({ sequence_number: number }) => number)).toEqual(events.map((_, at) => at));
    const said = events.map(({ type }) => type.replace('response.', ''));
    expect(said.filter((type) => !/delta|output_text|content_part/.test(type))).toEqual([
      'created',
      'in_progress',
      'output_item.added',
      'mcp_list_tools.in_progress',
      'mcp_list_tools.completed',
      'output_item.done',
      'output_item.added',
      'output_item.done',
      'output_item.added',
      'mcp_call.in_progress',
      'mcp_call_arguments.done',
      'mcp_call.completed',
      'output_item.done',
      'output_item.added',
      'output_item.done',
      'completed',
    ]);
    const added = events.filter((event) => event.type === 'response.output_item.added');
    expect(added.map((event) => [event.output_index, event.item.type])).toEqual([
      [0, 'mcp_list_tools'],
      [1, 'message'],
      [2, 'mcp_call'],
      [3, 'message'],
    ]);
    const final = await stream.finalResponse();
    expect(types(final.output)).toEqual(['mcp_list_tools', 'message', 'mcp_call', 'message']);
    expect(final.output[2]).toMatchObject({ output: JSON.stringify({ mail: MAIL }), status: 'completed' });
    expect(final.output_text).toContain(`${MAIL} is Ada.`);
    expect(final.usage).toMatchObject({ input_tokens: 20, output_tokens: 10 });
    const written = events
      .flatMap((event) => (event.type === 'response.mcp_call_arguments.delta' ? [event.delta] : []))
      .join('');
    expect(written).toBe(JSON.stringify({ mail: MAIL }));
    expect(JSON.stringify(events)).not.toContain('«EMAIL_1»');
  });

  test('an answer goes back as the input of the next request', async () => {
    calls();
    const first = await client.responses.create(asked(model));
    calls();
    const before = sent().length;
    const input = [{ role: 'user', content: `Who is ${MAIL}?` }, ...first.output, { role: 'user', content: 'Again.' }];
    await client.responses.create(asked(model, { input }));
    const { body } = sent()[before]!;
    expect(body).not.toMatch(/mcp_call|mcp_list_tools/);
    expect(body).toContain('crm__find');
    expect(body).toContain('Again.');
  });
});

test("calls of tools are run, and a function of the client's is left to it", async () => {
  verbatim(round('crm__find', 'mine'));
  const own = { type: 'function', name: 'mine', parameters: { type: 'object' }, strict: false };
  for (const stream of [false, true]) {
    const before = crm.of('tools/call').length;
    const wanted = asked('openai/gpt-5', { tools: [own, CRM] });
    const answer = stream
      ? await client.responses.stream(wanted).finalResponse()
      : await client.responses.create(wanted);
    expect(types(answer.output)).toEqual(['mcp_list_tools', 'message', 'mcp_call', 'function_call']);
    expect(answer.output.at(-1)).toMatchObject({ name: 'mine', arguments: JSON.stringify({ mail: MAIL }) });
    expect(crm.of('tools/call')).toHaveLength(before + 1);
  }
});

test('the input of the next round refers to nothing that a vendor would have to keep', async () => {
  const thought = { id: 'rs_1', type: 'reasoning', summary: [] };
  const sealed = { ...thought, id: 'rs_2', encrypted_content: 'c2VhbGVk' };
  verbatim(response([thought, sealed, functionCall('call_1', 'crm__find', '{}')]), response([message('Done.')]));
  const before = vendor.requests.length;
  await client.responses.create(asked('openai/gpt-5', { tool_choice: 'required', max_tool_calls: 3 }));
  const [first, second] = vendor.requests.slice(before).map(({ body }) => JSON.parse(body) as Record<string, unknown>);
  expect([first?.['store'], first?.['max_tool_calls'], first?.['tool_choice']]).toEqual([false, undefined, 'required']);
  expect(second?.['tool_choice']).toBe('auto');
  expect(second?.['input']).toEqual([
    { role: 'user', content: 'Who is «EMAIL_1»?' },
    sealed,
    { type: 'function_call', call_id: 'call_1', name: 'crm__find', arguments: '{}' },
    { type: 'function_call_output', call_id: 'call_1', output: '{}' },
  ]);
});

test('no more calls than the client allows, and failures are items that say so', async () => {
  crm.behaviour.call = () => ({ content: [{ type: 'text', text: 'customer 7 is unknown' }], isError: true });
  const before = crm.of('tools/call').length;
  verbatim(round('crm__find', 'crm__find'), response([message('Sorry.')]));
  const answer = await client.responses.stream(asked('openai/gpt-5', { max_tool_calls: 1 })).finalResponse();
  expect(crm.of('tools/call')).toHaveLength(before + 1);
  const errors = answer.output.flatMap((item) => (item.type === 'mcp_call' ? [[item.status, item.error]] : []));
  const failure = (text: string): unknown => [
    'failed',
    { type: 'mcp_tool_execution_error', content: [{ type: 'text', text }] },
  ];
  expect(errors).toEqual([
    failure('customer 7 is unknown'),
    failure('Not run: the request allows no more calls of tools.'),
  ]);
});

test('an answer that is cut off runs nothing', async () => {
  const before = crm.of('tools/call').length;
  verbatim(response([functionCall('call_1', 'crm__find', '{"ma')], 'incomplete'));
  for (const stream of [false, true]) {
    const wanted = asked('openai/gpt-5');
    const answer = stream
      ? await client.responses.stream(wanted).finalResponse()
      : await client.responses.create(wanted);
    expect([answer.status, types(answer.output)]).toEqual(['incomplete', ['mcp_list_tools', 'mcp_call']]);
  }
  expect(crm.of('tools/call')).toHaveLength(before);
});

test.each([
  ['an address', { tools: [{ ...CRM, server_url: 'https://mcp.example.com' }] }, 'tools[0]'],
  ['a connector', { tools: [{ ...CRM, connector_id: 'connector_gmail' }] }, 'tools[0]'],
  ['the background', { background: true }, 'background'],
  ['a kept conversation', { previous_response_id: 'resp_1' }, 'previous_response_id'],
  ['a choice of a server', { tool_choice: { type: 'mcp', server_label: 'crm' } }, 'tool_choice'],
  ['an approval', { input: [{ type: 'mcp_approval_response', approval_request_id: 'a', approve: true }] }, 'input[0]'],
  [
    'a name that is taken in a namespace',
    {
      tools: [CRM, { type: 'namespace', name: 'crm', description: '', tools: [{ type: 'function', name: 'find' }] }],
    },
    'tools[1]',
  ],
  ['many servers', { tools: Array.from({ length: 33 }, (_, at) => ({ ...CRM, server_label: `s${at}` })) }, 'tools'],
  ['headers', { tools: [{ ...CRM, headers: { a: 'b' } }] }, 'tools[0]'],
])('%s is refused', async (_, more, param) => {
  const before = vendor.requests.length;
  const error = await refusal(more);
  expect([error.status, error.param]).toEqual([400, param]);
  expect(vendor.requests).toHaveLength(before);
});

test('a model that never answers ends the stream with an event', async () => {
  verbatim(round('crm__find'));
  const seen: unknown[] = [];
  const consume = async (): Promise<void> => {
    for await (const event of await client.responses.create({ ...asked('openai/gpt-5'), stream: true }))
      seen.push(event);
  };
  await expect(consume()).rejects.toMatchObject({ code: 'tool_loop_limit' });
  expect(seen.length).toBeGreaterThan(16);
});

test('a client that leaves a stream ends it at the vendor', async () => {
  const arrived = Promise.withResolvers<void>();
  const left = Promise.withResolvers<void>();
  verbatim(round('crm__find'), ({ response: answer, signal }) => {
    answer.writeHead(200, { 'content-type': 'text/event-stream' });
    answer.flushHeaders();
    arrived.resolve();
    signal.addEventListener('abort', () => left.resolve(), { once: true });
  });
  const controller = new AbortController();
  const wanted = { ...asked('openai/gpt-5'), stream: true as const };
  const reading = (async () => {
    for await (const _ of await client.responses.create(wanted, { signal: controller.signal })) void _;
  })();
  await arrived.promise;
  controller.abort();
  await left.promise;
  expect(await reading).toBeUndefined();
});
