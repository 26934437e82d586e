import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { newKey, resource } from '../harness/gateway.ts';
import { hash } from 'node:crypto';
import { ANY_ARGUMENTS, startMcpServer, type McpReceived, type McpStandIn } from '../harness/mcp-server.ts';
import { rowOf } from '../harness/ledger-rows.ts';
import { META, post, startMcpWorld, textOf, type McpWorld, type Sent } from './world.ts';

/** Tools of modern servers that ask for more than their arguments, round by round. */

const FORM = { type: 'object', properties: { mail: { type: 'string' } } };
let server: McpStandIn;
let world: McpWorld;
let other: string;

/** Asks for another address, then says all that it knows. */
const asking = ({ body }: McpReceived): unknown => {
  const {
    inputResponses,
    requestState,
    arguments: args,
  } = body.params as {
    readonly inputResponses?: Record<string, unknown>;
    readonly requestState?: string;
    readonly arguments?: Record<string, unknown>;
  };
  if (inputResponses === undefined)
    return {
      resultType: 'input_required',
      inputRequests: {
        second: {
          method: 'elicitation/create',
          params: { message: `Besides ${String(args?.['mail'])}?`, requestedSchema: FORM },
        },
      },
      requestState: 'state of +49 151 23456789',
    };
  const { content } = inputResponses['second'] as { content: { mail: string } };
  return {
    content: [{ type: 'text', text: `${String(args?.['mail'])} and ${content.mail} (${requestState})` }],
  };
};

beforeAll(async () => {
  other = newKey();
  server = await startMcpServer({
    era: 'modern',
    tools: [{ name: 'ask', inputSchema: ANY_ARGUMENTS }],
    call: asking,
  });
  world = await startMcpWorld({
    servers: {
      forms: { url: server.url, clientCapabilities: ['Elicitation'] },
      shy: { url: server.url },
    },
    prices: [{ model: 'mcp/*', unit: 'Call', input: '0.002' }],
    more: [
      resource('VirtualKey', 'other', {
        workloadRef: { name: 'app' },
        hash: { value: hash('sha256', other, 'hex') },
      }),
    ],
  });
}, 60_000);

afterAll(async () => {
  await world?.[Symbol.asyncDispose]();
  await server?.[Symbol.asyncDispose]();
});

beforeEach(() => () => void (server.behaviour.call = asking));

const CAN = { elicitation: {}, sampling: { tools: {} }, roots: {}, extensions: { x: {} } };

function call(
  params: object,
  { name = 'ask', path = '/v1/mcp/forms', can = CAN, key = world.key }: Record<string, unknown> = {},
): Promise<Sent> {
  const _meta = { ...META, 'io.modelcontextprotocol/clientCapabilities': can };
  const message = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, ...params, _meta } };
  return post(world, String(path), message, {
    authorization: `Bearer ${String(key)}`,
    'mcp-protocol-version': '2026-07-28',
    'mcp-method': 'tools/call',
    'mcp-name': String(name),
  });
}

const ARGS = { arguments: { mail: 'ada@example.com' } };
const RESPONSES = { second: { action: 'accept', content: { mail: 'bob@example.com' } } };
const stateOf = ({ body }: Sent) => body.result?.['requestState'];

test('a question reaches the client with its own words, the answer the server without them, and only its end is paid', async () => {
  for (const [path, name] of [
    ['/v1/mcp/forms', 'ask'],
    ['/v1/mcp', 'forms__ask'],
  ]) {
    const first = await call(ARGS, { path, name });
    expect(first.body.result).toMatchObject({
      resultType: 'input_required',
      inputRequests: { second: { params: { message: 'Besides ada@example.com?', requestedSchema: FORM } } },
    });
    const sent = server.of('tools/call').at(-1);
    expect(sent?.body.params?.['_meta']).toMatchObject({
      'io.modelcontextprotocol/clientCapabilities': { elicitation: {} },
    });
    expect(sent?.text).not.toMatch(/sampling|roots|extensions/);
    // What the server keeps with the client is for the server alone.
    expect(first.text).not.toContain('151');
    const second = await call({ ...ARGS, inputResponses: RESPONSES, requestState: stateOf(first) }, { path, name });
    expect(textOf(second)).toBe('ada@example.com and bob@example.com (state of +49 151 23456789)');
    const { params } = server.of('tools/call').at(-1)!.body;
    expect(params).toMatchObject({
      arguments: { mail: '«EMAIL_1»' },
      inputResponses: { second: { action: 'accept', content: { mail: '«EMAIL_2»' } } },
      requestState: 'state of +49 151 23456789',
    });
    const rows = await Promise.all(
      [first, second].map(({ headers }) => rowOf(world.databaseUrl, headers.get('x-request-id'))),
    );
    expect(rows).toMatchObject([
      {
        outcome: 'served',
        cost_nano_eur: '0',
        dlp: { findings: { EMAIL: 1 } },
        tool: { asks: ['elicitation/create'] },
      },
      { outcome: 'served', cost_nano_eur: '2000000', dlp: { findings: { EMAIL: 2 } }, tool: { answers: 1 } },
    ]);
    expect(rows[0]?.tool).not.toHaveProperty('answers');
    expect(rows[1]?.tool).not.toHaveProperty('asks');
  }
});

test('values of earlier rounds keep tags of their own in later rounds', async () => {
  server.behaviour.call = ({ body }) => {
    const { inputResponses = {}, requestState = '' } = body.params as Record<string, never>;
    const said = [...(requestState === '' ? [] : (requestState as string).split(' ')), JSON.stringify(inputResponses)];
    if (said.length > 2) return { content: [{ type: 'text', text: said.join('\n') }] };
    const asked = { method: 'elicitation/create', params: { message: said.join(' '), requestedSchema: FORM } };
    return { resultType: 'input_required', inputRequests: { next: asked }, requestState: said.join(' ') };
  };
  let answer = await call(ARGS);
  for (const mail of ['bob@example.com', 'cleo@example.com']) {
    const inputResponses = { next: { action: 'accept', content: { mail } } };
    answer = await call({ ...ARGS, inputResponses, requestState: stateOf(answer) });
  }
  expect(server.of('tools/call').at(-1)?.text).toContain('«EMAIL_3»');
  expect(textOf(answer)).toMatch(/^\{\}\n.*bob@example\.com.*\n.*cleo@example\.com/);
});

test('a state is of one caller, one tool, one server and one call, and invalid once it is changed', async () => {
  const state = String(stateOf(await call(ARGS)));
  const before = server.of('tools/call').length;
  const again = { ...ARGS, inputResponses: RESPONSES };
  const flipped = `${state.slice(0, -2)}${state.endsWith('A') ? 'B' : 'A'}A`;
  for (const refused of [
    await call({ ...again, requestState: state }, { key: other }),
    await call({ ...again, requestState: state }, { path: '/v1/mcp', name: 'shy__ask' }),
    await call({ ...again, requestState: state }, { path: '/v1/mcp/shy' }),
    await call({ ...again, requestState: flipped }),
    await call({ ...again, requestState: 'state of +49 151 23456789' }),
    await call({ arguments: { mail: 'eve@example.com', more: 1 }, inputResponses: RESPONSES, requestState: state }),
    await call({ ...again, requestState: 1 }),
    await call({ ...again, inputResponses: [], requestState: state }),
  ])
    expect([refused.status, refused.body.error?.code]).toEqual([200, -32602]);
  expect(server.of('tools/call')).toHaveLength(before);
  // The order of members is no difference.
  expect(textOf(await call({ ...again, requestState: state }))).toContain('bob@example.com');
});

test.each<[string, Record<string, unknown>, (() => unknown)?]>([
  ['the MCPServer does not allow it', { path: '/v1/mcp/shy' }],
  ['the client cannot', { can: {} }],
  [
    'the client cannot do this',
    {},
    () => ({
      resultType: 'input_required',
      inputRequests: { s: { method: 'sampling/createMessage', params: { messages: [] } } },
    }),
  ],
  [
    'it is an address to open',
    {},
    () => ({
      resultType: 'input_required',
      inputRequests: { u: { method: 'elicitation/create', params: { mode: 'url', url: 'https://x', message: 'm' } } },
    }),
  ],
  ['it asks for nothing', {}, () => ({ resultType: 'input_required' })],
  ['it asks in no way', {}, () => ({ resultType: 'input_required', inputRequests: [], requestState: 'x' })],
])('a tool must do without input: %s', async (_why, options, behaviour) => {
  if (behaviour) server.behaviour.call = behaviour;
  const answer = await call(ARGS, options);
  expect(answer.body.result).toMatchObject({ resultType: 'complete', isError: true });
  expect(textOf(answer)).toMatch(/^The tool needs input from its user, which it cannot get: /);
  const row = await rowOf(world.databaseUrl, answer.headers.get('x-request-id'));
  expect(row).toMatchObject({ cost_nano_eur: '2000000', tool: { is_error: true } });
});

test('an answer whose tag a form does not take is refused, and not sent', async () => {
  server.behaviour.call = () => ({
    resultType: 'input_required',
    inputRequests: {
      second: {
        method: 'elicitation/create',
        params: {
          message: 'Where?',
          requestedSchema: { type: 'object', properties: { mail: { type: 'string', format: 'email' } } },
        },
      },
    },
  });
  const first = await call({ arguments: {} });
  const before = server.of('tools/call').length;
  const refused = await call({ arguments: {}, inputResponses: RESPONSES, requestState: stateOf(first) });
  expect(textOf(refused)).toMatch(/^Refused by Gatewarden \(data_protection\)/);
  expect(server.of('tools/call')).toHaveLength(before);
});
