import OpenAI, {
  APIError,
  AuthenticationError,
  BadRequestError,
  NotFoundError,
  PermissionDeniedError,
  RateLimitError,
  UnprocessableEntityError,
} from 'openai';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { chat, echo, json } from '../harness/answers.ts';
import { newKey, resource, startGateway, tenant, type GatewayProcess } from '../harness/gateway.ts';
import { rowOf } from '../harness/ledger-rows.ts';
import { createDatabase } from '../harness/postgres.ts';
import { startUpstream, type Upstream } from '../harness/upstream.ts';

/** What an application team does on its first day, with the official SDK and nothing else changed. */

const key = newKey();
const poorKey = newKey();
const slowKey = newKey();
const blockKey = newKey();
const MODEL = 'upstream/gpt-test';
const PERSONAL = 'ada@example.com';
let upstream: Upstream;
let gateway: GatewayProcess;
let databaseUrl: string;
let client: OpenAI;

function clientFor(apiKey: string): OpenAI {
  return new OpenAI({ apiKey, baseURL: `${gateway.url}/v1`, maxRetries: 0 });
}

function workload(name: string, apiKey: string, spec: object, policy?: object): object[] {
  const [, , keyResource] = tenant({ upstreamUrl: 'http://x', key: apiKey });
  const { spec: keySpec } = keyResource as { spec: object };
  return [
    resource('Workload', name, { organizationRef: { name: 'acme' }, ...spec }),
    resource('VirtualKey', `${name}-key`, { ...keySpec, workloadRef: { name } }),
    ...(policy
      ? [resource('Policy', `${name}-policy`, { targetRefs: [{ kind: 'Workload', name }], defaults: policy })]
      : []),
  ];
}

beforeAll(async () => {
  upstream = await startUpstream();
  databaseUrl = await createDatabase(inject('databaseUrl'));
  gateway = await startGateway({
    resources: [
      ...tenant({
        upstreamUrl: upstream.url,
        key,
        policy: { dlp: { mode: 'Tokenize' }, allowedModels: ['upstream/*', 'other/*'] },
      }),
      ...workload('poor', poorKey, { budget: { amount: '0.000001', period: 'Monthly' } }),
      ...workload('slow', slowKey, { limits: { requestsPerMinute: 1 } }),
      ...workload('strict', blockKey, {}, { dlp: { mode: 'Block' }, residency: { allowedJurisdictions: ['DE'] } }),
    ],
    redisUrl: inject('redisUrl'),
    databaseUrl,
  });
  client = clientFor(key);
}, 60_000);

afterAll(async () => {
  await gateway?.stop();
  await upstream?.close();
});

async function failure(call: PromiseLike<unknown>): Promise<APIError> {
  const error: unknown = await call.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(APIError);
  return error as APIError;
}

const ask = (content: string) => ({ model: MODEL, messages: [{ role: 'user' as const, content }] });

describe('answers', () => {
  test('a buffered chat, sealed and billed as the provider reports', async () => {
    upstream.respond(
      chat({ content: 'Bonjour.', usage: { prompt_tokens: 100, completion_tokens: 20, total_tokens: 120 } }),
    );
    const { data, response } = await client.chat.completions.create(ask('Say hello')).withResponse();
    expect(data.choices[0]?.message.content).toBe('Bonjour.');
    expect(data.usage?.total_tokens).toBe(120);
    const row = await rowOf(databaseUrl, response.headers.get('x-request-id'));
    // 100 × 2 EUR + 20 × 8 EUR a million tokens
    expect(row).toMatchObject({
      outcome: 'served',
      status: 200,
      cost_nano_eur: '360000',
      usage_source: 'provider',
      provider: 'upstream',
    });
    expect(JSON.parse(upstream.requests.at(-1)!.body)).toEqual({ ...ask('Say hello'), model: 'gpt-test' });
  });

  test('a stream with its usage frame, equal to what is billed', async () => {
    upstream.respond(
      chat({ content: ['Bon', 'jour', '.'], usage: { prompt_tokens: 7, completion_tokens: 3, total_tokens: 10 } }),
    );
    const { data: stream, response } = await client.chat.completions
      .create({ ...ask('Say hello'), stream: true, stream_options: { include_usage: true } })
      .withResponse();
    let text = '';
    let usage: OpenAI.CompletionUsage | null | undefined;
    for await (const chunk of stream) {
      text += chunk.choices[0]?.delta.content ?? '';
      usage = chunk.usage ?? usage;
    }
    expect(text).toBe('Bonjour.');
    expect(usage).toMatchObject({ prompt_tokens: 7, completion_tokens: 3 });
    expect(response.headers.get('cache-control')).toBe('no-cache');
    expect(response.headers.get('x-accel-buffering')).toBe('no');
    const row = await rowOf(databaseUrl, response.headers.get('x-request-id'));
    expect(row).toMatchObject({
      stream: true,
      usage: { input: 7, output: 3 },
      cost_nano_eur: String(7 * 2000 + 3 * 8000),
    });
  });

  test('a stream whose client did not ask for usage sees none, and is billed exactly all the same', async () => {
    upstream.respond(chat({ content: 'Hi', usage: { prompt_tokens: 9, completion_tokens: 1, total_tokens: 10 } }));
    const { data: stream, response } = await client.chat.completions
      .create({ ...ask('Say hello'), stream: true })
      .withResponse();
    for await (const chunk of stream) {
      expect(chunk.usage ?? null).toBeNull();
      expect(chunk.choices).not.toHaveLength(0);
    }
    expect(await rowOf(databaseUrl, response.headers.get('x-request-id'))).toMatchObject({
      usage: { input: 9, output: 1 },
      usage_source: 'provider',
    });
  });

  test('a provider that never reports usage: the client gets our count, and is billed by it', async () => {
    upstream.respond(chat({ content: 'x'.repeat(400), usage: null }));
    const stream = await client.chat.completions
      .create({ ...ask('Say hello'), stream: true, stream_options: { include_usage: true } })
      .withResponse();
    let usage: OpenAI.CompletionUsage | null | undefined;
    for await (const chunk of stream.data) usage = chunk.usage ?? usage;
    const row = await rowOf(databaseUrl, stream.response.headers.get('x-request-id'));
    expect(row.usage_source).toBe('estimated');
    expect(usage).toMatchObject({ prompt_tokens: row.usage!.input, completion_tokens: 100 });
  });

  test('personal data goes out as tags and comes back as it was, in text and in tool-call arguments', async () => {
    upstream.respond(echo({ cutAt: 'every-unit' }));
    const stream = await client.chat.completions.create({ ...ask(`Write to ${PERSONAL} now`), stream: true });
    let text = '';
    for await (const chunk of stream) text += chunk.choices[0]?.delta.content ?? '';
    expect(text).toBe(`Write to ${PERSONAL} now`);
    expect(upstream.requests.at(-1)!.body).toContain('Write to «EMAIL_1» now');
    upstream.respond(echo({ as: 'tool-arguments' }));
    const answer = await client.chat.completions.create({
      ...ask(PERSONAL),
      tools: [
        {
          type: 'function',
          function: { name: 'echo', parameters: { type: 'object', properties: { text: { type: 'string' } } } },
        },
      ],
    });
    const call = answer.choices[0]?.message.tool_calls?.[0];
    expect(call?.type === 'function' && JSON.parse(call.function.arguments)).toEqual({ text: PERSONAL });
  });

  test('a tool loop: the next turn sends the same tags', async () => {
    upstream.respond(chat({ content: 'Done.' }));
    await client.chat.completions.create({
      model: MODEL,
      messages: [
        { role: 'user', content: `Mail ${PERSONAL}` },
        {
          role: 'assistant',
          content: null,
          tool_calls: [
            { id: 'call_1', type: 'function', function: { name: 'mail', arguments: JSON.stringify({ to: PERSONAL }) } },
          ],
        },
        { role: 'tool', tool_call_id: 'call_1', content: `sent to ${PERSONAL}, copy to grace@example.org` },
      ],
    });
    const sent = JSON.parse(upstream.requests.at(-1)!.body) as {
      messages: { content: string; tool_calls?: { function: { arguments: string } }[] }[];
    };
    expect(sent.messages[0]!.content).toBe('Mail «EMAIL_1»');
    expect(JSON.parse(sent.messages[1]!.tool_calls![0]!.function.arguments)).toEqual({ to: '«EMAIL_1»' });
    expect(sent.messages[2]!.content).toBe('sent to «EMAIL_1», copy to «EMAIL_2»');
  });

  test('gw.remove takes terms out of the prompt and puts them back', async () => {
    upstream.respond(echo());
    const body = { ...ask('Project Falcon is late'), gw: { remove: [{ term: 'Falcon', label: 'project' }] } };
    const answer = await client.chat.completions.create(body);
    expect(answer.choices[0]?.message.content).toBe('Project Falcon is late');
    expect(JSON.parse(upstream.requests.at(-1)!.body)).toEqual({
      ...ask('Project «PROJECT_1» is late'),
      model: 'gpt-test',
    });
  });
});

describe('errors', () => {
  const dispatched = () => upstream.requests.length;

  test.each([
    ['a model without its provider', { ...ask('x'), model: 'gpt-test' }, 'model_not_prefixed', 'model'],
    ['no messages', { model: MODEL, messages: [] }, 'invalid_request', 'messages'],
    ['a misspelt extension', { ...ask('x'), gw: { removes: [] } }, 'invalid_request', 'gw'],
  ])('400 for %s', async (_name, body, code, param) => {
    const before = dispatched();
    const error = await failure(client.chat.completions.create(body as OpenAI.ChatCompletionCreateParamsNonStreaming));
    expect(error).toBeInstanceOf(BadRequestError);
    expect(error).toMatchObject({ status: 400, type: 'invalid_request_error', code, param });
    expect(dispatched()).toBe(before);
    expect(await rowOf(databaseUrl, error.headers?.get('x-request-id'))).toMatchObject({
      outcome: 'refused',
      code,
      status: 400,
      cost_nano_eur: '0',
    });
  });

  test('400 for the removed header x-gw-dlp', async () => {
    const error = await failure(client.chat.completions.create(ask('x'), { headers: { 'x-gw-dlp': 'off' } }));
    expect(error).toMatchObject({ status: 400, code: 'header_removed' });
  });

  test('401 for an unknown key', async () => {
    const error = await failure(clientFor('gw_live_nobody').chat.completions.create(ask('x')));
    expect(error).toBeInstanceOf(AuthenticationError);
    expect(error).toMatchObject({ type: 'authentication_error', code: 'invalid_api_key' });
  });

  test('x-api-key is as good as a bearer, and both must agree', async () => {
    upstream.respond(chat({ content: 'Hello.' }));
    const post = (headers: Record<string, string>) =>
      fetch(`${gateway.url}/v1/chat/completions`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify(ask('x')),
      });
    expect((await post({ 'x-api-key': key })).status).toBe(200);
    expect((await post({ 'x-api-key': key, authorization: `Bearer ${key}` })).status).toBe(200);
    expect((await post({ 'x-api-key': key, authorization: `Bearer ${slowKey}` })).status).toBe(401);
    expect((await post({})).status).toBe(401);
  });

  test('402 when the budget does not cover what the call may cost', async () => {
    const before = dispatched();
    const error = await failure(clientFor(poorKey).chat.completions.create(ask('x')));
    expect(error).toMatchObject({ status: 402, type: 'insufficient_quota', code: 'insufficient_quota' });
    expect(dispatched()).toBe(before);
    expect(await rowOf(databaseUrl, error.headers?.get('x-request-id'))).toMatchObject({
      step: 'meter',
      code: 'insufficient_quota',
    });
  });

  test('403 for a model off the allow-list, 403 for residency with its reason', async () => {
    const denied = await failure(client.chat.completions.create({ ...ask('x'), model: 'secret/model' }));
    expect(denied).toBeInstanceOf(PermissionDeniedError);
    expect(denied).toMatchObject({ type: 'permission_error', code: 'permission_denied' });
    expect(await rowOf(databaseUrl, denied.headers?.get('x-request-id'))).toMatchObject({
      step: 'route',
      code: 'permission_denied',
    });
    const outside = await failure(clientFor(blockKey).chat.completions.create(ask('x')));
    expect(outside).toMatchObject({ status: 403, type: 'permission_error', code: 'residency_denied' });
    expect(outside.message).toContain('upstream is in EU');
  });

  test('404 for a provider that is not there', async () => {
    const error = await failure(client.chat.completions.create({ ...ask('x'), model: 'other/model' }));
    expect(error).toBeInstanceOf(NotFoundError);
    expect(error).toMatchObject({ code: 'model_not_found' });
  });

  test('422 when data protection blocks, without saying what was found', async () => {
    const before = dispatched();
    const error = await failure(clientFor(blockKey).chat.completions.create(ask(`Mail ${PERSONAL}`)));
    expect(error).toBeInstanceOf(UnprocessableEntityError);
    expect(error).toMatchObject({ type: 'invalid_request_error', code: 'data_protection' });
    expect(error.message).toContain('EMAIL');
    expect(error.message).not.toContain(PERSONAL);
    expect(dispatched()).toBe(before);
    const row = await rowOf(databaseUrl, error.headers?.get('x-request-id'));
    expect(row).toMatchObject({ step: 'inspect', dlp: { mode: 'block', findings: { EMAIL: 1 } } });
    expect(JSON.stringify(row)).not.toContain(PERSONAL);
  });

  test('429 with Retry-After when the rate is used up', async () => {
    upstream.respond(chat({ content: 'Hello.' }));
    const slow = clientFor(slowKey);
    const { response } = await slow.chat.completions.create(ask('x')).withResponse();
    expect(response.headers.get('x-ratelimit-limit-requests')).toBe('1');
    expect(response.headers.get('x-ratelimit-remaining-requests')).toBe('0');
    const error = await failure(slow.chat.completions.create(ask('x')));
    expect(error).toBeInstanceOf(RateLimitError);
    expect(error).toMatchObject({ type: 'rate_limit_error', code: 'rate_limit_exceeded' });
    const wait = Number(error.headers?.get('retry-after'));
    expect(wait).toBeGreaterThan(0);
    expect(wait).toBeLessThanOrEqual(61);
  });

  test('the provider’s own refusal keeps its status and words', async () => {
    upstream.respond(
      json({ error: { message: 'max_tokens is too large', type: 'invalid_request_error', code: null } }, 400),
    );
    const error = await failure(client.chat.completions.create(ask('x')));
    expect(error).toMatchObject({ status: 400, code: 'provider_rejected_request' });
    expect(error.message).toContain('max_tokens is too large');
  });

  test('a failing provider: every attempt is told, and client SDKs are told not to multiply them', async () => {
    upstream.respond(json({ error: { message: 'overloaded, come back' } }, 500));
    const before = dispatched();
    const error = await failure(
      new OpenAI({ apiKey: key, baseURL: `${gateway.url}/v1`, maxRetries: 2 }).chat.completions.create(ask('x')),
    );
    expect(error).toMatchObject({ status: 502, type: 'api_error', code: 'upstream_error' });
    expect(error.message).toContain('overloaded, come back');
    const { gw } = error.error as { gw: { cause: string; attempts: { status: number; duration_ms: number }[] } };
    expect(gw.cause).toBe('status');
    expect(gw.attempts).toHaveLength(2);
    expect(gw.attempts[0]).toMatchObject({ provider: 'upstream', model: 'gpt-test', status: 500 });
    expect(dispatched()).toBe(before + 2);
  });

  test('an error in mid-stream reaches the SDK as an error', async () => {
    upstream.respond(chat({ content: ['a', 'b'], finishReason: null, done: false }));
    const stream = await client.chat.completions.create({ ...ask('x'), stream: true });
    let text = '';
    const error = await failure(
      (async () => {
        for await (const chunk of stream) text += chunk.choices[0]?.delta.content ?? '';
      })(),
    );
    expect(text).toBe('ab');
    expect(error).toMatchObject({ code: 'upstream_error', type: 'api_error' });
  });
});

describe('paths nobody serves', () => {
  test('a browser is shown the docs, an API client a plain 404', async () => {
    const browser = await fetch(gateway.url, { headers: { accept: 'text/html,*/*' }, redirect: 'manual' });
    expect(browser.status).toBe(302);
    expect(browser.headers.get('location')).toMatch(/^https:/);
    const api = await fetch(`${gateway.url}/v1/nothing`, { headers: { accept: 'application/json' } });
    expect(api.status).toBe(404);
    expect(await api.text()).toBe('Not Found');
  });
});
