import OpenAI, { APIError } from 'openai';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { Answer } from '../harness/exchange.ts';
import { rowsOfRequest } from '../harness/ledger-rows.ts';
import { ANY_ARGUMENTS, startMcpServer, type McpStandIn } from '../harness/mcp-server.ts';
import { openAiTenant } from './openai-tenant.ts';
import { startUpstream, type Upstream } from '../harness/upstream.ts';
import { functionCall, message, response } from './response-answers.ts';
import { startMcpWorld, type McpWorld } from './world.ts';

/** A client of responses that wants to approve calls of tools itself, in the words of the vendor. */

type Input = OpenAI.Responses.ResponseInputItem;
type Server = OpenAI.Responses.Tool.Mcp;
const MAIL = 'ada@example.com';
const CRM: Server = { type: 'mcp', server_label: 'crm' };
let crm: McpStandIn;
let vendor: Upstream;
let world: McpWorld;
let client: OpenAI;

beforeAll(async () => {
  const tools = ['find', 'erase', 'export'].map((name) => ({ name, inputSchema: ANY_ARGUMENTS }));
  [crm, vendor] = await Promise.all([startMcpServer({ tools }), startUpstream()]);
  world = await startMcpWorld({
    servers: { crm: { url: crm.url, rules: [{ tools: ['export'], approval: 'Required' }] } },
    policy: { dlp: { mode: 'Tokenize' } },
    ...openAiTenant(vendor.url),
  });
  client = new OpenAI({ apiKey: world.key, baseURL: `${world.gateway.url}/v1`, maxRetries: 0 });
}, 60_000);

afterAll(async () => {
  await world?.[Symbol.asyncDispose]();
  await Promise.all([crm?.[Symbol.asyncDispose](), vendor?.close()]);
});
afterEach(() => {
  crm.received.length = 0;
});

const ARGUMENTS = '{"mail":"«EMAIL_1»"}';
const calling = (...names: readonly string[]): Answer =>
  response([
    message('Let me look.'),
    ...names.map((name, at) => functionCall(`call_${at}`, `crm__${name}`, ARGUMENTS)),
  ]);
const done: Answer = response([message('«EMAIL_1» is Ada.')]);
const QUESTION: Input = { role: 'user', content: `Who is ${MAIL}?` };

async function ask(stream: boolean, input: readonly Input[], server: object = CRM) {
  const wanted = { model: 'openai/gpt-5', input: [...input], tools: [server as Server] };
  return stream ? client.responses.stream(wanted).finalResponse() : client.responses.create(wanted);
}
const types = (output: readonly { readonly type: string }[]): string[] => output.map(({ type }) => type);
const answered = (id: string, approve: boolean, more: object = {}): Input => ({
  type: 'mcp_approval_response',
  approval_request_id: id,
  approve,
  ...more,
});
const calls = (): readonly unknown[] => crm.of('tools/call').map(({ body }) => body.params);
const inputs = (): readonly Record<string, unknown>[][] =>
  vendor.requests.map(({ body }) => (JSON.parse(body) as { input: Record<string, unknown>[] }).input);

/** The items of a request for approval, and the items before. */
async function requested(stream: boolean, ...names: readonly string[]) {
  vendor.respond([calling(...names)]);
  const first = await ask(stream, [QUESTION]);
  expect(first.status).toBe('completed');
  expect(types(first.output)).toEqual(['mcp_list_tools', 'message', ...names.map(() => 'mcp_approval_request')]);
  expect(calls()).toEqual([]);
  const requests = first.output.flatMap((item) => (item.type === 'mcp_approval_request' ? [item] : []));
  return { requests, history: [QUESTION, ...(first.output as Input[])] };
}

describe.each([false, true])('stream %s', (stream) => {
  test('an approved call runs once, before the model is asked again', async () => {
    const { requests, history } = await requested(stream, 'find');
    const [{ id, ...told }] = requests as [(typeof requests)[number]];
    expect(id).toMatch(/^mcpr_[0-9a-f]{32}_\d+$/);
    expect(told).toMatchObject({ name: 'find', server_label: 'crm', arguments: JSON.stringify({ mail: MAIL }) });
    const before = vendor.requests.length;
    vendor.respond([done]);
    const second = await ask(stream, [...history, answered(id, true)]);
    expect(types(second.output)).toEqual(['mcp_list_tools', 'mcp_call', 'message']);
    expect(second.output[1]).toMatchObject({ approval_request_id: id, status: 'completed', name: 'find' });
    expect(second.output_text).toBe(`${MAIL} is Ada.`);
    expect(calls()).toMatchObject([{ name: 'find', arguments: { mail: '«EMAIL_1»' } }]);
    const functions = [
      { type: 'function_call', call_id: id, name: 'crm__find', arguments: ARGUMENTS },
      { type: 'function_call_output', call_id: id, output: ARGUMENTS },
    ];
    expect(inputs()[before]?.slice(-2)).toEqual(functions);
    expect(JSON.stringify(inputs()[before])).not.toMatch(/mcp_(?:call|list|approval)/);

    vendor.respond([done]);
    const all = [...history, answered(id, true), ...(second.output as Input[]), { role: 'user', content: 'Again.' }];
    await ask(stream, all as Input[]);
    expect(calls()).toHaveLength(1);
    const outputs = inputs()
      .at(-1)!
      .filter(({ type }) => type === 'function_call_output');
    expect(outputs).toHaveLength(1);
  });

  test('a denied call does not run, and the model learns why', async () => {
    const { requests, history } = await requested(stream, 'erase', 'find');
    const before = vendor.requests.length;
    vendor.respond([done]);
    const [erase, find] = requests.map(({ id }) => id) as [string, string];
    const answers = [answered(erase, false, { reason: 'never' }), answered(find, true)];
    const second = await ask(stream, [...history, ...answers]);
    expect(types(second.output)).toEqual(['mcp_list_tools', 'mcp_call', 'message']);
    expect(calls()).toMatchObject([{ name: 'find' }]);
    const told = inputs()[before]!.filter(({ type }) => type === 'function_call_output');
    expect(told).toMatchObject([
      { call_id: erase, output: 'The user denied this call: never' },
      { call_id: find, output: ARGUMENTS },
    ]);
  });
});

test('events are counted through, and name the same items as the response', async () => {
  const { requests, history } = await requested(false, 'find');
  vendor.respond([calling('find', 'erase')]);
  const events: OpenAI.Responses.ResponseStreamEvent[] = [];
  const stream = client.responses.stream({
    model: 'openai/gpt-5',
    input: [...history, answered(requests[0]!.id, true)],
    tools: [{ ...CRM, require_approval: { always: { tool_names: ['erase'] }, never: { tool_names: ['find'] } } }],
  });
  vendor.respond([calling('find', 'erase')]);
  for await (const event of stream) events.push(event);
  const final = await stream.finalResponse();
  expect(events.map(({ sequence_number: number }) => number)).toEqual(events.map((_, at) => at));
  expect(types(final.output)).toEqual(['mcp_list_tools', 'mcp_call', 'message', 'mcp_call', 'mcp_approval_request']);
  const over = events.filter((event) => event.type === 'response.output_item.done');
  expect(over.map((event) => [event.output_index, event.item.id])).toEqual(
    final.output.map((item, at) => [at, item.id]).toSorted((a, b) => places(over, a) - places(over, b)),
  );
  expect(JSON.stringify(events)).not.toContain('«EMAIL_1»');
  expect(crm.of('tools/call').map(({ body }) => body.params?.['name'])).toEqual(['find', 'find']);
});

function places(over: readonly { readonly output_index: number }[], [at]: readonly unknown[]): number {
  return over.findIndex(({ output_index: index }) => index === at);
}

test('each call is a call of the request, and has its row', async () => {
  const { requests, history } = await requested(false, 'find');
  vendor.respond([done]);
  const { request_id: id } = await client.responses
    .create({ model: 'openai/gpt-5', input: [...history, answered(requests[0]!.id, true)], tools: [CRM] })
    .withResponse();
  const rows = await rowsOfRequest(world.databaseUrl, String(id), 2);
  expect(rows.map(({ surface, outcome }) => `${surface} ${outcome}`).toSorted()).toEqual([
    'mcp served',
    'responses served',
  ]);
});

test('a question that the client has not answered is a call that was not made', async () => {
  const { history } = await requested(false, 'find');
  vendor.respond([done]);
  await ask(false, [...history, { role: 'user', content: 'Forget it.' }]);
  expect(JSON.stringify(inputs().at(-1))).toContain('The user was asked to approve this call, and has not.');
  expect(calls()).toEqual([]);
});

test('the approval of the client does not replace that of the operator', async () => {
  const { requests, history } = await requested(false, 'export');
  vendor.respond([done]);
  const { output } = await ask(false, [...history, answered(requests[0]!.id, true)]);
  const [call] = output.flatMap((item) => (item.type === 'mcp_call' ? [item] : []));
  expect([call?.status, JSON.stringify(call?.error)]).toEqual([
    'failed',
    expect.stringContaining('Refused by Gatewarden (approval_required): A person must approve') as string,
  ]);
  vendor.respond([calling('export'), done]);
  await ask(false, [QUESTION], { ...CRM, require_approval: 'never' });
  expect(JSON.stringify(inputs().at(-1))).toContain('gwctl mcp approve');
  expect(calls()).toEqual([]);
});

test('a history with items of tools needs no server in the next request', async () => {
  vendor.respond([calling('find'), done]);
  const first = await ask(false, [QUESTION], { ...CRM, require_approval: 'never' });
  vendor.respond([done]);
  const input = [QUESTION, ...(first.output as Input[]), { role: 'user', content: 'And now?' }] as Input[];
  const second = await client.responses.create({ model: 'openai/gpt-5', input });
  expect([second.output_text, types(second.output)]).toEqual([`${MAIL} is Ada.`, ['message']]);
  const sent = JSON.parse(vendor.requests.at(-1)!.body) as { tools?: unknown; input: Record<string, unknown>[] };
  expect(sent.tools).toBeUndefined();
  expect(sent.input.map(({ type }) => type)).toEqual(
    expect.arrayContaining(['function_call', 'function_call_output']) as unknown,
  );
  expect(JSON.stringify(sent)).not.toMatch(/mcp_(?:call|list)/);
});

const REQUEST = { type: 'mcp_approval_request', id: 'a', name: 'find', server_label: 'crm', arguments: '{}' };
test.each([
  ['an answer to nothing', [answered('a', true)], 'input[0]'],
  ['two answers', [REQUEST, answered('a', true), answered('a', false)], 'input[2]'],
  ['two requests of one id', [REQUEST, REQUEST], 'input[1].id'],
  ['an answer without its request', [REQUEST, { ...answered('a', true), approve: 'yes' }], 'input[1]'],
])('%s is refused', async (_, input, param) => {
  const before = vendor.requests.length;
  const thrown: unknown = await ask(false, input as Input[]).catch((error: unknown) => error);
  expect(thrown).toBeInstanceOf(APIError);
  expect([(thrown as APIError).status, (thrown as APIError).param]).toEqual([400, param]);
  expect(vendor.requests).toHaveLength(before);
});

test.each([{ always: {} }, { sometimes: {} }, 'maybe', 7])('require_approval %j is refused', async (approval) => {
  const thrown: unknown = await ask(false, [QUESTION], { ...CRM, require_approval: approval }).catch((e: unknown) => e);
  expect((thrown as APIError).status).toBe(400);
});
