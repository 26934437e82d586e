import { hash } from 'node:crypto';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { json, sse } from '../harness/answers.ts';
import { newKey, resource, startGateway, tenant, type GatewayProcess } from '../harness/gateway.ts';
import { rowOf } from '../harness/ledger-rows.ts';
import { createDatabase } from '../harness/postgres.ts';
import { startUpstream, type Upstream } from '../harness/upstream.ts';

/** What a response's id alone says: whose it is and where. Read, deleted and cancelled on the organization's own account. */

const keys = { app: newKey(), other: newKey() };
let upstream: Upstream;
let databaseUrl: string;
let gateway: GatewayProcess;
let made = 0;

beforeAll(async () => {
  upstream = await startUpstream();
  databaseUrl = await createDatabase(inject('databaseUrl'));
  const provider = (slug: string, more: object = {}): object =>
    resource('Provider', slug, {
      slug,
      vendor: 'openai',
      endpoint: { url: upstream.url, allowInsecure: true },
      jurisdiction: 'EU',
      credentials: [{ name: 'first', type: 'APIKey', secretKeyRef: { name: 'accounts', key: 'first' } }],
      ...more,
    });
  gateway = await startGateway({
    resources: [
      ...tenant({
        upstreamUrl: upstream.url,
        key: keys.app,
        policy: { dlp: { mode: 'AllowLog' } },
        prices: ['one', 'two', 'lent'].map((slug) => ({ model: `${slug}/*`, input: '2', output: '8' })),
      }),
      {
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { name: 'accounts', namespace: 'default' },
        stringData: { first: 'first-account' },
      },
      provider('one'),
      provider('two'),
      provider('lent', { keyOwnership: 'Managed' }),
      resource('Workload', 'other', { organizationRef: { name: 'acme' } }),
      resource('VirtualKey', 'other', {
        workloadRef: { name: 'other' },
        hash: { algorithm: 'SHA256', value: hash('sha256', keys.other, 'hex') },
      }),
    ],
    redisUrl: inject('redisUrl'),
    databaseUrl,
  });
}, 90_000);

afterAll(async () => {
  await gateway?.stop();
  await upstream?.close();
});

function call(path: string, method = 'GET', body?: object, key = keys.app, provider?: string): Promise<Response> {
  return fetch(gateway.url + path, {
    method,
    headers: {
      authorization: `Bearer ${key}`,
      ...(provider !== undefined && { 'x-gw-provider': provider }),
      ...(body && { 'content-type': 'application/json' }),
    },
    ...(body && { body: JSON.stringify(body) }),
  });
}

async function makeResponse(slug: string): Promise<string> {
  made += 1;
  const id = `resp_${made}`;
  const usage = { input_tokens: 1, output_tokens: 1, total_tokens: 2 };
  const content = [{ type: 'output_text', text: 'Hi', annotations: [] }];
  const output = [{ type: 'message', id: `msg_${made}`, role: 'assistant', content }];
  upstream.respond(json({ id, object: 'response', status: 'completed', model: 'm', output, usage }));
  const answer = await call('/v1/responses', 'POST', { model: `${slug}/m`, input: 'Hi' });
  expect(await answer.json()).toMatchObject({ id });
  return id;
}

test.each(['one', 'two'])('a response of %s is found by its id alone, and costs nothing more', async (slug) => {
  const id = await makeResponse(slug);
  upstream.respond(json({ id, object: 'response' }));
  for (const [method, path] of [
    ['GET', `/responses/${id}`],
    ['GET', `/responses/${id}/input_items?limit=2`],
    ['POST', `/responses/${id}/cancel`],
  ] as const) {
    const answer = await call(`/v1${path}`, method);
    expect([answer.status, await answer.json()]).toEqual([200, { id, object: 'response' }]);
    expect([upstream.requests.at(-1)!.method, upstream.requests.at(-1)!.path]).toEqual([method, `/v1${path}`]);
    const row = await rowOf(databaseUrl, answer.headers.get('x-request-id'));
    expect(row).toMatchObject({ surface: 'responses', provider: slug, outcome: 'served', cost_nano_eur: '0' });
  }
});

test('a stream of one is passed on', async () => {
  const id = await makeResponse('one');
  upstream.respond(sse([{ event: 'response.completed', data: '{"type":"response.completed"}' }]));
  const answer = await call(`/v1/responses/${id}?stream=true&starting_after=3`);
  expect(await answer.text()).toContain('event: response.completed');
  expect(upstream.requests.at(-1)!.path).toBe(`/v1/responses/${id}?stream=true&starting_after=3`);
});

test('one that was deleted is nobody’s any more', async () => {
  const id = await makeResponse('one');
  upstream.respond(json({ id, object: 'response', deleted: true }));
  expect((await call(`/v1/responses/${id}`, 'DELETE')).status).toBe(200);
  const before = upstream.requests.length;
  expect((await call(`/v1/responses/${id}`)).status).toBe(404);
  expect(upstream.requests.length).toBe(before);
});

test('another workload finds nothing, wherever it looks; what was made on a lent account is not told', async () => {
  const id = await makeResponse('one');
  const lent = await makeResponse('lent');
  const before = upstream.requests.length;
  for (const provider of [undefined, 'one', 'two']) {
    expect([provider, (await call(`/v1/responses/${id}`, 'GET', undefined, keys.other, provider)).status]).toEqual([
      provider,
      404,
    ]);
  }
  expect((await call(`/v1/responses/${lent}`)).status).toBe(404);
  expect((await call(`/v1/responses/${lent}`, 'GET', undefined, keys.app, 'lent')).status).toBe(403);
  expect(upstream.requests.length).toBe(before);
});

test('one that is made in the background is billed at most, and found when it is done', async () => {
  const id = `resp_${(made += 1)}`;
  const queued = { id, object: 'response', status: 'queued', model: 'm', output: [], usage: null, background: true };
  upstream.respond(json(queued));
  const asked = { model: 'one/m', input: 'Hi', background: true, max_output_tokens: 100 };
  const answer = await call('/v1/responses', 'POST', asked);
  expect([answer.status, await answer.json()]).toEqual([200, queued]);
  expect(JSON.parse(upstream.requests.at(-1)!.body)).toMatchObject({ background: true });
  const row = await rowOf(databaseUrl, answer.headers.get('x-request-id'));
  expect(row).toMatchObject({ outcome: 'served', usage_source: 'estimated', usage: { output: 100 } });
  const item = { type: 'message', id: `msg_${made}`, role: 'assistant', content: [] };
  upstream.respond(json({ ...queued, status: 'completed', output: [item] }));
  const early = await call('/v1/responses', 'POST', {
    model: 'one/m',
    input: [{ type: 'item_reference', id: item.id }],
  });
  expect(early.status).toBe(404);
  expect(await (await call(`/v1/responses/${id}`)).json()).toMatchObject({ status: 'completed' });
  const usage = { input_tokens: 1, output_tokens: 1, total_tokens: 2 };
  upstream.respond(json({ ...queued, id: 'resp_x', status: 'completed', usage }));
  const later = await call('/v1/responses', 'POST', {
    model: 'one/m',
    input: [{ type: 'item_reference', id: item.id }],
  });
  expect(later.status).toBe(200);
});

test.each([
  ['on a lent account', { model: 'lent/m' }],
  ['of a provider that does not speak responses', { model: 'upstream/m' }],
  ['as a stream', { model: 'one/m', stream: true }],
])('background %s is refused; nothing is sent', async (_, more) => {
  const before = upstream.requests.length;
  const answer = await call('/v1/responses', 'POST', { input: 'Hi', background: true, ...more });
  expect([answer.status, ((await answer.json()) as { error: { param: string } }).error.param]).toEqual([
    400,
    'background',
  ]);
  expect(upstream.requests.length).toBe(before);
});
