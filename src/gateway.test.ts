import Anthropic, { APIError } from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { sha256 } from '#/config/testing/resources.ts';
import { GatewayError } from '#/errors/gateway-error.ts';
import { ENDPOINTS } from '#/surfaces/endpoints.ts';
import { gate } from '../test/harness/gate.ts';
import { idOf, KEY, refuse, scriptedGateway, stream } from '../test/harness/scripted-gateway.ts';

const scripted = scriptedGateway();

const MESSAGES_PATHS = ['/v1/messages', '/anthropic/v1/messages', '/v1/messages?beta=true'];

describe('every endpoint', () => {
  const paths = ENDPOINTS.flatMap(({ surface, codec, paths: all }) =>
    all.map((path) => [path, surface, codec.family] as const),
  );

  test.each(paths)('%s hands the text as it came to the pipeline as %s', async (path, surface, family) => {
    const body = '{ "model":"vendor/one",\n"n": 1.50 }';
    const reply = await scripted.send(path, { body });
    expect(reply.statusCode).toBe(200);
    expect(reply.body).toBe('{"ok":true}');
    expect(reply.headers).toMatchObject({ 'content-type': 'application/json; charset=utf-8', 'x-extra': '1' });
    expect(scripted.served).toMatchObject([{ surface, text: body, id: reply.headers['x-request-id'] }]);
    expect(scripted.served[0]?.codec.family).toBe(family);
  });

  test.each(paths)('%s tells a stranger nothing and seals nothing', async (path) => {
    const reply = await scripted.app.inject({ method: 'POST', url: path, payload: {} });
    expect(reply.statusCode).toBe(401);
    expect(reply.json()).toMatchObject({ error: { type: 'authentication_error' } });
    expect(reply.headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/);
    expect([scripted.served, scripted.sealed]).toEqual([[], []]);
  });

  test.each(paths)('%s seals what it refuses before the pipeline', async (path, _surface, family) => {
    const reply = await scripted.send(path, { headers: { 'content-type': 'text/plain' } });
    expect(reply.statusCode).toBe(415);
    expect(scripted.sealed).toEqual([`${String(reply.headers['x-request-id'])} ${family} unsupported_media_type`]);
  });
});

test('a request that is refused for its key leaves a trail that does not have the key', async () => {
  const secret = 'gw_live_not_a_key_of_ours';
  const reply = await scripted.app.inject({
    method: 'POST',
    url: '/v1/chat/completions',
    headers: { 'x-api-key': secret },
  });
  const hint = {
    callId: reply.headers['x-request-id'],
    address: '127.0.0.1',
    key: `sha256:${sha256(secret).slice(0, 12)}`,
  };
  await scripted.app.inject({ method: 'POST', url: '/v1/responses', payload: {} });
  expect(scripted.strangers).toMatchObject([hint, { address: '127.0.0.1', key: 'none' }]);
  expect(JSON.stringify(scripted.strangers)).not.toContain(secret);
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
    expect(idOf(await scripted.send(url))).toBe(scripted.served[0]?.id);
  });

  test.each([
    ['data_protection', 422, 'invalid_request_error'],
    ['insufficient_quota', 402, 'billing_error'],
    ['model_not_found', 404, 'not_found_error'],
    ['rate_limit_exceeded', 429, 'rate_limit_error'],
    ['upstream_timeout', 504, 'api_error'],
  ] as const)('tells %s in its envelope', async (code, status, type) => {
    scripted.serve = () => refuse(new GatewayError(code, 'why', { retryAfterMs: 2000 }));
    const reply = await scripted.send('/v1/messages');
    expect(idOf(reply)).toBe(scripted.served[0]?.id);
    expect(reply.statusCode).toBe(status);
    expect(reply.json()).toMatchObject({ error: { type, message: 'why' } });
    expect(reply.headers['retry-after']).toBe('2');
    expect(reply.headers['x-should-retry']).toBe(code === 'rate_limit_exceeded' ? undefined : 'false');
  });

  test('says nothing of faults', async () => {
    scripted.serve = () => refuse(new TypeError('secret at /srv'));
    const reply = await scripted.send('/v1/messages');
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
    const reply = await scripted.send('/v1/messages', sent);
    expect(reply.statusCode).toBe(status);
    idOf(reply);
    expect(scripted.served).toEqual([]);
  });

  test('seals a refusal for its headers', async () => {
    const reply = await scripted.send('/v1/messages', { headers: { 'vendor-version': '1' } });
    expect(scripted.sealed).toEqual([`${idOf(reply)} messages invalid_request`]);
  });

  test('serves while the process is leaving, and tells clients to connect elsewhere', async () => {
    expect((await scripted.send('/v1/messages')).headers.connection).toBe('keep-alive');
    scripted.calls.isLeaving = true;
    const reply = await scripted.send('/v1/messages');
    expect(reply.statusCode).toBe(200);
    expect(reply.headers.connection).toBe('close');
    scripted.serve = () => stream(['data: {}\n\n']);
    expect((await scripted.send('/v1/messages')).headers.connection).toBe('close');
  });

  test('refuses while the process is ending', async () => {
    scripted.calls.isClosed = true;
    const reply = await scripted.send('/v1/messages');
    expect(reply.statusCode).toBe(503);
    expect(reply.json()).toMatchObject({ error: { type: 'overloaded_error' } });
    expect(scripted.sealed).toEqual([`${idOf(reply)} messages server_restarting`]);
  });

  test('gives protocol headers their one name', async () => {
    await scripted.send('/v1/messages', { headers: { 'vendor-version': '2023-06-01', 'vendor-beta': 'a,b-2' } });
    expect(scripted.served[0]?.headers).toMatchObject({ 'anthropic-version': '2023-06-01', 'anthropic-beta': 'a,b-2' });
    expect(scripted.served[0]?.headers).not.toHaveProperty('vendor-version');
  });

  test('tells a failure in mid-stream as an event', async () => {
    scripted.serve = () => stream(['event: message_start\ndata: {}\n\n'], new GatewayError('upstream_error', 'broke'));
    const reply = await scripted.send('/v1/messages');
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
    const reply = await scripted.send(url, { method });
    expect(reply.statusCode).toBe(404);
    idOf(reply);
    expect(reply.json()).toMatchObject({
      error: { type: 'not_found_error', message: expect.stringMatching(message) as string },
    });
  });

  test('answers an address that is none in its envelope', async () => {
    const reply = await scripted.send('/anthropic/v1/models/%zz', { method: 'GET' });
    expect(reply.statusCode).toBe(400);
    idOf(reply);
  });
});

describe('paths that nobody serves', () => {
  test('are plain for API clients and lead browsers to the docs', async () => {
    const plain = await scripted.send('/v1/nothing', { method: 'PUT' });
    expect([plain.statusCode, plain.body]).toEqual([404, 'Not Found']);
    expect(plain.headers).not.toHaveProperty('x-gw-right-path');
    const browser = await scripted.send('/anthropic', { method: 'GET', headers: { accept: 'text/html' } });
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
    const reply = await scripted.send(url);
    expect([reply.statusCode, reply.headers['x-gw-right-path']]).toEqual([404, meant]);
  });

  test.each([
    ['/v1/files/one', 'PUT', 'DELETE, GET'],
    ['/v1/models', 'POST', 'GET, HEAD'],
    ['/v1/models/vendor/org/three', 'DELETE', 'GET, HEAD'],
    ['/v1/messages', 'PUT', 'POST'],
  ] as const)('are told from methods: %s is not scripted.served by %s but by %s', async (url, method, allowed) => {
    const reply = await scripted.send(url, { method });
    expect([reply.statusCode, reply.headers['allow']]).toEqual([405, allowed]);
    expect(reply.json()).toMatchObject({ error: { type: 'invalid_request_error' } });
  });

  test('that are no addresses are told in the chat envelope', async () => {
    const reply = await scripted.send('/v1/%zz', { method: 'GET' });
    expect(reply.statusCode).toBe(400);
    expect(reply.json()).toMatchObject({ error: { code: 'invalid_request' } });
  });
});

test.each(['/', '/anthropic', '/anthropic/', '/api/hello', '/anthropic/api/hello'])(
  'HEAD %s needs no key',
  async (url) => {
    const head = await scripted.app.inject({ method: 'HEAD', url });
    expect([head.statusCode, head.body]).toEqual([200, '']);
    expect((await scripted.app.inject({ method: 'GET', url })).statusCode).toBe(404);
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
    scripted.serve = async function* () {
      yield { kind: 'accepted', stream: true, headers: {}, limits: {} };
      await head.pass();
      yield { kind: 'head' };
      yield { kind: 'body', text: 'data: 1\n\n' };
      await end.pass();
    };
    const reply = scripted.send(url);
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

describe("the vendors' own clients", () => {
  let address: string;
  beforeEach(async () => {
    address = await scripted.app.listen({ host: '127.0.0.1', port: 0 });
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
      scripted.serve = () => refuse(new GatewayError('permission_denied', 'no'));
      const call = client().messages.create({ model: 'vendor/one', max_tokens: 9, messages: [] });
      const error: unknown = await call.catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(Anthropic.PermissionDeniedError);
      expect(error).toMatchObject({ requestID: scripted.served[0]?.id });
    });

    test('are told failures in mid-stream', async () => {
      const start = 'event: ping\ndata: {"type":"ping"}\n\nevent: message_stop\ndata: {"type":"message_stop"}\n\n';
      scripted.serve = () => stream([start], new GatewayError('server_restarting', 'later'));
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
    scripted.serve = () =>
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
