import { request } from 'node:http';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { json, sse, text } from '../harness/answers.ts';
import { resource, startGateway, tenant, type GatewayProcess } from '../harness/gateway.ts';
import { rowOf } from '../harness/ledger-rows.ts';
import { createDatabase } from '../harness/postgres.ts';
import { startUpstream, type Upstream } from '../harness/upstream.ts';
import { PRICES, keys, type Name, SETTINGS } from './any-path-settings.ts';

let upstream: Upstream;
let databaseUrl: string;
const gateways = {} as Record<Name, GatewayProcess>;

beforeAll(async () => {
  upstream = await startUpstream();
  databaseUrl = await createDatabase(inject('databaseUrl'));
  await Promise.all(
    (Object.keys(keys) as Name[]).map(async (name) => {
      const shared = { organization: { sharedObjects: 'Organization' }, ...SETTINGS[name] };
      const provider = (slug: string, more: object): object =>
        resource('Provider', slug, {
          slug,
          endpoint: { url: upstream.url, allowInsecure: true },
          jurisdiction: 'EU',
          ...more,
        });
      gateways[name] = await startGateway({
        resources: [
          ...tenant({ upstreamUrl: upstream.url, key: keys[name], prices: PRICES, ...shared }),
          provider('managed', { protocol: 'Custom', keyOwnership: 'Managed' }),
          provider('claude', { protocol: 'Messages' }),
        ],
        redisUrl: inject('redisUrl'),
        databaseUrl,
      });
    }),
  );
}, 120_000);

afterAll(async () => {
  await Promise.all(Object.values(gateways).map((gateway) => gateway.stop()));
  await upstream?.close();
});

interface Sent {
  readonly method?: string;
  readonly body?: unknown;
  readonly provider?: string | undefined;
  readonly headers?: Readonly<Record<string, string>>;
}

async function call(name: Name, path: string, sent: Sent = {}): Promise<Response> {
  const { method = sent.body === undefined ? 'GET' : 'POST', body, headers = {} } = sent;
  const provider = 'provider' in sent ? sent.provider : 'upstream';
  const isRaw = typeof body === 'string' || body instanceof Buffer || body instanceof FormData;
  return fetch(gateways[name].url + path, {
    method,
    headers: {
      authorization: `Bearer ${keys[name]}`,
      ...(provider !== undefined && { 'x-gw-provider': provider }),
      ...(body !== undefined && !isRaw && { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body !== undefined && { body: isRaw ? body : JSON.stringify(body) }),
  });
}

async function refused(answer: Response): Promise<readonly [number, string, string]> {
  const { error } = (await answer.json()) as { error: { code: string; message: string } };
  return [answer.status, error.code, error.message];
}

const last = () => upstream.requests.at(-1)!;

describe('what is sent', () => {
  test.each(['PUT', 'PATCH', 'POST'])('%s: path, query and body as they came; the answer too', async (method) => {
    upstream.respond(text('{"kept":1.0,  "id":"e1"}', { headers: { 'content-type': 'application/json' } }));
    const body = '{"x":1.0,"y":  9007199254740993123}';
    const headers = { 'content-type': 'application/json' };
    const answer = await call('logged', '/v1/evals/a.b:c/runs?limit=1&x=%20', { method, body, headers });
    expect([answer.status, await answer.text()]).toEqual([200, '{"kept":1.0,  "id":"e1"}']);
    const { path, body: sent, headers: sentHeaders } = last();
    expect([last().method, path, sent]).toEqual([method, '/v1/evals/a.b:c/runs?limit=1&x=%20', body]);
    expect(sentHeaders['authorization']).toBeUndefined();
    expect(await rowOf(databaseUrl, answer.headers.get('x-request-id'))).toMatchObject({
      surface: 'passthrough',
      outcome: 'served',
      model: null,
      provider: 'upstream',
      provider_model: 'evals',
      cost_nano_eur: '250000000',
    });
  });

  test('reading costs nothing', async () => {
    upstream.respond(json({ object: 'eval', id: 'e1' }));
    for (const method of ['GET', 'DELETE']) {
      const answer = await call('logged', '/v1/evals/e1', { method });
      expect(answer.status).toBe(200);
      const row = await rowOf(databaseUrl, answer.headers.get('x-request-id'));
      expect(row).toMatchObject({ cost_nano_eur: '0', outcome: 'served' });
    }
  });

  test('headers of the connection and cookies stay here, both ways', async () => {
    upstream.respond(json({}, 200, { 'set-cookie': 'a=b', 'x-internal': '1', 'openai-organization': 'org-x' }));
    const headers = { cookie: 'session=1', 'x-api-key': keys.logged, te: 'trailers', 'openai-beta': 'assistants=v2' };
    const answer = await call('logged', '/v1/evals/e1', { headers });
    expect(answer.status).toBe(200);
    for (const name of ['set-cookie', 'x-internal', 'openai-organization'])
      expect(answer.headers.has(name)).toBe(false);
    for (const name of ['cookie', 'x-api-key', 'te', 'x-gw-provider']) expect(last().headers).not.toHaveProperty(name);
    expect(last().headers['openai-beta']).toBe('assistants=v2');
  });

  test('a model decides the route, is named as its provider names it, and pays by its tokens', async () => {
    upstream.respond(json({ choices: [], usage: { prompt_tokens: 10, completion_tokens: 5 } }));
    for (const [model, provider] of [
      ['upstream/small', undefined],
      ['upstream/small', 'upstream'],
      ['small', 'upstream'],
    ] as const) {
      const answer = await call('listed', '/v1/fim/completions', {
        provider,
        body: { model, prompt: 'a', suffix: 'b' },
      });
      expect(answer.status).toBe(200);
      expect(JSON.parse(last().body)).toEqual({ model: 'small', prompt: 'a', suffix: 'b' });
      expect(await rowOf(databaseUrl, answer.headers.get('x-request-id'))).toMatchObject({
        provider_model: 'small',
        usage_source: 'provider',
        cost_nano_eur: '60000',
      });
    }
    const answer = await call('listed', '/v1/fim/completions', { body: { model: 'large', prompt: 'a' } });
    expect((await refused(answer)).slice(0, 2)).toEqual([403, 'permission_denied']);
  });

  test('a stream is passed on event by event, and its last usage is billed', async () => {
    const events = [
      { data: '{"choices":[{"delta":{"content":"hi"}}]}' },
      { data: '{"usage":{"input_tokens":7,"output_tokens":2}}' },
    ];
    upstream.respond(sse([...events, { data: '[DONE]' }], { splitAt: 'every-byte' }));
    const answer = await call('logged', '/v1/fim/completions', { body: { model: 'm', prompt: 'a', stream: true } });
    expect(answer.headers.get('content-type')).toContain('text/event-stream');
    const told = await answer.text();
    for (const { data } of events) expect(told).toContain(data);
    const row = await rowOf(databaseUrl, answer.headers.get('x-request-id'));
    expect(row).toMatchObject({ usage_source: 'provider', usage: { input: 7, output: 2 }, cost_nano_eur: '30000' });
  });
});

describe('inspection', () => {
  test('strings of JSON, of forms and of queries leave with tags', async () => {
    upstream.respond(json({ id: 'e1' }));
    const sent = await call('tokenized', '/v1/evals?about=ada@example.com', { body: { name: 'of ada@example.com' } });
    expect(sent.status).toBe(200);
    expect(decodeURIComponent(last().path)).toBe('/v1/evals?about=«EMAIL_1»');
    expect(last().body).toContain('of «EMAIL_1»');
    const form = new FormData();
    form.append('name', 'of ada@example.com');
    expect((await call('tokenized', '/v1/evals', { body: form })).status).toBe(200);
    expect(last().body).toContain('of «EMAIL_1»');
    form.append('data', new Blob(['of ada@example.com']));
    const sentBefore = upstream.requests.length;
    expect((await refused(await call('tokenized', '/v1/evals', { body: form })))[1]).toBe('data_protection');
    expect(upstream.requests.length).toBe(sentBefore);
  });

  test('bytes that nobody can read are named, or refused where policy protects; texts of other types are refused', async () => {
    upstream.respond(json({ id: 'e1' }));
    const body = Buffer.from([0, 1, 2, 255]);
    const binary = { body, headers: { 'content-type': 'application/octet-stream' } };
    const answer = await call('logged', '/v1/evals', binary);
    expect([answer.status, answer.headers.get('x-gw-unscanned')]).toEqual([200, expect.stringContaining('file')]);
    expect(last().headers['content-type']).toBe('application/octet-stream');
    const sent = upstream.requests.length;
    expect((await refused(await call('tokenized', '/v1/evals', binary)))[1]).toBe('data_protection');
    for (const type of ['text/plain', 'application/x-ndjson', 'application/xml']) {
      const other = await call('logged', '/v1/evals', { body: '{"model":"x"}', headers: { 'content-type': type } });
      expect([type, other.status]).toEqual([type, 415]);
    }
    expect(upstream.requests.length).toBe(sent);
  });

  test('servers of tools and the extension for terms are read as everywhere', async () => {
    upstream.respond(json({ id: 'e1' }));
    const servers = await call('logged', '/v1/evals', {
      body: { tools: [{ type: 'mcp', server_url: 'https://x.example' }] },
    });
    expect(servers.status).toBe(400);
    const removed = await call('tokenized', '/v1/evals', { body: { name: 'Falcon', gw: { remove: ['Falcon'] } } });
    expect([removed.status, last().body]).toEqual([200, expect.not.stringContaining('Falcon')]);
  });
});

describe('what is refused', () => {
  const asked: readonly (readonly [why: string, name: Name, path: string, sent: Sent, status: number, says: string])[] =
    [
      ['policy does not name it', 'logged', '/v1/assistants', { body: {} }, 403, 'passthrough'],
      ['batches are not open by themselves', 'builtIn', '/v1/batches', { body: {} }, 403, 'passthrough'],
      [
        'an account that others use',
        'logged',
        '/v1/evals',
        { provider: 'managed', body: {} },
        403,
        "organization's own",
      ],
      ['workloads that share nothing', 'alone', '/v1/evals', {}, 403, 'sharedObjects'],
      ['the messages vendor', 'logged', '/v1/batches', { provider: 'claude' }, 404, 'No provider'],
      ['a path without a price', 'logged', '/v1/chat/x', { body: {} }, 400, 'upstream/chat, unit: Call'],
      ['a path that no allow-list has', 'listed', '/v1/chat/x', { body: {} }, 403, 'allow-list'],
      ['a provider that is not there', 'logged', '/v1/evals', { provider: 'nobody' }, 404, 'No provider'],
      [
        'a bare model without a provider',
        'logged',
        '/v1/evals',
        { provider: undefined, body: { model: 'm' } },
        400,
        'prefix',
      ],
    ];
  test.each(asked)('%s', async (_, name, path, sent, status, says) => {
    const before = upstream.requests.length;
    const answer = await call(name, path, sent);
    expect(answer.status).toBe(status);
    const id = answer.headers.get('x-request-id');
    expect((await refused(answer))[2]).toContain(says);
    expect(upstream.requests.length).toBe(before);
    expect(await rowOf(databaseUrl, id)).toMatchObject({ outcome: 'refused', cost_nano_eur: '0' });
  });

  test('a redirect is not followed', async () => {
    upstream.respond(text('', { status: 307, headers: { location: `${upstream.url}/v1/secret` } }));
    const before = upstream.requests.length;
    const answer = await call('logged', '/v1/evals/e1');
    expect([answer.status, answer.headers.has('location')]).toEqual([502, false]);
    expect(upstream.requests.length).toBe(before + 1);
  });

  /** Sent as it is: `fetch` would tidy it up. */
  function raw(path: string, headers: Record<string, string> = {}): Promise<number> {
    return new Promise((resolve, reject) => {
      const { hostname, port } = new URL(gateways.logged.url);
      const authorization = `Bearer ${keys.logged}`;
      const all = { authorization, 'x-gw-provider': 'upstream', ...headers };
      const sending = request({ hostname, port, path, headers: all }, (answer) => {
        answer.resume();
        answer.on('end', () => resolve(answer.statusCode ?? 0));
      });
      sending.on('error', reject);
      sending.end();
    });
  }

  const PATHS = [
    '/v1/evals/../files',
    '/v1/evals/..',
    '/v1/evals/./x',
    '/v1/evals//x',
    '/v1//evals',
    '/v1/evals/',
    '/v1/',
  ];
  const ESCAPED = [
    '%2e%2e',
    '..%2ffiles',
    'a%2fb',
    'a%5cb',
    'a%00',
    'a%0d%0aX:1',
    '%ff',
    '%',
    'a\\b',
    'a;b',
    'ada%40x.de',
    'a~b',
  ];
  const LONG = [`/v1/evals/${'x'.repeat(257)}`, `/v1/evals${'/x'.repeat(12)}`];
  test.each([...PATHS, ...ESCAPED.map((step) => `/v1/evals/${step}`), ...LONG])('the path %s', async (path) => {
    const before = upstream.requests.length;
    expect(await raw(path)).toBeGreaterThanOrEqual(400);
    expect(upstream.requests.length).toBe(before);
  });

  test('a connection that is to become another', async () => {
    const before = upstream.requests.length;
    expect(await raw('/v1/evals/e1', { connection: 'upgrade', upgrade: 'websocket' })).toBe(400);
    expect(upstream.requests.length).toBe(before);
  });

  test('whoever names no provider, or means what the gateway has of its own, finds nothing', async () => {
    const nothing = ['/v1/evals/e1', '/v1/nothing', '/v1/evals'];
    for (const path of nothing) expect((await call('logged', path, { provider: undefined })).status).toBe(404);
    const never = [
      'messages/batches',
      'organization/usage',
      'mcp/crm/x',
      'documents/x',
      'systemone/x',
      'decisions/x',
      'usage',
      'models/x/y',
    ];
    const before = upstream.requests.length;
    for (const path of never) expect([path, (await call('logged', `/v1/${path}`)).status]).toEqual([path, 404]);
    for (const path of ['mcp', 'mcp/crm']) expect((await call('logged', `/v1/${path}`)).status).toBe(405);
    const stranger = await fetch(`${gateways.logged.url}/v1/evals`, { headers: { 'x-gw-provider': 'upstream' } });
    expect(stranger.status).toBe(401);
    expect(upstream.requests.length).toBe(before);
  });
});

describe('batches and uploads', () => {
  test('a batch is made, found by its id alone, and its files are the workload’s', async () => {
    upstream.respond(({ request: { method, path }, ...exchange }) => {
      const batch = {
        id: 'batch_1',
        object: 'batch',
        input_file_id: 'file_in',
        output_file_id: method === 'GET' ? 'file_out' : null,
      };
      const told = path.endsWith('/content')
        ? 'lines'
        : JSON.stringify(path.includes('files') ? { id: 'file_in' } : batch);
      return text(told, { headers: { 'content-type': 'application/json' } })({
        request: { method, path },
        ...exchange,
      } as never);
    });
    const form = new FormData();
    form.append('purpose', 'batch');
    form.append('file', new Blob(['{}']), 'in.jsonl');
    const file = (await (await call('alone', '/v1/files', { body: form })).json()) as { id: string };
    expect(file.id).toBe('upstream~file_in');
    const made = await call('alone', '/v1/batches', {
      body: { input_file_id: file.id, endpoint: '/v1/chat/completions' },
    });
    const batch = (await made.json()) as { id: string; input_file_id: string };
    expect([batch.id, batch.input_file_id]).toEqual(['upstream~batch_1', 'upstream~file_in']);
    expect(JSON.parse(last().body)).toMatchObject({ input_file_id: 'file_in' });
    const content = `/v1/files/upstream~file_out/content`;
    expect((await call('alone', content, { provider: undefined })).status).toBe(404);
    const found = await call('alone', `/v1/batches/${batch.id}`, { provider: undefined });
    expect(await found.json()).toMatchObject({ output_file_id: 'upstream~file_out' });
    expect((await call('alone', content, { provider: undefined })).status).toBe(200);
  });

  test('parts of an upload become a file of the workload', async () => {
    upstream.respond(({ request: { path }, ...exchange }) => {
      const told = path.endsWith('/parts')
        ? { id: 'part_1', object: 'upload.part', upload_id: 'upload_1' }
        : {
            id: 'upload_1',
            object: 'upload',
            ...(path.endsWith('/complete') && { file: { id: 'file_up', object: 'file' } }),
          };
      return json(told)({ request: { path }, ...exchange } as never);
    });
    const upload = (await (await call('alone', '/v1/uploads', { body: { filename: 'a', bytes: 2 } })).json()) as {
      id: string;
    };
    expect(upload.id).toBe('upstream~upload_1');
    const form = new FormData();
    form.append('data', new Blob(['xx']));
    const part = await call('alone', `/v1/uploads/${upload.id}/parts`, { provider: undefined, body: form });
    const { id } = (await part.json()) as { id: string };
    expect([part.status, id, part.headers.get('x-gw-unscanned')]).toEqual([200, 'upstream~part_1', 'file']);
    const path = `/v1/uploads/${upload.id}/complete`;
    const whole = await call('alone', path, { provider: undefined, body: { part_ids: [id] } });
    expect(await whole.json()).toMatchObject({ file: { id: 'upstream~file_up' } });
    expect(JSON.parse(last().body)).toEqual({ part_ids: ['part_1'] });
    const { hold } = { hold: await call('alone', '/v1/files/upstream~file_up', { provider: undefined }) };
    expect(hold.status).toBe(200);
  });
});
