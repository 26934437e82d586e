import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { json, sse } from '../harness/answers.ts';
import { newKey, resource, startGateway, tenant, type GatewayProcess } from '../harness/gateway.ts';
import { rowOf } from '../harness/ledger-rows.ts';
import { createDatabase } from '../harness/postgres.ts';
import { startUpstream, type Upstream } from '../harness/upstream.ts';

/** A call costs what it costs in the way in which its answer says that it was served, at the prices of this build. */
const key = newKey();
let upstream: Upstream;
let gateway: GatewayProcess;
let databaseUrl: string;

beforeAll(async () => {
  upstream = await startUpstream();
  databaseUrl = await createDatabase(inject('databaseUrl'));
  gateway = await startGateway({
    resources: [
      ...tenant({ upstreamUrl: upstream.url, key }),
      {
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { name: 'keys', namespace: 'default' },
        stringData: { main: 'sk-own' },
      },
      ...['anthropic', 'openai'].map((vendor) =>
        resource('Provider', vendor, {
          slug: vendor,
          vendor,
          endpoint: { url: upstream.url, allowInsecure: true },
          jurisdiction: 'US',
          credentials: [{ name: 'main', type: 'APIKey', secretKeyRef: { name: 'keys', key: 'main' } }],
          retry: { attempts: 1 },
        }),
      ),
    ],
    redisUrl: inject('redisUrl'),
    databaseUrl,
    env: { GW_USD_TO_EUR: '1' },
  });
}, 60_000);

afterAll(async () => {
  await gateway?.stop();
  await upstream?.close();
});

function post(path: string, body: object): Promise<Response> {
  return fetch(gateway.url + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
    body: JSON.stringify(body),
  });
}

const message = (model: string, more: object = {}): object => ({
  model: `anthropic/${model}`,
  max_tokens: 9,
  messages: [{ role: 'user', content: 'Hi' }],
  ...more,
});

const served = { speed: 'fast', inference_geo: 'us', service_tier: 'standard' };

test('fast and in the US, as a stream tells at its start', async () => {
  const events = [
    {
      type: 'message_start',
      message: {
        id: 'm',
        type: 'message',
        role: 'assistant',
        model: 'm',
        content: [],
        usage: { input_tokens: 10, output_tokens: 1, ...served },
      },
    },
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hello there' } },
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage: { output_tokens: 5 } },
    { type: 'message_stop' },
  ];
  upstream.respond(sse(events.map((event) => ({ event: event.type, data: JSON.stringify(event) }))));
  const answer = await post('/v1/messages', message('claude-opus-5-5', { stream: true, speed: 'fast' }));
  expect(answer.status).toBe(200);
  await answer.text();
  const row = await rowOf(databaseUrl, answer.headers.get('request-id'));
  // 10 × 8.8 + 5 × 44 dollars per million.
  expect([row.service_tier, row.cost_nano_eur]).toEqual(['fast_us', '308000']);
});

test('asked for speed and served without it: billed without it', async () => {
  const usage = { input_tokens: 10, output_tokens: 5, speed: 'standard', inference_geo: 'global' };
  upstream.respond(
    json({
      id: 'm',
      type: 'message',
      role: 'assistant',
      model: 'm',
      content: [{ type: 'text', text: 'Hello' }],
      stop_reason: 'end_turn',
      stop_sequence: null,
      usage,
    }),
  );
  const answer = await post('/v1/messages', message('claude-opus-5-5', { speed: 'fast' }));
  await answer.text();
  const row = await rowOf(databaseUrl, answer.headers.get('request-id'));
  // 10 × 4 + 5 × 20.
  expect([row.service_tier, row.cost_nano_eur]).toEqual([undefined, '140000']);
});

test('speed without a price is refused before anything is sent', async () => {
  const sent = upstream.requests.length;
  const answer = await post('/v1/messages', message('claude-sonnet-5', { speed: 'fast' }));
  expect([answer.status, upstream.requests.length]).toEqual([400, sent]);
  expect(await answer.text()).toContain('in the service tier fast');
});

test('searches of files and machines are billed by the items of a response', async () => {
  const tools = [
    { type: 'file_search', vector_store_ids: [] },
    { type: 'code_interpreter', container: { type: 'auto', memory_limit: '4g' } },
  ];
  const output = [
    { type: 'file_search_call', id: 'fs_1', status: 'completed', queries: ['x'], results: null },
    {
      type: 'code_interpreter_call',
      id: 'ci_1',
      status: 'completed',
      container_id: 'cntr_1',
      code: '1',
      outputs: null,
    },
    {
      type: 'message',
      id: 'msg_1',
      role: 'assistant',
      status: 'completed',
      content: [{ type: 'output_text', text: 'Hello', annotations: [] }],
    },
  ];
  const usage = { input_tokens: 10, output_tokens: 5, total_tokens: 15 };
  upstream.respond(
    json({ id: 'resp_1', object: 'response', status: 'completed', model: 'gpt-5', output, tools, usage }),
  );
  const answer = await post('/v1/responses', { model: 'openai/gpt-5', input: 'Hi', tools, max_output_tokens: 50 });
  expect([answer.status, await answer.text()]).toEqual([200, expect.any(String)]);
  const row = await rowOf(databaseUrl, answer.headers.get('x-request-id'));
  expect(row.units).toEqual({ fileSearches: 1, containers: 4 });
  // 10 × 1.25 + 5 × 10 dollars per million, 0.0025 for the search and 4 × 0.03 for the machine.
  expect(row.cost_nano_eur).toBe(String(62_500 + 2_500_000 + 120_000_000));
});
