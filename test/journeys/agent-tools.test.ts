import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { chat } from '../harness/answers.ts';
import { newKey, resource, startGateway, tenant, type GatewayProcess } from '../harness/gateway.ts';
import { createDatabase } from '../harness/postgres.ts';
import { startUpstream, type Upstream } from '../harness/upstream.ts';

/** Coding agents with the tools of their own vendor, in front of another vendor's model. */

const key = newKey();
let upstream: Upstream;
let gateway: GatewayProcess;

beforeAll(async () => {
  upstream = await startUpstream();
  gateway = await startGateway({
    resources: [
      ...tenant({
        upstreamUrl: upstream.url,
        key,
        provider: { protocol: 'ChatCompletions' },
        policy: { dlp: { mode: 'Tokenize' } },
        prices: ['upstream/*', 'groq/*', 'openai/*'].map((model) => ({ model, input: '2', output: '8' })),
      }),
      ...['groq', 'openai'].map((slug) =>
        resource('Provider', slug, {
          slug,
          endpoint: { url: upstream.url, allowInsecure: true },
          jurisdiction: 'US',
          credentials: [{ name: 'one', type: 'APIKey', secretKeyRef: { name: 'keys', key: 'key' } }],
        }),
      ),
      { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'keys', namespace: 'default' }, stringData: { key: 'k' } },
    ],
    redisUrl: inject('redisUrl'),
    databaseUrl: await createDatabase(inject('databaseUrl')),
  });
}, 60_000);

afterAll(async () => {
  await gateway?.stop();
  await upstream?.close();
});

interface Sent {
  readonly tools?: readonly { readonly function: { readonly name: string; readonly parameters?: object } }[];
  readonly messages: readonly {
    readonly role: string;
    readonly tool_calls?: readonly object[];
    readonly content?: unknown;
  }[];
}

async function post(path: string, body: object): Promise<[Response, string, Sent]> {
  const answer = await fetch(gateway.url + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
    body: JSON.stringify({ model: 'upstream/m', ...body }),
  });
  return [answer, await answer.text(), JSON.parse(upstream.requests.at(-1)!.body) as Sent];
}

const namesIn = ({ tools = [] }: Sent): readonly string[] => tools.map((tool) => tool.function.name);
const calls = (...given: readonly (readonly [name: string, told: object | string])[]) =>
  chat({
    toolCalls: given.map(([name, told], at) => ({
      id: `call_${at}`,
      name,
      arguments: typeof told === 'string' ? told : JSON.stringify(told),
    })),
  });

const lookUp = { type: 'function', name: 'look_up', parameters: { type: 'object', properties: {} } };
const TOOLS = [
  { type: 'namespace', name: 'crm', description: 'Customers.', tools: [lookUp] },
  { type: 'custom', name: 'edit', format: { type: 'grammar', syntax: 'lark', definition: 'start: /x+/' } },
  { type: 'apply_patch' },
  { type: 'shell' },
  { type: 'local_shell' },
  { type: 'computer' },
  { type: 'computer_use_preview', display_width: 800, display_height: 600, environment: 'linux' },
  { type: 'web_search' },
];
const PATCH = { type: 'update_file', path: 'a.txt', diff: '@@' };
const CLICK = { type: 'click', button: 'left', x: 1, y: 2 };
const CALLED = calls(
  ['crm__look_up', {}],
  ['edit', { input: 'xx' }],
  ['apply_patch', { operation: PATCH }],
  ['shell', { commands: ['ls'] }],
  ['local_shell', { command: ['ls', '-l'] }],
  ['computer', { actions: [CLICK] }],
  ['computer_use_preview', { action: { type: 'screenshot' } }],
);
const ITEMS = [
  { type: 'function_call', call_id: 'call_0', name: 'look_up', namespace: 'crm', arguments: '{}' },
  { type: 'custom_tool_call', call_id: 'call_1', name: 'edit', input: 'xx' },
  { type: 'apply_patch_call', call_id: 'call_2', operation: PATCH },
  { type: 'shell_call', call_id: 'call_3', action: { commands: ['ls'] } },
  { type: 'local_shell_call', call_id: 'call_4', action: { type: 'exec', env: {}, command: ['ls', '-l'] } },
  { type: 'computer_call', call_id: 'call_5', actions: [CLICK], pending_safety_checks: [] },
  { type: 'computer_call', call_id: 'call_6', action: { type: 'screenshot' }, pending_safety_checks: [] },
];
const SCREEN = { type: 'computer_screenshot', image_url: 'data:image/png;base64,iVBORw0KGgo=' };

describe('on responses', () => {
  test('tools that the client runs become functions, and calls of them the items that it knows', async () => {
    upstream.respond(CALLED);
    const [answer, text, sent] = await post('/v1/responses', { input: 'Go.', tools: TOOLS });
    expect(answer.status).toBe(200);
    expect(namesIn(sent)).toEqual([
      ...['crm__look_up', 'edit', 'apply_patch', 'shell', 'local_shell'],
      ...['computer', 'computer_use_preview'],
    ]);
    expect(JSON.stringify(sent.tools)).toContain('800 by 600');
    const losses = answer.headers.get('x-gw-losses');
    expect([losses?.includes('tools[web_search]'), losses?.includes('tools[].format')]).toEqual([true, true]);
    expect((JSON.parse(text) as { output: readonly object[] }).output).toMatchObject(ITEMS);
  });

  test('they are the same items in a stream', async () => {
    upstream.respond(CALLED);
    const [, text] = await post('/v1/responses', { input: 'Go.', tools: TOOLS, stream: true });
    const events = [...text.matchAll(/^data: (\{.*\})$/gm)].map(
      ([, data]) => JSON.parse(data!) as { type: string; item?: object },
    );
    const done = events.filter(({ type }) => type === 'response.output_item.done').map(({ item }) => item);
    expect(done).toMatchObject(ITEMS);
    expect(events.filter(({ type }) => type.startsWith('response.custom_tool_call_input'))).toMatchObject([
      { delta: 'xx' },
      { input: 'xx' },
    ]);
  });

  test('what they returned goes on as results', async () => {
    upstream.respond(chat({ content: 'Done.' }));
    const outputs = [
      { type: 'function_call_output', call_id: 'call_0', output: 'Ada' },
      { type: 'custom_tool_call_output', call_id: 'call_1', output: 'edited' },
      { type: 'apply_patch_call_output', call_id: 'call_2', status: 'completed', output: '' },
      { type: 'shell_call_output', call_id: 'call_3', output: [{ stdout: 'a.txt', stderr: '' }] },
      { type: 'local_shell_call_output', id: 'call_4', output: 'a.txt' },
      { type: 'computer_call_output', call_id: 'call_5', output: SCREEN },
      { type: 'computer_call_output', call_id: 'call_6', output: SCREEN },
    ];
    const input = [{ role: 'user', content: 'Go.' }, ...ITEMS, ...outputs];
    const [answer, , sent] = await post('/v1/responses', { input, tools: TOOLS });
    expect(answer.status).toBe(200);
    expect(sent.messages.find(({ tool_calls: made }) => made)?.tool_calls).toMatchObject([
      { function: { name: 'crm__look_up' } },
      { function: { name: 'edit', arguments: '{"input":"xx"}' } },
      { function: { name: 'apply_patch' } },
      { function: { name: 'shell' } },
      { function: { name: 'local_shell' } },
      { function: { name: 'computer', arguments: JSON.stringify({ actions: [CLICK] }) } },
      { function: { name: 'computer_use_preview' } },
    ]);
    // Screenshots go as families without pictures in results have them: after the results.
    expect(JSON.stringify(sent.messages.at(-1)).split(SCREEN.image_url)).toHaveLength(3);
    const results = sent.messages.filter(({ role }) => role === 'tool').map(({ content }) => content);
    expect(results.slice(0, 5)).toEqual(['Ada', 'edited', 'completed', '[{"stdout":"a.txt","stderr":""}]', 'a.txt']);
    expect(results).toHaveLength(7);
  });

  test('a tool of the vendor alone is refused where the choice forces it', async () => {
    const forced = { input: 'Go.', tools: TOOLS, tool_choice: { type: 'web_search' } };
    expect((await post('/v1/responses', forced))[0].status).toBe(400);
  });
});

test('on messages, shell, editor, memory and computer become functions, and searches are dropped by name', async () => {
  upstream.respond(calls(['bash', { command: 'ls' }]));
  const tools = [
    { type: 'bash_20250124', name: 'bash' },
    { type: 'text_editor_20250728', name: 'str_replace_based_edit_tool' },
    { type: 'memory_20250818', name: 'memory' },
    { type: 'computer_20250124', name: 'computer', display_width_px: 1, display_height_px: 1 },
    { type: 'web_search_20250305', name: 'web_search' },
  ];
  const body = { max_tokens: 50, tools, messages: [{ role: 'user', content: 'Go.' }] };
  const [answer, text, sent] = await post('/v1/messages', body);
  expect(namesIn(sent)).toEqual(['bash', 'str_replace_based_edit_tool', 'memory', 'computer']);
  expect(answer.headers.get('x-gw-losses')).toContain('tools[web_search_20250305]');
  expect((JSON.parse(text) as { content: readonly object[] }).content).toMatchObject([
    { type: 'tool_use', name: 'bash', input: { command: 'ls' } },
  ]);
});

describe('on chat, a tool that takes a text', () => {
  const grammar = { type: 'grammar', grammar: { syntax: 'lark', definition: 'start: /x+/' } };
  const tools = [
    { type: 'custom', custom: { name: 'edit', description: 'Edits.', format: grammar } },
    { type: 'custom', custom: { name: 'say', format: { type: 'text' } } },
    { type: 'function', function: { name: 'f', parameters: { type: 'object', properties: {} } } },
  ];
  const messages = [{ role: 'user', content: 'Go.' }];
  const called = calls(['edit', { input: 'xx "y"' }], ['f', {}]);
  const expected = [
    { id: 'call_0', type: 'custom', custom: { name: 'edit', input: 'xx "y"' } },
    { id: 'call_1', type: 'function', function: { name: 'f', arguments: '{}' } },
  ];

  test('becomes a function for a vendor without such tools, and its grammar a loss', async () => {
    upstream.respond(called);
    const choice = { type: 'custom', custom: { name: 'edit' } };
    const body = { model: 'groq/m', messages, tools, tool_choice: choice };
    const [answer, text, sent] = await post('/v1/chat/completions', body);
    expect(answer.status).toBe(200);
    expect(namesIn(sent)).toEqual(['edit', 'say', 'f']);
    expect(sent).toMatchObject({ tool_choice: { type: 'function', function: { name: 'edit' } } });
    expect(JSON.stringify(sent.tools)).toContain('start: /x+/');
    expect(answer.headers.get('x-gw-losses')).toBe('tools[].custom.format');
    const { choices } = JSON.parse(text) as { choices: { message: { tool_calls: object[] }; finish_reason: string }[] };
    expect(choices).toMatchObject([{ message: { tool_calls: expected }, finish_reason: 'tool_calls' }]);
  });

  test('is called in a stream in one piece', async () => {
    upstream.respond(called);
    const [, text] = await post('/v1/chat/completions', { model: 'groq/m', messages, tools, stream: true });
    const deltas = [...text.matchAll(/^data: (\{.*\})$/gm)].flatMap(([, data]) => {
      const { choices } = JSON.parse(data!) as { choices: { delta: { tool_calls?: object[] } }[] };
      return choices.flatMap(({ delta }) => delta.tool_calls ?? []);
    });
    expect(deltas).toContainEqual({ index: 0, ...expected[0] });
    expect(deltas.find((one) => JSON.stringify(one).includes('"f"'))).toMatchObject({ index: 1, type: 'function' });
  });

  test.each([false, true])('is told what was hidden from the model, streamed: %s', async (stream) => {
    upstream.respond(calls(['edit', { input: 'to «EMAIL_1»' }]));
    const asked = { model: 'groq/m', messages: [{ role: 'user', content: 'Of ada@corp.de.' }], tools, stream };
    const [, text, sent] = await post('/v1/chat/completions', asked);
    expect(JSON.stringify(sent)).not.toContain('ada@corp.de');
    expect(text).toContain('"input":"to ada@corp.de"');
  });

  test('goes on with what it returned', async () => {
    upstream.respond(chat({ content: 'Done.' }));
    const history = [
      ...messages,
      { role: 'assistant', content: null, tool_calls: expected },
      { role: 'tool', tool_call_id: 'call_0', content: 'edited' },
      { role: 'tool', tool_call_id: 'call_1', content: 'done' },
    ];
    const [answer, , sent] = await post('/v1/chat/completions', { model: 'groq/m', messages: history, tools });
    expect(answer.status).toBe(200);
    expect(sent.messages[1]?.tool_calls).toMatchObject([
      { function: { name: 'edit', arguments: JSON.stringify({ input: 'xx "y"' }) } },
      { function: { name: 'f' } },
    ]);
    expect(sent.messages.slice(2)).toMatchObject([{ content: 'edited' }, { content: 'done' }]);
  });

  test.each(['openai/gpt-4.1', 'upstream/m'])('reaches %s as it was written', async (model) => {
    upstream.respond(chat({ content: 'Done.' }));
    const [answer, , sent] = await post('/v1/chat/completions', { model, messages, tools });
    expect(answer.headers.get('x-gw-losses')).toBeNull();
    expect(sent.tools).toEqual(tools);
  });
});
