import OpenAI from 'openai';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startDocumentWorld, type DocumentWorld } from '../documents/world.ts';
import { chat } from '../harness/answers.ts';
import { startDocumentEngine, type EngineProcess } from '../harness/document-engine.ts';
import { rowsOfRequest } from '../harness/ledger-rows.ts';
import { startUpstream, type Upstream } from '../harness/upstream.ts';

/** The gateway's own tools, named in requests to a model: the gateway runs them as it does those of servers. */

const TOOLS = [{ type: 'mcp', server_label: 'gw', require_approval: 'never', allowed_tools: ['anonymize_text'] }];
let engine: EngineProcess;
let model: Upstream;
let world: DocumentWorld;

beforeAll(async () => {
  [engine, model] = await Promise.all([startDocumentEngine(), startUpstream()]);
  await engine.ready();
  world = await startDocumentWorld({
    documentsUrl: engine.url,
    upstreamUrl: model.url,
    prices: [
      { model: 'upstream/*', input: '2', output: '8' },
      { model: 'gw/anonymize', unit: 'Page', input: '0.001' },
    ],
    applications: { closed: { policy: { allowedTools: ['crm/*'] } } },
  });
}, 60_000);

afterAll(async () => {
  await world?.[Symbol.asyncDispose]();
  await Promise.all([engine?.stop(), model?.close()]);
});

const client = (as = 'app') =>
  new OpenAI({ apiKey: world.keys[as] ?? '', baseURL: `${world.gateway.url}/v1`, maxRetries: 0 });
const call = (args: object) =>
  chat({ content: '', toolCalls: [{ id: 'a', name: 'gw__anonymize_text', arguments: JSON.stringify(args) }] });

test('responses: a model has a text anonymized, and the call has the row and price of its endpoint', async () => {
  model.respond([call({ text: 'Mail ada@example.com' }), chat({ content: 'Done.' })]);
  const { data, request_id: id } = await client()
    .responses.create({ model: 'upstream/m', input: 'Anonymize.', tools: TOOLS as OpenAI.Responses.Tool[] })
    .withResponse();
  expect(data.output.map(({ type }) => type)).toEqual(['mcp_list_tools', 'mcp_call', 'message']);
  expect(data.output[0]).toMatchObject({ server_label: 'gw', tools: [{ name: 'anonymize_text' }] });
  expect(data.output[1]).toMatchObject({
    ...{ server_label: 'gw', name: 'anonymize_text', status: 'completed' },
    output: expect.stringContaining('Mail «EMAIL_1»') as string,
  });
  const rows = await rowsOfRequest(world.databaseUrl, String(id), 3);
  expect(rows.map((row) => [row.surface, row.model, row.parent ?? null])).toEqual([
    ['responses', 'upstream/m', null],
    ['mcp', 'gw/anonymize', id],
    ['responses', 'upstream/m', id],
  ]);
  expect(Number(rows[1]?.cost_nano_eur)).toBeGreaterThan(0);
});

test('chat: the model is given what the tool refuses, and goes on', async () => {
  model.respond([call({ nothing: 1 }), chat({ content: 'Sorry.' })]);
  const answer = await client().chat.completions.create({
    model: 'upstream/m',
    messages: [{ role: 'user', content: 'Anonymize.' }],
    tools: TOOLS as unknown as OpenAI.Chat.Completions.ChatCompletionTool[],
  });
  expect(answer.choices[0]?.message.content).toBe('Sorry.');
  expect(model.requests.at(-1)?.body).toContain(
    'Refused by Gatewarden (invalid_request): params.arguments may have only',
  );
});

test('a workload that policy keeps them from, and tools that are not there, are refused', async () => {
  const before = model.requests.length;
  const ask = (as: string, more: object) =>
    client(as).responses.create({
      model: 'upstream/m',
      input: 'x',
      tools: [{ ...TOOLS[0], ...more }] as OpenAI.Responses.Tool[],
    });
  await expect(ask('closed', {})).rejects.toMatchObject({ status: 400, param: 'tools[0]' });
  await expect(ask('app', { allowed_tools: ['drop'] })).rejects.toMatchObject({ status: 400, param: 'tools[0]' });
  expect(model.requests).toHaveLength(before);
});
