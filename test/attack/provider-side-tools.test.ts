import { hash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { chat, json } from '../harness/answers.ts';
import { newKey, startGateway, type GatewayProcess } from '../harness/gateway.ts';
import { rowOf } from '../harness/ledger-rows.ts';
import { createDatabase } from '../harness/postgres.ts';
import { startUpstream, type Upstream } from '../harness/upstream.ts';
import { tally } from './tally.ts';
import { MCP_TOOL, CONNECTOR, say, SURFACES, PLAIN, FIELDS } from './server-tools.ts';

/** Tools that a provider would call by itself at an address that the caller names, past inspection. // spec 4.5.3 */

const tried = tally('provider-side tools: surfaces x lanes x modes');
const MODES = { tokenize: 'Tokenize', mask: 'Mask', block: 'Block', watched: 'AllowLog' } as const;
const WORKLOADS = [...Object.keys(MODES), 'permitted', 'withdrawn'] as const;
const keys = Object.fromEntries(WORKLOADS.map((name) => [name, newKey()]));
const SECRET = 'Bearer sk-live-4f9a8b7c6d5e4f3a2b1c0d9e8f7a6b5c';
let gateway: GatewayProcess;
let upstream: Upstream;
let databaseUrl: string;

const object = (kind: string, name: string, spec: object) => ({
  apiVersion: 'gatewarden.dev/v1alpha1',
  kind,
  metadata: { name },
  spec,
});

beforeAll(async () => {
  upstream = await startUpstream();
  databaseUrl = await createDatabase(inject('databaseUrl'));
  const provider = (slug: string, more: object) =>
    object('Provider', slug, {
      slug,
      endpoint: { url: upstream.url, allowInsecure: true },
      jurisdiction: 'EU',
      credentials: [{ name: 'main', type: 'APIKey', secretKeyRef: { name: 'keys', key: 'main' } }],
      ...more,
    });
  const policy = (workload: string, defaults: object) =>
    object('Policy', `of-${workload}`, { targetRefs: [{ kind: 'Workload', name: workload }], defaults });
  const MCP = { providerSideTools: ['mcp'] };
  gateway = await startGateway({
    redisUrl: inject('redisUrl'),
    databaseUrl,
    resources: [
      { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'keys' }, stringData: { main: 'sk-upstream' } },
      object('Organization', 'acme', { contact: { email: 'ops@acme.example' }, priceBookRef: { name: 'prices' } }),
      object('Organization', 'strict', { contact: { email: 'ops@acme.example' }, priceBookRef: { name: 'prices' } }),
      ...WORKLOADS.flatMap((name) => [
        object('Workload', name, { organizationRef: { name: name === 'withdrawn' ? 'strict' : 'acme' } }),
        object('VirtualKey', name, {
          workloadRef: { name },
          hash: { algorithm: 'SHA256', value: hash('sha256', keys[name]!, 'hex') },
        }),
      ]),
      ...Object.entries(MODES).map(([name, mode]) => policy(name, { dlp: { mode } })),
      policy('permitted', MCP),
      policy('withdrawn', MCP),
      object('Policy', 'none', {
        targetRefs: [{ kind: 'Organization', name: 'strict' }],
        overrides: { providerSideTools: [] },
      }),
      provider('chatty', { vendor: 'openai' }),
      provider('claude', { vendor: 'custom', protocol: 'Messages' }),
      provider('shared', { vendor: 'openai', keyOwnership: 'Managed' }),
      object('PriceBook', 'prices', {
        prices: ['chatty/*', 'claude/*', 'shared/*', 'gw/ocr'].flatMap((model) => [
          { model, input: '2', output: '8' },
          ...(['Call', 'Image', 'Page', 'Second'] as const).map((unit) => ({ model, unit, input: '0.1' })),
        ]),
      }),
    ],
  });
}, 90_000);

afterAll(async () => {
  await gateway?.stop();
  await upstream?.close();
});

const call = (workload: string, path: string, body: string | object, headers: Record<string, string> = {}) =>
  fetch(gateway.url + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${keys[workload]}`, 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });

const send = (workload: string, path: string, body: FormData): Promise<Response> =>
  fetch(gateway.url + path, { method: 'POST', headers: { authorization: `Bearer ${keys[workload]}` }, body });

const written = (body: object, attack: object | string): string => {
  if (typeof attack !== 'string') return JSON.stringify({ ...body, ...attack });
  return `${JSON.stringify(body).slice(0, -1)},${attack}}`;
};

const CELLS = Object.keys(SURFACES).flatMap((path) =>
  ['chatty/m', 'claude/m', 'shared/m'].flatMap((model) =>
    Object.keys(MODES).map((mode) => [path, model, mode] as const),
  ),
);

test.each(CELLS)('%s to %s under %s: 400, and nothing is sent', async (path, model, mode) => {
  const { body, attacks } = SURFACES[path]!;
  for (const [name, attack] of Object.entries(attacks)) {
    const before = upstream.requests.length;
    const answer = await call(mode, path, written({ model, ...body }, attack));
    const told = (await answer.json()) as { error?: { type?: string; message?: string } };
    const held = answer.status === 400 && upstream.requests.length === before;
    if (held) tried.held(`${path} ${model} ${mode}: ${name}`);
    else tried.passed(`${path} ${model} ${mode}: ${name}`);
    expect([name, answer.status, told.error?.type]).toEqual([name, 400, 'invalid_request_error']);
    expect(JSON.stringify(told)).not.toContain('example.com');
  }
});

test.each(Object.keys(PLAIN))('%s takes no servers of tools either, whatever policy says', async (path) => {
  for (const more of [{ mcp_servers: [{ url: 'https://x.example' }] }, { tools: [MCP_TOOL] }]) {
    for (const workload of path.endsWith('count_tokens') ? ['watched'] : ['watched', 'permitted']) {
      const before = upstream.requests.length;
      const answer = await call(workload, path, { ...PLAIN[path], ...more });
      if (answer.status === 400 && upstream.requests.length === before) tried.held(path);
      else tried.passed(`${path} ${workload}`);
      expect(answer.status).toBe(400);
    }
  }
});

test.each(FIELDS)('a field %s of a form takes no servers of tools: %s', async (name, value) => {
  for (const path of ['/v1/audio/transcriptions', '/v1/images/edits']) {
    for (const workload of ['watched', 'permitted']) {
      const before = upstream.requests.length;
      const form = new FormData();
      form.append('model', 'chatty/m');
      form.append(name, value);
      form.append('file', new Blob(['x'], { type: 'audio/wav' }), 'x.wav');
      const answer = await send(workload, path, form);
      if (answer.status === 400 && upstream.requests.length === before) tried.held(`${path} field ${name}`);
      else tried.passed(`${path} field ${name} ${value} ${workload}`);
      expect([answer.status, upstream.requests.length - before], await answer.text()).toEqual([400, 0]);
    }
  }
});

test('a field that only tells of servers is let through', async () => {
  const form = new FormData();
  form.append('model', 'chatty/m');
  form.append('prompt', 'Which mcp_servers does [this] have?');
  form.append('file', new Blob(['x'], { type: 'audio/wav' }), 'x.wav');
  const before = upstream.requests.length;
  upstream.respond(json({ text: 'Hi' }));
  const { status } = await send('watched', '/v1/audio/transcriptions', form);
  upstream.respond(chat({ content: 'Hello.' }));
  expect([status, upstream.requests.length - before]).toEqual([200, 1]);
});

describe('what only looks like it is let through', () => {
  const schema = {
    type: 'object',
    properties: { server_url: { type: 'string' }, mcp_servers: { type: 'array' }, type: { const: 'mcp' } },
  };
  test.each<[string, string, object]>([
    [
      'a function about servers',
      '/v1/chat/completions',
      { ...say, tools: [{ type: 'function', function: { name: 'mcp', parameters: schema } }] },
    ],
    [
      'prose',
      '/v1/chat/completions',
      { messages: [{ role: 'user', content: 'What is "mcp_servers" with type: "mcp"?' }] },
    ],
    [
      'a form of the answer',
      '/v1/chat/completions',
      { ...say, response_format: { type: 'json_schema', json_schema: { name: 'n', schema } } },
    ],
    ['no servers', '/v1/chat/completions', { ...say, mcp_servers: null }],
    [
      'what was called here',
      '/v1/messages',
      {
        max_tokens: 9,
        tools: [{ name: 'f', input_schema: schema }],
        messages: [
          { role: 'user', content: 'Hi' },
          {
            role: 'assistant',
            content: [{ type: 'tool_use', id: 't1', name: 'f', input: { type: 'mcp', server_url: 'x' } }],
          },
          { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't1', content: 'ok' }] },
        ],
      },
    ],
  ])('%s on %s', async (_name, path, body) => {
    const model = path === '/v1/messages' ? 'claude/m' : 'chatty/m';
    upstream.respond(path === '/v1/messages' ? MESSAGE : CHAT);
    const answer = await call('tokenize', path, { model, ...body });
    expect([answer.status, await answer.text()]).toEqual([200, expect.any(String)]);
  });
});

const CHAT = json({
  id: 'c1',
  object: 'chat.completion',
  created: 1,
  model: 'm',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hello.' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 5, completion_tokens: 1, total_tokens: 6 },
});

const MESSAGE = json({
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'm',
  content: [{ type: 'text', text: 'Hello.' }],
  stop_reason: 'end_turn',
  stop_sequence: null,
  usage: { input_tokens: 5, output_tokens: 1 },
});

const RESPONSE = json({
  id: 'resp_1',
  object: 'response',
  created_at: 1,
  status: 'completed',
  model: 'm',
  output: [
    {
      type: 'message',
      id: 'm1',
      role: 'assistant',
      status: 'completed',
      content: [{ type: 'output_text', text: 'Hello.', annotations: [] }],
    },
  ],
  usage: { input_tokens: 5, output_tokens: 1, total_tokens: 6 },
});

describe('where policy lets providers call servers', () => {
  const tool = { ...MCP_TOOL, authorization: SECRET, headers: { 'x-token': 'tok_4f9a8b7c6d5e4f3a2b1c0d9e8f7a6b5c' } };
  const server = { type: 'url', url: 'https://mcp.example.com/sse', name: 'docs', authorization_token: SECRET };

  test.each([
    [
      '/v1/responses',
      'chatty/m',
      { input: 'Mail ada@example.com', tools: [tool, CONNECTOR] },
      RESPONSE,
      ['docs at mcp.example.com', 'mail by connector_gmail'],
    ],
    [
      '/v1/chat/completions',
      'chatty/m',
      { messages: [{ role: 'user', content: 'Mail ada@example.com' }], tools: [tool] },
      CHAT,
      ['docs at mcp.example.com'],
    ],
    [
      '/v1/messages',
      'claude/m',
      {
        max_tokens: 9,
        messages: [{ role: 'user', content: 'Mail ada@example.com' }],
        mcp_servers: [server],
        tools: [{ type: 'mcp_toolset', mcp_server_name: 'docs' }],
      },
      MESSAGE,
      ['docs at mcp.example.com'],
    ],
  ] as const)(
    "%s on the organization's own account: sent, and the row names the server",
    async (path, model, body, reply, names) => {
      upstream.respond(reply);
      const answer = await call('permitted', path, { model, ...body }, { 'anthropic-beta': 'mcp-client-2025-11-20' });
      expect([answer.status, await answer.text()]).toEqual([200, expect.any(String)]);
      const sent = upstream.requests.at(-1)!;
      expect(sent.body).toContain('mcp.example.com');
      expect(sent.body).toContain(SECRET);
      // What is said is protected as ever.
      expect(sent.body).toContain('Mail «EMAIL_1»');
      const row = await rowOf(databaseUrl, answer.headers.get('x-request-id'));
      expect(row.tool_servers).toEqual(names);
      expect(JSON.stringify(row) + gateway.log.join()).not.toContain('4f9a8b7c');
    },
  );

  test.each([
    ['a managed account', 'permitted', 'shared/m'],
    ['a provider that must be translated for', 'permitted', 'claude/m'],
    ['an organization that withdraws it', 'withdrawn', 'chatty/m'],
  ])('not on %s', async (_name, workload, model) => {
    const before = upstream.requests.length;
    const answer = await call(workload, '/v1/responses', { model, input: 'Hi', tools: [tool] });
    expect([answer.status, upstream.requests.length - before]).toEqual([400, 0]);
    expect(await answer.text()).not.toContain('4f9a8b7c');
    tried.held(`permitted, but ${model} of ${workload}`);
  });
});

test('the flag of servers is not sent on where policy allows none', async () => {
  upstream.respond(MESSAGE);
  const flags = { 'anthropic-beta': 'mcp-client-2025-11-20,other-2025-01-01' };
  const answer = await call('tokenize', '/v1/messages', { model: 'claude/m', max_tokens: 9, ...say }, flags);
  await answer.text();
  expect([answer.status, upstream.requests.at(-1)!.headers['anthropic-beta']]).toEqual([200, 'other-2025-01-01']);
});
