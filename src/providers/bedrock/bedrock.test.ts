import { createHash, createHmac } from 'node:crypto';
import { EventStreamCodec } from '@smithy/core/event-streams';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { CredentialConfig, ProviderConfig } from '#/config/snapshot.ts';
import type { Provider } from '#/ports/provider.ts';
import { BadRequestShape } from '#/wire/hub/codec.ts';
import { json, text } from '../../../test/harness/answers.ts';
import type { UpstreamRequest } from '../../../test/harness/exchange.ts';
import { startUpstream, type Upstream } from '../../../test/harness/upstream.ts';
import { createProviders } from '../registry.ts';
import { fitTo, outgoingTo } from '../testing/asking.ts';
import { configOf } from '../testing/config.ts';
import { createTransport } from '../http/transport.ts';

const CLAUDE = 'eu.anthropic.claude-sonnet-4-5-20250929-v1:0';
const NOVA = 'eu.amazon.nova-pro-v1:0';
const KEY = { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'wJalrXUtnFEMI/K7MDENG', sessionToken: 'session==' };

const transport = createTransport();
const providers = createProviders(transport);
afterAll(() => transport.close());

let upstream: Upstream;

beforeEach(async () => {
  upstream = await startUpstream(json({ ok: true }));
});
afterEach(() => upstream.close());

function signing(secret: unknown = KEY): CredentialConfig {
  return { name: 'aws', type: 'aws_sigv4', secret: JSON.stringify(secret), weight: 1 };
}

function bedrock(over: Parameters<typeof configOf>[1] = {}): Provider {
  const config: ProviderConfig = configOf('bedrock', {
    url: upstream.url.replace(/\/v1$/, ''),
    region: 'eu-central-1',
    ...over,
  });
  const provider = providers(config);
  if (!provider) throw new Error('bedrock is not registered');
  return provider;
}

describe('what it serves', () => {
  it('is converse for every model, messages first for Claude, embeddings for models made for them', () => {
    const provider = bedrock();
    expect(provider.families(CLAUDE)).toEqual(['messages', 'converse']);
    expect(provider.families(NOVA)).toEqual(['converse']);
    expect(provider.families('amazon.titan-embed-text-v2:0')).toEqual(['embeddings']);
    expect(provider.families('eu.cohere.embed-v4:0')).toEqual(['embeddings']);
    expect(provider.families('cohere.command-r-v1:0')).toEqual(['converse']);
  });

  it.each([
    ['eu.anthropic.claude-x', 'EU'],
    ['us.amazon.nova-pro-v1:0', 'US'],
    ['global.anthropic.claude-x', 'GLOBAL'],
    ['apac.anthropic.claude-x', 'APAC'],
    ['jp.anthropic.claude-x', 'JP'],
    ['au.anthropic.claude-x', 'AU'],
    ['anthropic.claude-x', 'DE'],
    ['arn:aws:bedrock:eu-central-1:1:inference-profile/global.anthropic.claude-x', 'GLOBAL'],
    ['arn:aws:bedrock:eu-central-1:1:application-inference-profile/abc', 'DE'],
    ['mine', 'US'],
    ['said', 'FR'],
  ])('%s is processed in %s', (model, place) => {
    const models = [
      { id: 'mine', upstreamId: 'us.anthropic.claude-x' },
      { id: 'said', jurisdiction: 'FR' },
    ];
    expect(bedrock({ jurisdiction: 'DE', models }).jurisdiction(model)).toBe(place);
  });

  it('needs a region to sign for, from the configuration or the address', () => {
    const { region: _region, ...config } = configOf('bedrock', { credentials: [signing()], region: 'x' });
    expect(() => providers(config)).toThrow('region');
    expect(providers({ ...config, url: 'https://bedrock-runtime.eu-west-1.amazonaws.com' })).toBeDefined();
    expect(() => bedrock({ credentials: [signing('secret')] })).toThrow(/^an aws_sigv4 credential must be JSON/);
  });
});

describe('where it asks', () => {
  it.each([
    ['converse', NOVA, false, '/model/eu.amazon.nova-pro-v1%3A0/converse'],
    ['converse', NOVA, true, '/model/eu.amazon.nova-pro-v1%3A0/converse-stream'],
    ['messages', CLAUDE, false, `/model/${encodeURIComponent(CLAUDE)}/invoke`],
    ['messages', CLAUDE, true, `/model/${encodeURIComponent(CLAUDE)}/invoke-with-response-stream`],
    ['converse', 'arn:aws:bedrock:x:1:a/b', false, '/model/arn%3Aaws%3Abedrock%3Ax%3A1%3Aa%2Fb/converse'],
  ] as const)('%s of %s, stream %s', async (family, model, stream, path) => {
    const provider = bedrock({ credentials: [{ name: 'k', type: 'api_key', secret: 'bedrock-key', weight: 1 }] });
    upstream.respond(text(''));
    const answer = await provider.send(outgoingTo(provider, { family, model, stream, body: '{"messages":[]}' }));
    await answer.text(1000);
    const [request] = upstream.requests;
    expect(request?.path).toBe(path);
    expect(request?.headers.authorization).toBe('Bearer bedrock-key');
    expect(request?.headers.accept).toBe(stream ? 'application/vnd.amazon.eventstream' : 'application/json');
  });

  it('a Claude model with the version and the known flags of the client in the body', async () => {
    const provider = bedrock();
    const { text: body } = fitTo(
      provider,
      'messages',
      '{"model":"x","stream":false,"messages":[{"role":"user","content":"a"}],"max_tokens":1.0}',
      { model: CLAUDE },
    );
    const headers = { 'anthropic-beta': 'oauth-2025-04-20, context-1m-2025-08-07,unknown-1,context-1m-2025-08-07' };
    const answer = await provider.send(outgoingTo(provider, { family: 'messages', model: CLAUDE, body, headers }));
    await answer.text(1000);
    expect(upstream.requests[0]?.body).toBe(
      '{"anthropic_version":"bedrock-2023-05-31","anthropic_beta":["context-1m-2025-08-07"],' +
        '"messages":[{"role":"user","content":"a"}],"max_tokens":1.0}',
    );
    expect(upstream.requests[0]?.headers['anthropic-beta']).toBeUndefined();
  });
});

/** SigV4 as AWS documents it, over the request as it arrived. */
function expectedSignature(request: UpstreamRequest): string {
  const [, date = '', signed = ''] =
    /Credential=[^/]+\/(\d{8})\/[^,]+, SignedHeaders=([^,]+)/.exec(request.headers.authorization ?? '') ?? [];
  const sha256 = (data: string): string => createHash('sha256').update(data, 'utf8').digest('hex');
  const hmac = (key: string | Buffer, data: string): Buffer => createHmac('sha256', key).update(data, 'utf8').digest();
  const path = request.path.split('/').map(encodeURIComponent).join('/');
  const names = signed.split(';');
  const headers = names.map((name) => `${name}:${String(request.headers[name]).trim()}\n`).join('');
  const canonical = [request.method, path, '', headers, signed, sha256(request.body)].join('\n');
  const scope = `${date}/eu-central-1/bedrock/aws4_request`;
  const toSign = ['AWS4-HMAC-SHA256', String(request.headers['x-amz-date']), scope, sha256(canonical)].join('\n');
  let key: string | Buffer = `AWS4${KEY.secretAccessKey}`;
  for (const part of [date, 'eu-central-1', 'bedrock', 'aws4_request']) key = hmac(key, part);
  return hmac(key, toSign).toString('hex');
}

describe('signatures', () => {
  it.each([CLAUDE, 'arn:aws:bedrock:eu-central-1:1:application-inference-profile/a.b~c', 'plain'])(
    'of requests for %s are those of the algorithm',
    async (model) => {
      const provider = bedrock({ credentials: [signing()] });
      const answer = await provider.send(outgoingTo(provider, { family: 'converse', model, body: '{"x":"Grüße 😀"}' }));
      await answer.text(1000);
      const request = await upstream.request(0);
      expect(/Signature=([0-9a-f]{64})$/.exec(request.headers.authorization ?? '')?.[1]).toBe(
        expectedSignature(request),
      );
      const signed = /SignedHeaders=([^,]+)/.exec(request.headers.authorization ?? '')?.[1]?.split(';');
      expect(signed).toEqual(expect.arrayContaining(['host', 'x-amz-date', 'x-amz-security-token', 'content-type']));
      expect(request.headers['x-amz-security-token']).toBe(KEY.sessionToken);
      expect(request.headers.authorization).toContain(`Credential=${KEY.accessKeyId}/`);
    },
  );
});

describe('streams', () => {
  const codec = new EventStreamCodec(
    (bytes) => (typeof bytes === 'string' ? bytes : Buffer.from(bytes).toString('utf8')),
    (words) => Buffer.from(words, 'utf8'),
  );

  it('come as server-sent events through the real transport', async () => {
    const frame = codec.encode({
      headers: {
        ':message-type': { type: 'string', value: 'event' },
        ':event-type': { type: 'string', value: 'messageStop' },
      },
      body: Buffer.from('{"stopReason":"end_turn"}'),
    });
    upstream.respond(text(frame, { headers: { 'content-type': 'application/vnd.amazon.eventstream' } }));
    const answer = await bedrock().send(outgoingTo(bedrock(), { family: 'converse', model: NOVA, stream: true }));
    expect(await answer.text(1000)).toBe('event: messageStop\ndata: {"stopReason":"end_turn"}\n\n');
  });

  it('that are refused stay as they are', async () => {
    upstream.respond(json({ message: 'no' }, 403));
    const answer = await bedrock().send(outgoingTo(bedrock(), { family: 'converse', model: NOVA, stream: true }));
    expect([answer.status, await answer.text(1000)]).toEqual([403, '{"message":"no"}']);
  });
});

describe('failures', () => {
  const head = (status: number, kind?: string): { status: number; header: (name: string) => string | undefined } => ({
    status,
    header: (name) => (name === 'x-amzn-errortype' ? kind : undefined),
  });
  const ThrottlingUrl = 'ThrottlingException:http://internal.amazon.com/coral/com.amazon.bedrock/';

  it.each([
    [429, ThrottlingUrl, true, undefined],
    [400, 'ThrottlingException', true, 429],
    [429, 'ModelNotReadyException', true, undefined],
    [424, 'ModelStreamErrorException', true, undefined],
    [424, 'ModelErrorException', false, undefined],
    [408, 'ModelTimeoutException', true, undefined],
    [400, 'ServiceQuotaExceededException', false, undefined],
    [409, 'ConflictException', false, 400],
    [403, 'AccessDeniedException', false, undefined],
    [500, 'InternalServerException', true, undefined],
    [503, 'ServiceUnavailableException', true, undefined],
    [418, 'SomethingNewException', undefined, undefined],
    [418, undefined, undefined, undefined],
  ])('%i %s', (status, kind, retryable, told) => {
    const failure = bedrock().readFailure(head(status, kind), '{"message":"Why."}');
    expect(failure).toEqual({ message: 'Why.', retryAfterMs: undefined, retryable, status: told });
  });

  it('may name their kind in the body', () => {
    const body = '{"__type":"com.amazon.coral.service#ThrottlingException","Message":"m"}';
    expect(bedrock().readFailure(head(400), body)).toMatchObject({ retryable: true, status: 429 });
    expect(bedrock().readFailure(head(502), '<html>')).toMatchObject({ message: undefined, retryable: undefined });
  });
});

describe('embeddings', () => {
  const ask = (model: string, body: unknown): ReturnType<Provider['send']> =>
    bedrock().send(outgoingTo(bedrock(), { family: 'embeddings', model, body: JSON.stringify(body) }));

  it('of Titan take one call a text and count their tokens', async () => {
    upstream.respond((exchange) => {
      const { inputText } = JSON.parse(exchange.request.body) as { inputText: string };
      return json({ embedding: [inputText.length, 0.5], inputTextTokenCount: inputText.length })(exchange);
    });
    const input = ['a', 'bb', 'ccc', 'dddd', 'eeeee', 'ffffff'];
    const answer = await ask('amazon.titan-embed-text-v2:0', { model: 'x', input, dimensions: 256 });
    expect(JSON.parse(await answer.text(10_000))).toEqual({
      object: 'list',
      model: 'amazon.titan-embed-text-v2:0',
      data: input.map((words, index) => ({ object: 'embedding', index, embedding: [words.length, 0.5] })),
      usage: { prompt_tokens: 21, total_tokens: 21 },
    });
    expect(upstream.requests).toHaveLength(6);
    expect(upstream.requests[0]?.path).toBe('/model/amazon.titan-embed-text-v2%3A0/invoke');
    expect(JSON.parse(upstream.requests[0]?.body ?? '')).toMatchObject({ dimensions: 256 });
  });

  it.each([
    ['a list', [[1], [2]]],
    ['an object by type', { float: [[1], [2]] }],
  ])('of Cohere take many texts a call and may answer with %s', async (_name, embeddings) => {
    upstream.respond(json({ embeddings }, 200, { 'x-amzn-bedrock-input-token-count': '7' }));
    const answer = await ask('cohere.embed-v4:0', { model: 'x', input: ['a', 'b'], dimensions: 64 });
    expect(JSON.parse(await answer.text(10_000))).toMatchObject({
      data: [{ embedding: [1] }, { embedding: [2] }],
      usage: { prompt_tokens: 7 },
    });
    expect(upstream.requests.map(({ body }) => JSON.parse(body) as unknown)).toEqual([
      { texts: ['a', 'b'], input_type: 'search_document', embedding_types: ['float'], output_dimension: 64 },
    ]);
  });

  it('fail as a whole with the answer that failed', async () => {
    upstream.respond([json({ embedding: [1], inputTextTokenCount: 1 }), json({ message: 'slow down' }, 429)]);
    const answer = await ask('amazon.titan-embed-text-v2:0', { input: Array.from({ length: 50 }, () => 'a') });
    expect(answer.status).toBe(429);
    expect(await answer.text(1000)).toContain('slow down');
    expect(upstream.requests.length).toBeLessThan(10);
  });

  it('without a vector for each text are no answer', async () => {
    upstream.respond(json({ embeddings: [[1], ['x']] }));
    await expect(ask('cohere.embed-v4:0', { input: ['a', 'b'] })).rejects.toMatchObject({ kind: 'protocol' });
  });

  it.each([
    '{"input":[[1,2]]}',
    '{"input":[1,2]}',
    '{"input":[]}',
    '{}',
    '{"input":"a","dimensions":"many"}',
    JSON.stringify({ input: Array.from({ length: 2049 }, () => 'a') }),
  ])('that cannot be asked for are refused before: %.30s', (body) => {
    const fit = (): unknown => fitTo(bedrock(), 'embeddings', body, { model: 'amazon.titan-embed-text-v2:0' });
    expect(fit).toThrow(BadRequestShape);
  });
});
