import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Outgoing, Provider } from '#/ports/provider.ts';
import { BadRequestShape } from '#/wire/hub/codec.ts';
import { json, sse } from '../../../test/harness/answers.ts';
import { startUpstream, type Upstream } from '../../../test/harness/upstream.ts';
import { createProviders } from '../registry.ts';
import { fitTo, outgoingTo } from '../testing/asking.ts';
import { apiKey, configOf } from '../testing/config.ts';
import { createTransport } from '../http/transport.ts';

const transport = createTransport();
const providers = createProviders(transport);
afterAll(() => transport.close());

let upstream: Upstream;
let gemini: Provider;

beforeEach(async () => {
  upstream = await startUpstream(json({ ok: true }));
  const url = upstream.url.replace(/\/v1$/, '/v1beta');
  const made = providers(configOf('gemini', { url, credentials: [apiKey('AIza-key')] }));
  if (!made) throw new Error('gemini is not registered');
  gemini = made;
});
afterEach(() => upstream.close());

async function ask(over: Partial<Outgoing>): Promise<string> {
  const answer = await gemini.send(outgoingTo(gemini, { family: 'gemini', model: 'gemini-3-pro', ...over }));
  return answer.text(1_000_000);
}

it.each([
  ['gemini-3-pro', false, '/v1beta/models/gemini-3-pro:generateContent'],
  ['gemini-3-pro', true, '/v1beta/models/gemini-3-pro:streamGenerateContent?alt=sse'],
  ['a/../b?c', false, '/v1beta/models/a%2F..%2Fb%3Fc:generateContent'],
])('asks for %s, stream %s, with the key in its own header', async (model, stream, path) => {
  await ask({ model, stream, body: '{"contents":[]}', headers: { 'anthropic-beta': 'x', authorization: 'Bearer c' } });
  const [request] = upstream.requests;
  expect([request?.method, request?.path, request?.body]).toEqual(['POST', path, '{"contents":[]}']);
  expect(request?.headers['x-goog-api-key']).toBe('AIza-key');
  expect(request?.headers.authorization).toBeUndefined();
  expect(request?.headers['anthropic-beta']).toBeUndefined();
});

it('streams as it came', async () => {
  upstream.respond(sse([{ data: { candidates: [] } }], { splitAt: 'every-byte' }));
  expect(await ask({ stream: true })).toBe('data: {"candidates":[]}\n\n');
});

it('serves its own family, and embeddings by models made for them', () => {
  expect(gemini.families('gemini-3-pro')).toEqual(['gemini']);
  expect(gemini.families('gemini-embedding-001')).toEqual(['embeddings']);
  expect(gemini.families('text-embedding-004')).toEqual(['embeddings']);
});

it('reads a wait from the body and knows what no waiting helps against', () => {
  const failure = (details: unknown): unknown => {
    const body = JSON.stringify([{ error: { code: 429, message: 'Quota.', status: 'RESOURCE_EXHAUSTED', details } }]);
    return gemini.readFailure({ status: 429, header: () => undefined }, body);
  };
  const retry = { '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '45.5s' };
  expect(failure([retry])).toMatchObject({ message: 'Quota.', retryAfterMs: 45_500, retryable: undefined });
  const quota = {
    '@type': 'type.googleapis.com/google.rpc.QuotaFailure',
    violations: [{ quotaId: 'GenerateRequestsPerDayPerProjectPerModel' }],
  };
  expect(failure([quota])).toMatchObject({ retryable: false });
});

describe('embeddings', () => {
  it('go in batches of a hundred and come back in order', async () => {
    upstream.respond((exchange) => {
      const { requests } = JSON.parse(exchange.request.body) as {
        requests: { content: { parts: { text: string }[] } }[];
      };
      const embeddings = requests.map(({ content }) => ({ values: [Number(content.parts[0]?.text)] }));
      return json({ embeddings })(exchange);
    });
    const input = Array.from({ length: 250 }, (_, index) => String(index));
    const body = JSON.stringify({ model: 'x', input, dimensions: 16 });
    const text = await ask({ family: 'embeddings', model: 'gemini-embedding-001', body });
    const answer = JSON.parse(text) as { data: { index: number; embedding: number[] }[]; usage?: unknown };
    expect(answer.data.map(({ index, embedding }) => [index, embedding])).toEqual(
      input.map((_, index) => [index, [index]]),
    );
    expect(answer.usage).toBeUndefined();
    expect(upstream.requests).toHaveLength(3);
    const [request] = upstream.requests;
    expect(request?.path).toBe('/v1beta/models/gemini-embedding-001:batchEmbedContents');
    expect((JSON.parse(request?.body ?? '') as { requests: unknown[] }).requests[0]).toEqual({
      model: 'models/gemini-embedding-001',
      content: { parts: [{ text: '0' }] },
      outputDimensionality: 16,
    });
  });

  it('of one text, without more than was asked for', async () => {
    upstream.respond(json({ embeddings: [{ values: [0.5] }], usageMetadata: { promptTokenCount: 3 } }));
    const text = await ask({ family: 'embeddings', model: 'gemini-embedding-001', body: '{"input":"a"}' });
    expect(JSON.parse(text)).toMatchObject({ data: [{ embedding: [0.5] }], usage: { prompt_tokens: 3 } });
  });

  it.each(['{"embeddings":[{"values":[]}]}', '{"embeddings":[null]}', '{"embeddings":[]}', '{}', '[]', 'text'])(
    'are no answer when it is %s',
    async (answer) => {
      upstream.respond(({ response }) => void response.end(answer));
      const asked = ask({ family: 'embeddings', model: 'gemini-embedding-001', body: '{"input":"a"}' });
      await expect(asked).rejects.toMatchObject({ kind: 'protocol' });
    },
  );

  it('of tokens are refused before', () => {
    const fit = (): unknown => fitTo(gemini, 'embeddings', '{"input":[1,2]}', { model: 'gemini-embedding-001' });
    expect(fit).toThrow(BadRequestShape);
  });
});

it('TypeSafe serves typed decisions alone, and may be asked again when it was too early', async () => {
  const typesafe = providers(configOf('typesafe'))!;
  expect(typesafe.families('jev-latest')).toEqual(['systemone', 'decisions']);
  const body = '{"detail":{"error_type":"e","message":"Soon."}}';
  expect(typesafe.readFailure({ status: 425, header: () => undefined }, body)).toMatchObject({
    message: 'Soon.',
    retryable: true,
  });
});
