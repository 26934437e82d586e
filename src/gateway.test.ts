import Anthropic, { APIError } from '@anthropic-ai/sdk';
import type { FastifyInstance, LightMyRequestResponse } from 'fastify';
import OpenAI from 'openai';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { make, sha256, snapshotOf } from '#/config/testing/resources.ts';
import { GatewayError } from '#/errors/gateway-error.ts';
import { createPriceBook } from '#/meter/pricing/price-book.ts';
import type { Answer, CallRequest } from '#/call/call.ts';
import { createProviders } from '#/providers/registry.ts';
import { createTransport } from '#/providers/http/transport.ts';
import { BodyRoom } from '#/surfaces/body/body-room.ts';
import type { Stranger } from '#/surfaces/stranger.ts';
import { ENDPOINTS } from '#/surfaces/endpoints.ts';
import { OpenCalls } from '#/surfaces/open-calls.ts';
import { gate } from '../test/harness/gate.ts';
import { buildGateway } from './gateway.ts';

/** The endpoints over a pipeline that each test scripts. */

const KEY = 'gw_test_door';
const snapshot = snapshotOf([
  make('Organization', 'acme', { priceBookRef: { name: 'prices' } }),
  make('PriceBook', 'prices', { prices: [{ model: 'vendor/*', input: '1' }] }),
  make('Workload', 'bot'),
  make('VirtualKey', 'key', { hash: { value: sha256(KEY) } }),
  make('Provider', 'vendor', {
    models: ['one', 'two', 'org/three', 'four', 'five'].map((id) => ({ id })),
    onlyListedModels: true,
  }),
]);

let serve: (request: CallRequest) => AsyncGenerator<Answer>;
let served: CallRequest[];
let sealed: string[];
let strangers: Stranger[];
let calls: OpenCalls;
let turnedAway: GatewayError | undefined;
let app: FastifyInstance;

beforeEach(() => {
  serve = () => answer('{"ok":true}');
  served = [];
  sealed = [];
  strangers = [];
  calls = new OpenCalls();
  turnedAway = undefined;
  app = buildGateway({
    calls,
    pipeline: {
      serve: async (request, emit) => {
        served.push(request);
        for await (const part of serve(request)) if (!(await emit(part))) return;
      },
      refuse: ({ id }, family, { code }) => void sealed.push(`${id} ${family} ${code}`),
      pass: () => {
        throw new Error('nothing here is passed on');
      },
      anonymize: () => Promise.reject(new Error('no document is worked on here')),
      callTool: () => Promise.reject(new Error('no tool is called here')),
      offerTools: () => Promise.reject(new Error('no tools are offered here')),
      turnAway: () => turnedAway,
      leave: () => {},
    },
    onError: () => {},
    onStranger: (stranger) => void strangers.push(stranger),
    authDelayMs: 0,
    keys: { current: () => snapshot, mayHold: () => false },
    providers: createProviders(createTransport()),
    prices: createPriceBook({ usdToEur: '0.92' }),
    jobs: {
      submit: () => Promise.reject(new Error('no job is taken here')),
      find: () => Promise.reject(new Error('no job is known here')),
      cancel: () => Promise.reject(new Error('no job is known here')),
      fetch: () => Promise.reject(new Error('no job is known here')),
    },
    publicUrl: undefined,
    docsUrl: 'https://docs.test/',
    mcpOrigins: [],
    version: '0',
    bodyLimitBytes: 65_536,
    room: new BodyRoom(1024 * 1024, 65_536),
  });
});

afterEach(() => app.close());

async function* answer(text: string): AsyncGenerator<Answer> {
  yield { kind: 'accepted', stream: false, headers: { 'x-extra': '1' }, limits: {} };
  yield { kind: 'head' };
  yield { kind: 'body', text };
}

async function* stream(texts: readonly string[], error?: GatewayError): AsyncGenerator<Answer> {
  yield { kind: 'accepted', stream: true, headers: {}, limits: {} };
  yield { kind: 'head' };
  for (const text of texts) yield { kind: 'body', text };
  if (error) throw error;
}

async function* refuse(error: unknown): AsyncGenerator<Answer> {
  yield* [];
  throw error;
}

interface Sent {
  readonly method?: 'GET' | 'POST' | 'HEAD' | 'PUT' | 'DELETE';
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

function send(url: string, { method = 'POST', headers, body = '{}' }: Sent = {}): Promise<LightMyRequestResponse> {
  const type = method === 'POST' ? { 'content-type': 'application/json' } : {};
  return app.inject({
    method,
    url,
    headers: { 'x-api-key': KEY, ...type, ...headers },
    ...(method === 'POST' && { payload: body }),
  });
}

const MESSAGES_PATHS = ['/v1/messages', '/anthropic/v1/messages', '/v1/messages?beta=true'];

/** That an answer says its id wherever the protocol has a place for it; returns it. */
function idOf(reply: LightMyRequestResponse): string {
  const id = reply.headers['request-id'];
  expect(id).toMatch(/^[0-9a-f-]{36}$/);
  expect(reply.headers['x-request-id']).toBe(id);
  if (reply.statusCode >= 400) {
    expect(reply.json()).toEqual({
      type: 'error',
      error: {
        type: expect.stringMatching(/_error$|^request_too_large$/) as string,
        message: expect.any(String) as string,
      },
      request_id: id,
    });
  }
  return String(id);
}

describe('every endpoint', () => {
  const paths = ENDPOINTS.flatMap(({ surface, codec, paths: all }) =>
    all.map((path) => [path, surface, codec.family] as const),
  );

  test.each(paths)('%s hands the text as it came to the pipeline as %s', async (path, surface, family) => {
    const body = '{ "model":"vendor/one",\n"n": 1.50 }';
    const reply = await send(path, { body });
    expect(reply.statusCode).toBe(200);
    expect(reply.body).toBe('{"ok":true}');
    expect(reply.headers).toMatchObject({ 'content-type': 'application/json; charset=utf-8', 'x-extra': '1' });
    expect(served).toMatchObject([{ surface, text: body, id: reply.headers['x-request-id'] }]);
    expect(served[0]?.codec.family).toBe(family);
  });

  test.each(paths)('%s tells a stranger nothing and seals nothing', async (path) => {
    const reply = await app.inject({ method: 'POST', url: path, payload: {} });
    expect(reply.statusCode).toBe(401);
    expect(reply.json()).toMatchObject({ error: { type: 'authentication_error' } });
    expect(reply.headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/);
    expect([served, sealed]).toEqual([[], []]);
  });

  test.each(paths)('%s seals what it refuses before the pipeline', async (path, _surface, family) => {
    const reply = await send(path, { headers: { 'content-type': 'text/plain' } });
    expect(reply.statusCode).toBe(415);
    expect(sealed).toEqual([`${String(reply.headers['x-request-id'])} ${family} unsupported_media_type`]);
  });
});

test('a request that is refused for its key leaves a trail that does not have the key', async () => {
  const secret = 'gw_live_not_a_key_of_ours';
  const reply = await app.inject({ method: 'POST', url: '/v1/chat/completions', headers: { 'x-api-key': secret } });
  const hint = {
    callId: reply.headers['x-request-id'],
    address: '127.0.0.1',
    key: `sha256:${sha256(secret).slice(0, 12)}`,
  };
  await app.inject({ method: 'POST', url: '/v1/responses', payload: {} });
  expect(strangers).toMatchObject([hint, { address: '127.0.0.1', key: 'none' }]);
  expect(JSON.stringify(strangers)).not.toContain(secret);
});

test('the endpoints are those of the paths promised', () => {
  expect(ENDPOINTS.flatMap(({ paths }) => paths)).toEqual([
    '/v1/chat/completions',
    '/v1/messages',
    '/anthropic/v1/messages',
    '/v1/responses',
    '/v1/completions',
    '/v1/embeddings',
    '/v1/moderations',
    '/v1/rerank',
    '/v1/ocr',
    '/v1/systemone',
    '/v1/decisions',
    '/v1/images/generations',
  ]);
});

describe('the messages surface', () => {
  test.each(MESSAGES_PATHS)('%s carries one id on answers', async (url) => {
    expect(idOf(await send(url))).toBe(served[0]?.id);
  });

  test.each([
    ['data_protection', 422, 'invalid_request_error'],
    ['insufficient_quota', 402, 'billing_error'],
    ['model_not_found', 404, 'not_found_error'],
    ['rate_limit_exceeded', 429, 'rate_limit_error'],
    ['upstream_timeout', 504, 'api_error'],
  ] as const)('tells %s in its envelope', async (code, status, type) => {
    serve = () => refuse(new GatewayError(code, 'why', { retryAfterMs: 2000 }));
    const reply = await send('/v1/messages');
    expect(idOf(reply)).toBe(served[0]?.id);
    expect(reply.statusCode).toBe(status);
    expect(reply.json()).toMatchObject({ error: { type, message: 'why' } });
    expect(reply.headers['retry-after']).toBe('2');
    expect(reply.headers['x-should-retry']).toBe(code === 'rate_limit_exceeded' ? undefined : 'false');
  });

  test('says nothing of faults', async () => {
    serve = () => refuse(new TypeError('secret at /srv'));
    const reply = await send('/v1/messages');
    idOf(reply);
    expect(reply.body).not.toMatch(/secret|srv/);
  });

  test.each([
    ['a stranger', 401, { headers: { 'x-api-key': 'nobody' } }],
    ['two keys', 401, { headers: { authorization: 'Bearer other' } }],
    ['too large a body', 413, { body: 'x'.repeat(70_000) }],
    ['another content type', 415, { headers: { 'content-type': 'text/plain' } }],
    ['a version of another shape', 400, { headers: { 'anthropic-version': 'newest' } }],
    ['two versions', 400, { headers: { 'anthropic-version': '2023-06-01', 'vendor-version': '2023-06-02' } }],
    ['another method', 405, { method: 'GET' }],
  ] as const)('answers %s with %i', async (_name, status, sent) => {
    const reply = await send('/v1/messages', sent);
    expect(reply.statusCode).toBe(status);
    idOf(reply);
    expect(served).toEqual([]);
  });

  test('seals a refusal for its headers', async () => {
    const reply = await send('/v1/messages', { headers: { 'vendor-version': '1' } });
    expect(sealed).toEqual([`${idOf(reply)} messages invalid_request`]);
  });

  test('serves while the process is leaving, and tells clients to connect elsewhere', async () => {
    expect((await send('/v1/messages')).headers.connection).toBe('keep-alive');
    calls.isLeaving = true;
    const reply = await send('/v1/messages');
    expect(reply.statusCode).toBe(200);
    expect(reply.headers.connection).toBe('close');
    serve = () => stream(['data: {}\n\n']);
    expect((await send('/v1/messages')).headers.connection).toBe('close');
  });

  test('refuses while the process is ending', async () => {
    calls.isClosed = true;
    const reply = await send('/v1/messages');
    expect(reply.statusCode).toBe(503);
    expect(reply.json()).toMatchObject({ error: { type: 'overloaded_error' } });
    expect(sealed).toEqual([`${idOf(reply)} messages server_restarting`]);
  });

  test('gives protocol headers their one name', async () => {
    await send('/v1/messages', { headers: { 'vendor-version': '2023-06-01', 'vendor-beta': 'a,b-2' } });
    expect(served[0]?.headers).toMatchObject({ 'anthropic-version': '2023-06-01', 'anthropic-beta': 'a,b-2' });
    expect(served[0]?.headers).not.toHaveProperty('vendor-version');
  });

  test('tells a failure in mid-stream as an event', async () => {
    serve = () => stream(['event: message_start\ndata: {}\n\n'], new GatewayError('upstream_error', 'broke'));
    const reply = await send('/v1/messages');
    const id = idOf(reply);
    expect(reply.headers['content-type']).toBe('text/event-stream; charset=utf-8');
    expect(reply.body).toBe(
      `event: message_start\ndata: {}\n\nevent: error\ndata: {"type":"error","error":{"type":"api_error","message":"broke"},"request_id":"${id}"}\n\n`,
    );
  });

  test.each([
    ['/v1/messages/batches', 'GET', /batches are not supported/],
    ['/anthropic/v1/messages/batches/x/results', 'GET', /batches are not supported/],
    ['/anthropic/v1/files', 'POST', /files API is not supported/],
    ['/anthropic/v1/other?x=1', 'POST', /This path does not exist/],
    ['/anthropic', 'GET', /This path does not exist/],
  ] as const)('%s is not found by %s', async (url, method, message) => {
    const reply = await send(url, { method });
    expect(reply.statusCode).toBe(404);
    idOf(reply);
    expect(reply.json()).toMatchObject({
      error: { type: 'not_found_error', message: expect.stringMatching(message) as string },
    });
  });

  test('answers an address that is none in its envelope', async () => {
    const reply = await send('/anthropic/v1/models/%zz', { method: 'GET' });
    expect(reply.statusCode).toBe(400);
    idOf(reply);
  });
});

describe('paths that nobody serves', () => {
  test('are plain for API clients and lead browsers to the docs', async () => {
    const plain = await send('/v1/nothing', { method: 'PUT' });
    expect([plain.statusCode, plain.body]).toEqual([404, 'Not Found']);
    expect(plain.headers).not.toHaveProperty('x-gw-right-path');
    const browser = await send('/anthropic', { method: 'GET', headers: { accept: 'text/html' } });
    expect([browser.statusCode, browser.headers['location']]).toEqual([302, 'https://docs.test/']);
  });

  test.each([
    ['/chat/completions', '/v1/chat/completions'],
    ['/v1/v1/chat/completions?x=1', '/v1/chat/completions'],
    ['/v1/chat/completions/', '/v1/chat/completions'],
    ['//v1/responses', '/v1/responses'],
    ['/messages', '/v1/messages'],
    ['/v1/v1/messages', '/v1/messages'],
    ['/anthropic/messages', '/anthropic/v1/messages'],
    ['/anthropic/v1/v1/messages', '/anthropic/v1/messages'],
    ['/v1/anthropic/v1/messages', '/anthropic/v1/messages'],
    ['/models/vendor/one', '/v1/models/vendor/one'],
    ['/v2/chat/completions', undefined],
    ['/v1/messages/batches', undefined],
    [`/${'v1/'.repeat(300)}messages`, undefined],
  ])('%s names %s as the path that was meant', async (url, meant) => {
    const reply = await send(url);
    expect([reply.statusCode, reply.headers['x-gw-right-path']]).toEqual([404, meant]);
  });

  test.each([
    ['/v1/files/one', 'PUT', 'DELETE, GET'],
    ['/v1/models', 'POST', 'GET, HEAD'],
    ['/v1/models/vendor/org/three', 'DELETE', 'GET, HEAD'],
    ['/v1/messages', 'PUT', 'POST'],
  ] as const)('are told from methods: %s is not served by %s but by %s', async (url, method, allowed) => {
    const reply = await send(url, { method });
    expect([reply.statusCode, reply.headers['allow']]).toEqual([405, allowed]);
    expect(reply.json()).toMatchObject({ error: { type: 'invalid_request_error' } });
  });

  test('that are no addresses are told in the chat envelope', async () => {
    const reply = await send('/v1/%zz', { method: 'GET' });
    expect(reply.statusCode).toBe(400);
    expect(reply.json()).toMatchObject({ error: { code: 'invalid_request' } });
  });
});

test.each(['/', '/anthropic', '/anthropic/', '/api/hello', '/anthropic/api/hello'])(
  'HEAD %s needs no key',
  async (url) => {
    const head = await app.inject({ method: 'HEAD', url });
    expect([head.statusCode, head.body]).toEqual([200, '']);
    expect((await app.inject({ method: 'GET', url })).statusCode).toBe(404);
  },
);

test.each([
  ['/v1/messages', 'event: ping\ndata: {"type":"ping"}\n\n'],
  ['/v1/chat/completions', ': keepalive\n\n'],
])('%s speaks up in silence, before the answer and within it', async (url, keepalive) => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  try {
    const head = gate();
    const end = gate();
    serve = async function* () {
      yield { kind: 'accepted', stream: true, headers: {}, limits: {} };
      await head.pass();
      yield { kind: 'head' };
      yield { kind: 'body', text: 'data: 1\n\n' };
      await end.pass();
    };
    const reply = send(url);
    await head.waiting();
    vi.advanceTimersByTime(30_000);
    head.release();
    await end.waiting();
    vi.advanceTimersByTime(14_999);
    vi.advanceTimersByTime(1);
    end.release();
    expect((await reply).body).toBe(`${keepalive}${keepalive}data: 1\n\n${keepalive}`);
  } finally {
    vi.useRealTimers();
  }
});

describe('models', () => {
  const all = ['vendor/five', 'vendor/four', 'vendor/one', 'vendor/org/three', 'vendor/two'];
  const get = (url: string, headers?: Record<string, string>) =>
    send(url, { method: 'GET', ...(headers && { headers }) });
  const version = { 'vendor-version': '2023-06-01' };
  const vendorShape = {
    type: 'model',
    id: 'vendor/one',
    display_name: 'vendor/one',
    created_at: '1970-01-01T00:00:00Z',
  };
  const chatShape = { id: 'vendor/one', object: 'model', created: 0, owned_by: 'vendor' };

  test('are listed in the shape that is asked for', async () => {
    const chat = (await get('/v1/models')).json<{ object: string; data: { id: string }[] }>();
    expect(chat.object).toBe('list');
    expect(chat.data.map(({ id }) => id)).toEqual(all);
    expect(chat.data).toContainEqual(chatShape);
    for (const reply of [await get('/v1/models', version), await get('/anthropic/v1/models')]) {
      idOf(reply);
      expect(reply.json()).toMatchObject({ has_more: false, first_id: all[0], last_id: all[4] });
      expect(reply.json<{ data: unknown[] }>().data).toContainEqual(vendorShape);
    }
  });

  test.each(['vendor/one', 'vendor%2Fone'])('are found as %s', async (id) => {
    expect((await get(`/v1/models/${id}`)).json()).toEqual(chatShape);
    expect((await get(`/v1/models/${id}`, version)).json()).toEqual(vendorShape);
    expect((await get(`/anthropic/v1/models/${id}`)).json()).toEqual(vendorShape);
  });

  test.each(['vendor/org/three', 'vendor%2Forg%2Fthree', 'vendor/org%2Fthree'])('are found as %s', async (id) => {
    expect((await get(`/v1/models/${id}`)).json()).toMatchObject({ id: 'vendor/org/three' });
  });

  test.each(['vendor/none', 'nobody/one', 'vendor', 'vendor/', '/one'])('are not found as %s', async (id) => {
    const chat = await get(`/v1/models/${id}`);
    expect([chat.statusCode, chat.json()]).toMatchObject([
      404,
      { error: { type: 'not_found_error', code: 'model_not_found' } },
    ]);
    const vendor = await get(`/anthropic/v1/models/${id}`);
    expect(vendor.statusCode).toBe(404);
    idOf(vendor);
    expect(vendor.json()).toMatchObject({ error: { type: 'not_found_error' } });
  });

  test.each([
    ['vendor/fuor', 'vendor/four'],
    ['vendr/one', 'vendor/one'],
    ['five', 'vendor/five'],
    ['entirely/other', undefined],
  ])('are told their nearest names: %s is %s', async (id, near) => {
    const { message } = (await get(`/v1/models/${id}`)).json<{ error: { message: string } }>().error;
    expect(/Did you mean (.*)\?$/.exec(message)?.[1]).toBe(near);
  });

  test('need a key, a version of the right shape and sound cursors', async () => {
    const stranger = await app.inject({ method: 'GET', url: '/anthropic/v1/models' });
    expect(stranger.statusCode).toBe(401);
    idOf(stranger);
    expect((await app.inject({ method: 'GET', url: '/v1/models' })).json()).toMatchObject({
      error: { code: 'invalid_api_key' },
    });
    for (const reply of [
      await get('/v1/models', { 'vendor-version': 'x' }),
      await get('/anthropic/v1/models?limit=0'),
    ]) {
      expect(reply.statusCode).toBe(400);
      idOf(reply);
    }
    expect((await get('/v1/models?limit=0')).statusCode).toBe(200);
    expect(sealed).toEqual([]);
  });
});

describe('token counts', () => {
  const count = async (body: object): Promise<number> => {
    const reply = await send('/v1/messages/count_tokens', { body: JSON.stringify({ model: 'vendor/one', ...body }) });
    expect([reply.statusCode, Object.keys(reply.json<object>())]).toEqual([200, ['input_tokens']]);
    idOf(reply);
    return reply.json<{ input_tokens: number }>().input_tokens;
  };
  const say = (content: unknown) => ({ messages: [{ role: 'user', content }] });

  test('grow with every text a model reads', async () => {
    const base = await count(say('Hello, world'));
    expect(base).toBeGreaterThan(5);
    expect(base).toBeLessThan(20);
    expect(await count(say('Hello, world. '.repeat(100)))).toBeGreaterThan(base + 300);
    expect(await count({ ...say('Hello, world'), system: 'word '.repeat(100) })).toBeGreaterThanOrEqual(base + 100);
    const schema = { type: 'object', properties: { temperature_in_celsius: { type: 'number' } } };
    expect(await count({ ...say('Hello, world'), tools: [{ name: 't', input_schema: schema }] })).toBeGreaterThan(
      base + 10,
    );
    const image = {
      type: 'image',
      source: { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgoA'.repeat(999) },
    };
    const withImage = await count(say([{ type: 'text', text: 'Hello, world' }, image]));
    expect(withImage - base).toBeGreaterThanOrEqual(1600);
    expect(withImage - base).toBeLessThan(1640);
  });

  test('do not count what no model reads', async () => {
    const more = { metadata: { user_id: 'user '.repeat(500) }, max_tokens: 64_000, stream: true };
    expect(await count({ ...say('x'), ...more })).toBe(await count(say('x')));
  });

  test.each([
    ['no JSON', '{'],
    ['no messages', '{"model":"vendor/one"}'],
    ['no model', '{"messages":[{"role":"user","content":"x"}]}'],
    [
      'tool servers',
      '{"model":"vendor/one","messages":[{"role":"user","content":"x"}],"mcp_servers":[{"url":"https://x"}]}',
    ],
  ])('refuse %s', async (_name, body) => {
    for (const url of ['/v1/messages/count_tokens', '/anthropic/v1/messages/count_tokens']) {
      const reply = await send(url, { body });
      expect(reply.statusCode).toBe(400);
      idOf(reply);
      expect(reply.json()).toMatchObject({ error: { type: 'invalid_request_error' } });
    }
    expect([served, sealed]).toEqual([[], []]);
  });

  test('need a key', async () => {
    const reply = await app.inject({ method: 'POST', url: '/v1/messages/count_tokens', payload: {} });
    expect(reply.statusCode).toBe(401);
    idOf(reply);
  });
});

describe("the vendors' own clients", () => {
  let address: string;
  beforeEach(async () => {
    address = await app.listen({ host: '127.0.0.1', port: 0 });
  });

  describe.each(['', '/anthropic'])('of messages at %j', (prefix) => {
    const client = (): Anthropic =>
      new Anthropic({ apiKey: KEY, authToken: null, baseURL: address + prefix, maxRetries: 0 });

    test('page through models', async () => {
      const ids: string[] = [];
      for await (const model of client().models.list({ limit: 2 })) ids.push(model.id);
      expect(ids).toEqual(['vendor/five', 'vendor/four', 'vendor/one', 'vendor/org/three', 'vendor/two']);
      const back: string[] = [];
      for await (const model of client().models.list({ limit: 2, before_id: 'vendor/two' })) back.push(model.id);
      expect(back.sort()).toEqual(['vendor/five', 'vendor/four', 'vendor/one', 'vendor/org/three']);
      expect((await client().models.retrieve('vendor/org/three')).id).toBe('vendor/org/three');
    });

    test('count tokens', async () => {
      const messages = [{ role: 'user' as const, content: 'Hello' }];
      expect((await client().messages.countTokens({ model: 'vendor/one', messages })).input_tokens).toBeGreaterThan(0);
    });

    test('are told failures by class and id', async () => {
      serve = () => refuse(new GatewayError('permission_denied', 'no'));
      const call = client().messages.create({ model: 'vendor/one', max_tokens: 9, messages: [] });
      const error: unknown = await call.catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(Anthropic.PermissionDeniedError);
      expect(error).toMatchObject({ requestID: served[0]?.id });
    });

    test('are told failures in mid-stream', async () => {
      const start = 'event: ping\ndata: {"type":"ping"}\n\nevent: message_stop\ndata: {"type":"message_stop"}\n\n';
      serve = () => stream([start], new GatewayError('server_restarting', 'later'));
      const events: string[] = [];
      const reading = (async () => {
        const all = await client().messages.create({ model: 'vendor/one', max_tokens: 9, messages: [], stream: true });
        for await (const event of all) events.push(event.type);
      })();
      await expect(reading).rejects.toThrow(APIError);
      await expect(reading).rejects.toMatchObject({ type: 'overloaded_error' });
      expect(events).toEqual(['message_stop']);
    });
  });

  test('of responses are told failures in mid-stream', async () => {
    serve = () =>
      stream(['event: x\ndata: {"type":"x","sequence_number":4}\n\n'], new GatewayError('upstream_error', 'broke'));
    const client = new OpenAI({ apiKey: KEY, baseURL: `${address}/v1`, maxRetries: 0 });
    const reading = (async () => {
      const all = await client.responses.create({ model: 'vendor/one', input: 'x', stream: true });
      for await (const _ of all);
    })();
    await expect(reading).rejects.toMatchObject({ code: 'upstream_error' });
  });

  test('of chat list models', async () => {
    const client = new OpenAI({ apiKey: KEY, baseURL: `${address}/v1`, maxRetries: 0 });
    const ids: string[] = [];
    for await (const model of client.models.list()) ids.push(model.id);
    expect(ids).toHaveLength(5);
    expect(await client.models.retrieve('vendor/org/three')).toMatchObject({ owned_by: 'vendor' });
  });
});
