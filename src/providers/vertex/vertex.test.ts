import { createVerify, generateKeyPairSync } from 'node:crypto';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { CredentialConfig } from '#/config/snapshot.ts';
import { UpstreamFault, type Outgoing, type Provider } from '#/ports/provider.ts';
import { gated, json, sse } from '../../../test/harness/answers.ts';
import type { Answer } from '../../../test/harness/exchange.ts';
import { gate } from '../../../test/harness/gate.ts';
import { startUpstream, type Upstream } from '../../../test/harness/upstream.ts';
import { createProviders } from '../registry.ts';
import { fitTo, outgoingTo } from '../testing/asking.ts';
import { configOf } from '../testing/config.ts';
import { createTransport } from '../http/transport.ts';

const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const PEM = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();

const transport = createTransport();
const providers = createProviders(transport);
afterAll(() => transport.close());

let upstream: Upstream;
let tokens: Upstream;

beforeEach(async () => {
  upstream = await startUpstream(json({ ok: true }));
  tokens = await startUpstream(json({ access_token: 'token-1', expires_in: 3600, token_type: 'Bearer' }));
});
afterEach(async () => {
  await upstream.close();
  await tokens.close();
});

function account(over: Readonly<Record<string, unknown>> = {}): CredentialConfig {
  const secret = { client_email: 'gw@p.iam', private_key: PEM, token_uri: `${tokens.url}/token?a=b`, ...over };
  return { name: 'account', type: 'gcp_service_account', secret: JSON.stringify(secret), weight: 1 };
}

function vertex(over: Parameters<typeof configOf>[1] = {}): Provider {
  const url = upstream.url.replace(/\/v1$/, '');
  const provider = providers(configOf('vertex', { url, region: 'europe-west4', project: 'my-project', ...over }));
  if (!provider) throw new Error('vertex is not registered');
  return provider;
}

async function ask(provider: Provider, over: Partial<Outgoing> = {}): Promise<string> {
  const answer = await provider.send(outgoingTo(provider, { family: 'gemini', model: 'gemini-2.5-pro', ...over }));
  return answer.text(100_000);
}

const LOCATION = '/v1/projects/my-project/locations/europe-west4/publishers';

describe('where it asks', () => {
  it.each([
    ['gemini', 'gemini-2.5-pro', false, '/google/models/gemini-2.5-pro:generateContent'],
    ['gemini', 'gemini-2.5-pro', true, '/google/models/gemini-2.5-pro:streamGenerateContent?alt=sse'],
    ['messages', 'claude-sonnet-4-5@20250929', false, '/anthropic/models/claude-sonnet-4-5@20250929:rawPredict'],
    ['messages', 'claude-sonnet-4-5@20250929', true, '/anthropic/models/claude-sonnet-4-5@20250929:streamRawPredict'],
    ['gemini', 'a/../../b', false, '/google/models/a%2F..%2F..%2Fb:generateContent'],
  ] as const)('%s of %s, stream %s', async (family, model, stream, path) => {
    await ask(vertex(), { family, model, stream, body: '{"messages":[]}' });
    expect(upstream.requests.map((request) => [request.method, request.path])).toEqual([['POST', LOCATION + path]]);
    expect(upstream.requests[0]?.headers.authorization).toBe('Bearer sk-test');
  });

  it('keeps a version that the address has', async () => {
    await ask(vertex({ url: upstream.url.replace(/\/v1$/, '/v1beta1') }));
    expect(upstream.requests[0]?.path).toMatch(/^\/v1beta1\/projects\//);
  });

  it('needs a project and a region', () => {
    expect(() => providers(configOf('vertex', { region: 'eu' }))).toThrow('project');
    expect(() => providers(configOf('vertex', { project: 'p' }))).toThrow('region');
  });
});

describe('what it serves', () => {
  it('is messages for Claude, embeddings for models made for them, Gemini otherwise', () => {
    const models = [{ id: 'mine', upstreamId: 'claude-opus-4-5@20251101' }];
    const provider = vertex({ models });
    expect(provider.families('claude-sonnet-4-5')).toEqual(['messages']);
    expect(provider.families('mine')).toEqual(['messages']);
    expect(provider.families('gemini-3-pro')).toEqual(['gemini']);
    for (const model of ['text-embedding-005', 'text-multilingual-embedding-002', 'gemini-embedding-001']) {
      expect(provider.families(model)).toEqual(['embeddings']);
    }
  });

  it.each([
    ['global', 'GLOBAL'],
    ['us', 'US'],
    ['eu', 'EU'],
    ['europe-west4', 'NL'],
  ])('in %s is processed in %s, whatever is said of the model', (region, place) => {
    expect(vertex({ region, jurisdiction: 'NL' }).jurisdiction('m')).toBe(place);
    const said = vertex({ region, jurisdiction: 'NL', models: [{ id: 'm', jurisdiction: 'DE' }] });
    expect(said.jurisdiction('m')).toBe(region === 'europe-west4' ? 'DE' : place);
  });
});

describe('Claude', () => {
  it('is asked with the version in the body and the known beta flags in a header', async () => {
    const provider = vertex();
    const { text } = fitTo(provider, 'messages', '{"model":"m","stream":true,"messages":[]}', { model: 'claude-x' });
    const headers = {
      'anthropic-beta': 'context-1m-2025-08-07,files-api-2025-04-14',
      'anthropic-version': '2023-06-01',
    };
    await ask(provider, { family: 'messages', model: 'claude-x', stream: true, body: text, headers });
    const [request] = upstream.requests;
    expect(request?.body).toBe('{"anthropic_version":"vertex-2023-10-16","stream":true,"messages":[]}');
    expect(request?.headers['anthropic-beta']).toBe('context-1m-2025-08-07');
    expect(request?.headers['anthropic-version']).toBeUndefined();
  });

  it('is asked without a beta header where no flag is known, and Gemini never with one', async () => {
    await ask(vertex(), { family: 'messages', model: 'claude-x', headers: { 'anthropic-beta': 'oauth-2025-04-20' } });
    await ask(vertex(), { headers: { 'anthropic-beta': 'context-1m-2025-08-07' } });
    for (const request of upstream.requests) expect(request.headers['anthropic-beta']).toBeUndefined();
  });

  it('is not asked with more than 30 MB', async () => {
    const body = JSON.stringify({ messages: 'ä'.repeat(15_000_000) });
    const answer = await vertex().send(outgoingTo(vertex(), { family: 'messages', model: 'claude-x', body }));
    expect(answer.status).toBe(413);
    expect(vertex().readFailure(answer, await answer.text(1000))).toMatchObject({
      message: 'The provider takes requests of at most 30 MB.',
      retryable: false,
    });
    expect(upstream.requests).toEqual([]);
  });

  it('streams as it came', async () => {
    upstream.respond(sse([{ event: 'ping', data: { type: 'ping' } }]));
    const text = await ask(vertex(), { family: 'messages', model: 'claude-x', stream: true });
    expect(text).toBe('event: ping\ndata: {"type":"ping"}\n\n');
  });
});

describe('access tokens', () => {
  it('are fetched once for calls at the same time and kept', async () => {
    const held = gate();
    tokens.respond(gated(held, json({ access_token: 'token-1', expires_in: 3600 })));
    const provider = vertex({ credentials: [account()] });
    const calls = Array.from({ length: 50 }, () => ask(provider));
    await tokens.request(0);
    held.release();
    await Promise.all(calls);
    await ask(provider);
    expect(tokens.requests).toHaveLength(1);
    expect(upstream.requests).toHaveLength(51);
    for (const { headers } of upstream.requests) expect(headers.authorization).toBe('Bearer token-1');
  });

  it('are asked for at the endpoint of the account, in its own signed words', async () => {
    await ask(vertex({ credentials: [account()] }));
    const [request] = tokens.requests;
    expect(request?.path).toBe('/v1/token?a=b');
    const form = new URLSearchParams(request?.body);
    expect(form.get('grant_type')).toBe('urn:ietf:params:oauth:grant-type:jwt-bearer');
    const [head = '', claims = '', signature = ''] = (form.get('assertion') ?? '').split('.');
    const verify = createVerify('RSA-SHA256').update(`${head}.${claims}`);
    expect(verify.verify(publicKey, Buffer.from(signature, 'base64url'))).toBe(true);
    expect(JSON.parse(Buffer.from(claims, 'base64url').toString())).toMatchObject({
      iss: 'gw@p.iam',
      scope: 'https://www.googleapis.com/auth/cloud-platform',
      aud: `${tokens.url}/token?a=b`,
    });
  });

  it('that are over are fetched anew', async () => {
    tokens.respond([
      json({ access_token: 'token-1', expires_in: 1 }),
      json({ access_token: 'token-2', expires_in: 3600 }),
    ]);
    const provider = vertex({ credentials: [account()] });
    await ask(provider);
    await ask(provider);
    await ask(provider);
    expect(upstream.requests.map(({ headers }) => headers.authorization)).toEqual([
      'Bearer token-1',
      'Bearer token-2',
      'Bearer token-2',
    ]);
  });

  it('that are refused are an answer about credentials, which says nothing of them, and are asked for again', async () => {
    const refused: Answer = json({ error: 'invalid_grant', error_description: 'secret detail' }, 400);
    tokens.respond([refused, json({ access_token: 'token-2', expires_in: 3600 })]);
    const provider = vertex({ credentials: [account()] });
    const answer = await provider.send(outgoingTo(provider, { family: 'gemini' }));
    const text = await answer.text(1000);
    expect(answer.status).toBe(401);
    expect(text).not.toContain('secret');
    expect(provider.readFailure(answer, text).retryable).toBe(false);
    expect(upstream.requests).toEqual([]);
    await ask(provider);
    expect(upstream.requests[0]?.headers.authorization).toBe('Bearer token-2');
  });

  it('that cannot be fetched are a connection that failed', async () => {
    await tokens.down();
    const provider = vertex({ credentials: [account()] });
    await expect(provider.send(outgoingTo(provider, { family: 'gemini' }))).rejects.toBeInstanceOf(UpstreamFault);
    await tokens.up();
  });

  it('need a key that is one', async () => {
    const provider = vertex({ credentials: [account({ private_key: '-----BEGIN PRIVATE KEY-----\nAAAA\n' })] });
    const answer = await provider.send(outgoingTo(provider, { family: 'gemini' }));
    expect(answer.status).toBe(401);
    const broken: CredentialConfig = { name: 'b', type: 'gcp_service_account', secret: 'hush', weight: 1 };
    expect(() => vertex({ credentials: [broken] })).toThrow(/^a gcp_service_account credential must be/);
    await expect(ask(vertex({ credentials: [] }))).rejects.toMatchObject({ kind: 'connect' });
  });
});

describe('failures', () => {
  it.each([
    ['{"type":"error","error":{"type":"overloaded_error","message":"Busy."},"request_id":"r"}', 529, 'Busy.'],
    ['{"error":{"code":400,"message":"Bad.","status":"INVALID_ARGUMENT"}}', 400, 'Bad.'],
    ['[{"error":{"code":400,"message":"Listed.","status":"INVALID_ARGUMENT"}}]', 400, 'Listed.'],
  ])('are read in both envelopes: %.20s', (body, status, message) => {
    expect(vertex().readFailure({ status, header: () => undefined }, body).message).toBe(message);
  });
});

describe('embeddings', () => {
  it('by prediction, many texts at once, with the tokens of each', async () => {
    const predictions = [
      { embeddings: { values: [0.1], statistics: { token_count: 2, truncated: false } } },
      { embeddings: { values: [0.2], statistics: { token_count: 3, truncated: false } } },
    ];
    upstream.respond(json({ predictions }));
    const body = '{"model":"x","input":["a","b"],"dimensions":8}';
    const text = await ask(vertex(), { family: 'embeddings', model: 'text-embedding-005', body });
    expect(JSON.parse(text)).toEqual({
      object: 'list',
      model: 'text-embedding-005',
      data: [
        { object: 'embedding', index: 0, embedding: [0.1] },
        { object: 'embedding', index: 1, embedding: [0.2] },
      ],
      usage: { prompt_tokens: 5, total_tokens: 5 },
    });
    const [request] = upstream.requests;
    expect(request?.path).toBe(`${LOCATION}/google/models/text-embedding-005:predict`);
    expect(JSON.parse(request?.body ?? '')).toEqual({
      instances: [{ content: 'a' }, { content: 'b' }],
      parameters: { outputDimensionality: 8 },
    });
  });

  it('one text at a time where the model takes no more', async () => {
    upstream.respond(json({ predictions: [{ embeddings: { values: [1] } }] }));
    const body = '{"input":["a","b","c"]}';
    const text = await ask(vertex(), { family: 'embeddings', model: 'gemini-embedding-001', body });
    expect(upstream.requests).toHaveLength(3);
    const answer = JSON.parse(text) as { data: unknown[]; usage?: unknown };
    expect([answer.data.length, answer.usage]).toEqual([3, undefined]);
  });

  it('by their own method for newer models', async () => {
    upstream.respond(json({ embedding: { values: [1, 2] }, usageMetadata: { promptTokenCount: 4 } }));
    const body = '{"input":"a","dimensions":2}';
    const text = await ask(vertex(), { family: 'embeddings', model: 'gemini-embedding-2', body });
    expect(upstream.requests[0]?.path).toBe(`${LOCATION}/google/models/gemini-embedding-2:embedContent`);
    expect(JSON.parse(upstream.requests[0]?.body ?? '')).toEqual({
      content: { parts: [{ text: 'a' }] },
      embedContentConfig: { outputDimensionality: 2 },
    });
    expect(JSON.parse(text)).toMatchObject({ data: [{ embedding: [1, 2] }], usage: { prompt_tokens: 4 } });
  });
});
