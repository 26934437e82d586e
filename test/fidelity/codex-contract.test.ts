import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { sse } from '../harness/answers.ts';
import { newKey, resource, startGateway, tenant, type GatewayProcess } from '../harness/gateway.ts';
import { createDatabase } from '../harness/postgres.ts';
import { startUpstream, type Upstream } from '../harness/upstream.ts';

/** What Codex needs of a provider of `config.toml` with `wire_api = "responses"`, in front of OpenAI. */
const key = newKey();
let upstream: Upstream;
let gateway: GatewayProcess;

beforeAll(async () => {
  upstream = await startUpstream();
  gateway = await startGateway({
    redisUrl: inject('redisUrl'),
    databaseUrl: await createDatabase(inject('databaseUrl')),
    resources: [
      ...tenant({ upstreamUrl: upstream.url, key }),
      {
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { name: 'keys', namespace: 'default' },
        stringData: { main: 'sk-own' },
      },
      resource('Provider', 'openai', {
        slug: 'openai',
        vendor: 'openai',
        endpoint: { url: upstream.url, allowInsecure: true },
        jurisdiction: 'US',
        credentials: [{ name: 'main', type: 'APIKey', secretKeyRef: { name: 'keys', key: 'main' } }],
      }),
    ],
  });
}, 60_000);

afterAll(async () => {
  await gateway?.stop();
  await upstream?.close();
});

const headers = {
  'content-type': 'application/json',
  accept: 'text/event-stream',
  authorization: `Bearer ${key}`,
  originator: 'codex_exec',
  session_id: '019b0000-0000-7000-8000-000000000001',
  'user-agent': 'codex_exec/0.169.0',
};

const body = (model: string): string =>
  `{"model":"${model}","instructions":"You are Codex.","input":[{"type":"message","role":"user","content":[{"type":"input_text","text":"Hi"}]},` +
  '{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"c2VhbGVk+/=="},{"type":"message","role":"user","content":[{"type":"input_text","text":"Go on"}]}],' +
  '"tools":[{"type":"function","name":"exec_command","strict":false,"parameters":{"type":"object","properties":{"cmd":{"type":"string"}}}},{"type":"custom","name":"apply_patch","format":{"type":"grammar","syntax":"lark","definition":"start: /a/"}}],' +
  '"tool_choice":"auto","parallel_tool_calls":true,"reasoning":{"effort":"medium","summary":"auto"},"store":false,"stream":true,"include":["reasoning.encrypted_content"],"text":{"verbosity":"medium"},"future_member":1.0}';

test('a turn reaches the vendor byte for byte, sealed thoughts in it, and its events come back as they are', async () => {
  const response = {
    id: 'resp_1',
    object: 'response',
    status: 'completed',
    output: [],
    usage: { input_tokens: 9, output_tokens: 1, total_tokens: 10 },
  };
  const events = [
    { type: 'response.created', sequence_number: 0, response: { ...response, status: 'in_progress', usage: null } },
    { type: 'response.news', sequence_number: 1, what: 'unknown' },
    { type: 'response.completed', sequence_number: 2, response },
  ].map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
  upstream.respond(sse(events.map((raw) => ({ raw }))));
  const answer = await fetch(`${gateway.url}/v1/responses`, { method: 'POST', headers, body: body('openai/gpt-5') });
  expect([answer.status, await answer.text()]).toEqual([200, events.join('')]);
  const sent = upstream.requests.at(-1)!;
  expect(sent.body).toBe(body('gpt-5'));
  expect(['originator', 'session_id'].filter((name) => name in sent.headers)).toEqual([]);
  expect(sent.headers.authorization).toBe('Bearer sk-own');
});

test('models are listed at the address itself', async () => {
  const answer = await fetch(`${gateway.url}/v1/models?client_version=0.169.0`, { headers, redirect: 'error' });
  const { object, data } = (await answer.json()) as { object: string; data: { id: string }[] };
  expect([object, data.some(({ id }) => id === 'openai/gpt-5')]).toEqual(['list', true]);
});

test('a socket is refused, so that the client goes on over HTTP', async () => {
  const answer = await fetch(`${gateway.url}/v1/responses`, { headers });
  expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'POST']);
});
