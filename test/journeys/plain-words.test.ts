import { afterAll, beforeAll, beforeEach, describe, expect, inject, test } from 'vitest';
import { chat, json, sse } from '../harness/answers.ts';
import { newKey, resource, startGateway, tenant, type GatewayProcess } from '../harness/gateway.ts';
import { createDatabase } from '../harness/postgres.ts';
import { startUpstream, type Upstream } from '../harness/upstream.ts';

/** What callers are told: what is wrong, in the words of whoever knows. */

const key = newKey();
let upstream: Upstream;
let gateway: GatewayProcess;

const SECRET = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'keys', namespace: 'default' } };
const credentials = [{ name: 'one', type: 'APIKey', secretKeyRef: { name: 'keys', key: 'key' } }];

beforeAll(async () => {
  upstream = await startUpstream();
  const endpoint = { url: upstream.url, allowInsecure: true };
  const provider = (slug: string, spec: object): object =>
    resource('Provider', slug, { slug, jurisdiction: 'EU', endpoint, credentials, ...spec });
  gateway = await startGateway({
    resources: [
      ...tenant({
        upstreamUrl: upstream.url,
        key,
        policy: { dlp: { mode: 'AllowLog', documents: 'Off' } },
        prices: [
          ...['upstream', 'claude', 'openai', 'managed'].map((slug) => ({
            model: `${slug}/*`,
            input: '2',
            output: '8',
          })),
          { model: 'upstream/*', unit: 'Page', input: '0.01' },
        ],
      }),
      provider('claude', { protocol: 'Messages' }),
      provider('openai', { vendor: 'openai' }),
      provider('managed', {
        vendor: 'openai',
        keyOwnership: 'Managed',
        allowedOrganizations: { from: 'Selector', selector: { matchLabels: {} } },
        priceBookRef: { name: 'prices' },
      }),
      { ...SECRET, stringData: { key: 'sk-test-of-the-operator' } },
    ],
    redisUrl: inject('redisUrl'),
    databaseUrl: await createDatabase(inject('databaseUrl')),
  });
}, 60_000);

afterAll(async () => {
  await gateway?.stop();
  await upstream?.close();
});

beforeEach(() => upstream.respond(chat({ content: 'Hello.' })));

const HEADERS = { 'content-type': 'application/json' };
const post = (path: string, body: object, headers: Record<string, string> = {}): Promise<Response> =>
  fetch(gateway.url + path, {
    method: 'POST',
    headers: { ...HEADERS, authorization: `Bearer ${key}`, ...headers },
    body: JSON.stringify(body),
  });
const MESSAGES = [{ role: 'user', content: 'Hi.' }];
const ask = (model: string, more: object = {}, headers: Record<string, string> = {}): Promise<Response> =>
  post('/v1/chat/completions', { model, max_tokens: 10, messages: MESSAGES, ...more }, headers);

interface Told {
  readonly error: { readonly code: string; readonly message: string; readonly gw?: { readonly cause: string } };
}
const toldBy = async (answer: Response): Promise<Told['error']> => ((await answer.json()) as Told).error;

describe('a provider that refuses its account', () => {
  test.each([
    [401, 'credentials', 'The provider refused the credentials configured for it: Your key is gone.'],
    [403, 'forbidden', 'The provider refused this request for the account configured for it: Your key is gone.'],
  ])('is quoted: %i', async (status, cause, message) => {
    upstream.respond(json({ error: { message: 'Your key is gone.' } }, status));
    const answer = await ask(`openai/gpt-${status}`);
    expect(answer.status).toBe(502);
    expect(await toldBy(answer)).toMatchObject({ code: 'upstream_error', message, gw: { cause } });
  });

  test('is not quoted with the credential, and of the platform not at all', async () => {
    const words = 'Incorrect API key: sk-test-of-the-operator.';
    upstream.respond(json({ error: { message: words } }, 401));
    const own = await toldBy(await ask('openai/gpt-own'));
    expect(own.message).toContain('Incorrect API key:');
    expect(own.message).not.toContain('sk-test-of-the-operator');
    const managed = await toldBy(await ask('managed/gpt-4o'));
    expect(managed.message).toBe('The provider refused the credentials configured for it.');
  });
});

describe('an overloaded provider says so in mid-stream', () => {
  const start = { type: 'message_start', message: { id: 'm', type: 'message', role: 'assistant', content: [] } };
  const overloaded = { type: 'error', error: { type: 'overloaded_error', message: 'Busy.' } };
  const frames = [start, overloaded].map((body) => ({ event: body.type, data: body }));

  test('to a client of its own protocol', async () => {
    upstream.respond(sse(frames));
    const answer = await post('/v1/messages', { model: 'claude/m', max_tokens: 5, stream: true, messages: MESSAGES });
    const text = await answer.text();
    expect(text).toContain('"type":"overloaded_error"');
    expect(text).toContain('Busy.');
  });

  test('and to one of another', async () => {
    upstream.respond(sse(frames));
    expect(await (await ask('claude/m', { stream: true })).text()).toContain('"code":"upstream_overloaded"');
  });
});

test.each([
  ['/v1/chat/completions', { reasoning_effort: 'bogus', messages: MESSAGES }, 'reasoning_effort'],
  ['/v1/chat/completions', { reasoning_effort: 3, messages: MESSAGES }, 'reasoning_effort'],
  ['/v1/responses', { reasoning: { effort: 'bogus' }, input: 'Hi.' }, 'reasoning.effort'],
])('%s: an effort that nobody has a word for is 400 everywhere: %j', async (path, body, param) => {
  const before = upstream.requests.length;
  for (const model of ['upstream/m', 'claude/m', 'openai/gpt-5', 'openai/gpt-4o']) {
    const answer = await post(path, { model, ...body });
    expect([model, answer.status]).toEqual([model, 400]);
    expect(await answer.json()).toMatchObject({ error: { code: 'invalid_request', param } });
  }
  expect(upstream.requests).toHaveLength(before);
});

test.each([null, 'low', 'none', 'xhigh', 'default'])('the effort %s is none of these', async (effort) => {
  for (const model of ['upstream/m', 'openai/gpt-5']) {
    expect([model, (await ask(model, { reasoning_effort: effort })).status]).toEqual([model, 200]);
  }
});

test('documents to be read come from https: addresses or inline', async () => {
  const read = (document_url: string): Promise<Response> =>
    post('/v1/ocr', { model: 'upstream/ocr', document: { type: 'document_url', document_url } });
  const plain = await read('http://files.example/one.pdf');
  expect(plain.status).toBe(400);
  expect(await toldBy(plain)).toMatchObject({ message: expect.stringContaining('https:') as string });
  const before = upstream.requests.length;
  await read('https://files.example/one.pdf');
  expect(upstream.requests).toHaveLength(before + 1);
});

describe('a server of one’s own that speaks the messages format gets cache directives as they were written', () => {
  const mark = { type: 'ephemeral', ttl: '1h' };
  const answer = {
    ...{ id: 'm', type: 'message', role: 'assistant', model: 'm', stop_reason: 'end_turn', stop_sequence: null },
    ...{ content: [{ type: 'text', text: 'Hi.' }], usage: { input_tokens: 1, output_tokens: 1 } },
  };
  const parts = Array.from({ length: 6 }, (_, at) => ({ type: 'text', text: `part ${at}`, cache_control: mark }));

  test.each(['m', 'claude-sonnet-4-5'])('from the chat format, for %s', async (model) => {
    upstream.respond(json(answer));
    const sent = { prompt_cache_key: 'ours', messages: [{ role: 'user', content: parts }] };
    const reply = await ask(`claude/${model}`, sent);
    expect([reply.status, reply.headers.get('x-gw-losses')]).toEqual([200, null]);
    const { body } = upstream.requests.at(-1)!;
    expect(JSON.parse(String(body))).toMatchObject({
      prompt_cache_key: 'ours',
      messages: [{ role: 'user', content: parts }],
    });
  });

  test('and from its own', async () => {
    upstream.respond(json(answer));
    const sent = { max_tokens: 5, prompt_cache_key: 'ours', messages: [{ role: 'user', content: parts }] };
    expect((await post('/v1/messages', { model: 'claude/m', ...sent })).status).toBe(200);
    expect(JSON.parse(String(upstream.requests.at(-1)!.body))).toEqual({ model: 'm', ...sent });
  });
});

test('a timeout above the workload’s is cut to it, and the answer says so', async () => {
  const told = async (seconds: string): Promise<unknown[]> => {
    const reply = await ask('upstream/m', {}, { 'x-gw-upstream-timeout': seconds });
    return [reply.status, reply.headers.get('x-gw-upstream-timeout')];
  };
  expect(await told('300')).toEqual([200, null]);
  expect(await told('3600')).toEqual([200, '300']);
  expect(await told('0')).toEqual([400, null]);
  const streamed = await ask('upstream/m', { stream: true }, { 'x-gw-upstream-timeout': '3600' });
  await streamed.text();
  expect(streamed.headers.get('x-gw-upstream-timeout')).toBe('300');
});

test.each([
  ['claude-sonnet-4-5', 64_000],
  ['claude-3-haiku-20240307', 4096],
  ['m', 16_384],
])('%s is told the longest answer that it has where nobody says how long: %i', async (model, most) => {
  upstream.respond(json({ type: 'error', error: { type: 'invalid_request_error', message: 'No.' } }, 400));
  await ask(`claude/${model}`, { max_tokens: undefined });
  expect(JSON.parse(upstream.requests.at(-1)!.body)).toMatchObject({ max_tokens: most });
  await ask(`claude/${model}`, { max_tokens: 7 });
  expect(JSON.parse(upstream.requests.at(-1)!.body)).toMatchObject({ max_tokens: 7 });
});
