import { connect } from 'node:net';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { newKey, startGateway, tenant, type GatewayProcess } from '../harness/gateway.ts';
import { rowOf } from '../harness/ledger-rows.ts';
import { createDatabase } from '../harness/postgres.ts';
import { startUpstream, type Upstream } from '../harness/upstream.ts';

/** What happens to requests before their body is read. */

const key = newKey();
let upstream: Upstream;
let gateway: GatewayProcess;
let databaseUrl: string;

beforeAll(async () => {
  upstream = await startUpstream();
  databaseUrl = await createDatabase(inject('databaseUrl'));
  gateway = await startGateway({
    resources: tenant({ upstreamUrl: upstream.url, key }),
    redisUrl: inject('redisUrl'),
    databaseUrl,
    env: { GW_BODY_LIMIT_MIB: '1' },
  });
}, 60_000);

afterAll(async () => {
  await gateway?.stop();
  await upstream?.close();
});

/** Sends the head of a request and nothing more; resolves with what comes back. */
function sendHead(authorization: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(gateway.url);
    const socket = connect(Number(port), hostname);
    socket.on('error', reject);
    socket.once('data', (bytes: Buffer) => {
      socket.destroy();
      resolve(bytes.toString('latin1'));
    });
    socket.write(
      `POST /v1/chat/completions HTTP/1.1\r\nHost: gw\r\nAuthorization: ${authorization}\r\nContent-Type: application/json\r\nContent-Length: 900000\r\n\r\n`,
    );
  });
}

test('a stranger is told 401 before sending a body', async () => {
  expect(await sendHead('Bearer gw_live_nobody')).toMatch(/^HTTP\/1\.1 401 /);
});

const post = (body: string | Buffer<ArrayBuffer>, contentType = 'application/json') =>
  fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': contentType, authorization: `Bearer ${key}` },
    body,
  });

test.each([
  ['a body over the limit', 'x'.repeat(1_100_000), 'application/json', 413, 'request_too_large'],
  ['another content type', '{}', 'text/plain', 415, 'unsupported_media_type'],
  ['no JSON', '{"model":', 'application/json', 400, 'invalid_request'],
  ['nothing but tiny values', `{"a":[${'0,'.repeat(300_000)}0]}`, 'application/json', 413, 'request_too_large'],
  ['an empty body', '', 'application/json', 400, 'invalid_request'],
])('%s is refused in the envelope of the surface, and sealed', async (_name, body, contentType, status, code) => {
  const answer = await post(body, contentType);
  expect(answer.status).toBe(status);
  expect(await answer.json()).toMatchObject({ error: { code, param: null } });
  expect(await rowOf(databaseUrl, answer.headers.get('x-request-id'))).toMatchObject({
    outcome: 'refused',
    step: 'admit',
    status,
    code,
  });
  expect(upstream.requests).toHaveLength(0);
});

test.each([
  ['another content type', 'text/plain', '{}', 415, 'invalid_request_error'],
  [
    'a model nobody has',
    'application/json',
    '{"model":"gone/m","max_tokens":1,"messages":[{"role":"user","content":"x"}]}',
    404,
    'not_found_error',
  ],
  [
    'tool servers',
    'application/json',
    '{"model":"upstream/m","max_tokens":1,"messages":[{"role":"user","content":"x"}],"mcp_servers":[]}',
    400,
    'invalid_request_error',
  ],
])(
  '%s is refused on the messages surface under the id of its audit row',
  async (_name, contentType, body, status, type) => {
    const answer = await fetch(`${gateway.url}/anthropic/v1/messages?beta=true`, {
      method: 'POST',
      headers: { 'content-type': contentType, 'x-api-key': key, 'vendor-version': '2023-06-01' },
      body,
    });
    expect(answer.status).toBe(status);
    const id = answer.headers.get('request-id');
    expect(await answer.json()).toMatchObject({ type: 'error', error: { type }, request_id: id });
    expect(await rowOf(databaseUrl, id)).toMatchObject({ surface: 'messages', wire_format: 'messages', status });
    expect(upstream.requests).toHaveLength(0);
  },
);

test('models and token counts are answered at the door', async () => {
  const headers = { 'x-api-key': key, 'anthropic-version': '2023-06-01', 'content-type': 'application/json' };
  const models = await fetch(`${gateway.url}/v1/models`, { headers });
  expect(await models.json()).toEqual({ data: [], has_more: false, first_id: null, last_id: null });
  const one = await fetch(`${gateway.url}/v1/models/upstream%2Fany`, { headers });
  expect(await one.json()).toMatchObject({ type: 'model', id: 'upstream/any' });
  const body = '{"model":"upstream/m","messages":[{"role":"user","content":"Hello"}]}';
  const count = await fetch(`${gateway.url}/v1/messages/count_tokens`, { method: 'POST', headers, body });
  const { input_tokens } = (await count.json()) as { input_tokens: number };
  expect(input_tokens).toBeGreaterThan(0);
  expect(upstream.requests).toHaveLength(0);
});

test('a charset that would hide text from inspection is refused, and so is text that is not UTF-8', async () => {
  const utf16 = Buffer.from(
    JSON.stringify({ model: 'upstream/m', messages: [{ role: 'user', content: 'x' }] }),
    'utf16le',
  );
  expect((await post(utf16, 'application/json; charset=utf-16')).status).toBe(415);
  expect((await post(utf16)).status).toBe(400);
  expect(upstream.requests).toHaveLength(0);
});

test('a wrong method is told the right one, and a wrong path is a plain 404', async () => {
  for (const method of ['GET', 'PUT', 'DELETE']) {
    const answer = await fetch(`${gateway.url}/v1/chat/completions`, { method });
    expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'POST']);
    expect(await answer.json()).toMatchObject({ error: { code: 'method_not_allowed', type: 'invalid_request_error' } });
  }
  const answer = await fetch(`${gateway.url}/chat/completions`, { method: 'POST' });
  expect([answer.status, await answer.text()]).toEqual([404, 'Not Found']);
  expect(answer.headers.get('x-gw-right-path')).toBe('/v1/chat/completions');
});

test.each(['/v1/models', '/v1/models/upstream/any', '/anthropic/v1/models', '/v1/messages/count_tokens'])(
  '%s refuses the removed header',
  async (path) => {
    const isCount = path.endsWith('count_tokens');
    const answer = await fetch(`${gateway.url}${path}`, {
      method: isCount ? 'POST' : 'GET',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', 'x-gw-dlp': 'off' },
      ...(isCount && { body: '{"model":"upstream/m","messages":[{"role":"user","content":"Hello"}]}' }),
    });
    expect(answer.status).toBe(400);
    expect(await answer.text()).toContain('x-gw-dlp is no longer supported');
  },
);

test('an empty x-api-key beside a bearer key is none', async () => {
  const models = (headers: Record<string, string>): Promise<Response> => fetch(`${gateway.url}/v1/models`, { headers });
  expect((await models({ authorization: `Bearer ${key}`, 'x-api-key': '' })).status).toBe(200);
  expect((await models({ 'x-api-key': '' })).status).toBe(401);
  expect((await models({ authorization: `Bearer ${key}`, 'x-api-key': 'other' })).status).toBe(401);
});
