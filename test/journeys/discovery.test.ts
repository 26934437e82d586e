import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { newKey, resource, startGateway, tenant, type GatewayProcess } from '../harness/gateway.ts';
import { createDatabase } from '../harness/postgres.ts';
import { startUpstream, type Upstream } from '../harness/upstream.ts';

/** What `GET /v1/models` tells where nobody has listed models one by one. */

const key = newKey();
let upstream: Upstream;
let gateway: GatewayProcess;

const credentials = [{ name: 'one', type: 'APIKey', secretKeyRef: { name: 'keys', key: 'key' } }];

beforeAll(async () => {
  upstream = await startUpstream();
  const endpoint = { url: upstream.url, allowInsecure: true };
  const provider = (slug: string, spec: object): object =>
    resource('Provider', slug, { slug, jurisdiction: 'US', endpoint, credentials, ...spec });
  gateway = await startGateway({
    resources: [
      ...tenant({
        upstreamUrl: upstream.url,
        key,
        workload: { allowedModels: ['anthropic/*', 'openai/*', 'mistral/*', 'upstream/*'] },
        prices: [
          { model: 'upstream/*', input: '2', output: '8' },
          { model: 'upstream/our-own', input: '1', output: '1' },
          { model: 'openai/our-deployment', input: '1', output: '1' },
        ],
      }),
      provider('anthropic', { vendor: 'anthropic' }),
      provider('openai', {
        vendor: 'openai',
        models: [{ id: 'gpt-4o' }, { id: 'our-deployment', upstreamId: 'gpt-4o' }],
      }),
      provider('mistral', { vendor: 'mistral', models: [{ id: 'mistral-large-latest' }], onlyListedModels: true }),
      provider('deepseek', { vendor: 'deepseek' }),
      {
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { name: 'keys', namespace: 'default' },
        stringData: { key: 'sk-test' },
      },
    ],
    redisUrl: inject('redisUrl'),
    databaseUrl: await createDatabase(inject('databaseUrl')),
  });
}, 60_000);

afterAll(async () => {
  await gateway?.stop();
  await upstream?.close();
});

const get = (path: string, headers: Record<string, string> = {}, method = 'GET'): Promise<Response> =>
  fetch(gateway.url + path, { method, headers: { authorization: `Bearer ${key}`, ...headers } });
const VERSION = { 'anthropic-version': '2023-06-01' };

interface Listed {
  readonly data: readonly { readonly id: string }[];
  readonly has_more?: boolean;
  readonly last_id?: string;
}
const idsOf = ({ data }: Listed): readonly string[] => data.map(({ id }) => id);
const list = async (): Promise<readonly string[]> => idsOf((await (await get('/v1/models')).json()) as Listed);

describe('models that nobody listed', () => {
  test('are those that catalogue and prices know of the vendors that policy and credentials reach', async () => {
    const ids = await list();
    expect(ids).toEqual(expect.arrayContaining(['anthropic/claude-sonnet-5-5', 'anthropic/claude-opus-5-5']));
    // What a Provider lists is added, and does not close the rest.
    expect(ids).toEqual(expect.arrayContaining(['openai/our-deployment', 'openai/gpt-4o', 'openai/gpt-6.1-sol']));
    expect(ids.filter((id) => id.startsWith('mistral/'))).toEqual(['mistral/mistral-large-latest']);
    expect(ids.filter((id) => id.startsWith('upstream/'))).toEqual(['upstream/our-own']);
    // Not allowed.
    expect(ids.filter((id) => id.startsWith('deepseek/'))).toEqual([]);
    // Names of the data that no API takes.
    expect(ids.filter((id) => /:|-$/.test(id))).toEqual([]);
    expect(upstream.requests).toEqual([]);
  });

  test('are told one by one, and by no other name', async () => {
    expect((await get('/v1/models/anthropic/claude-sonnet-5-5')).status).toBe(200);
    expect((await get('/anthropic/v1/models/claude-sonnet-5-5')).status).toBe(200);
    expect((await get('/v1/models/mistral/mistral-small-latest')).status).toBe(404);
    expect((await get('/v1/models/openai/gpt-4o-mini')).status).toBe(200);
  });

  test('can be called, unless the Provider serves those alone that it lists', async () => {
    const ask = (model: string): Promise<Response> =>
      fetch(`${gateway.url}/v1/chat/completions`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
        body: JSON.stringify({ model, messages: [{ role: 'user', content: 'Hi.' }], max_tokens: 5 }),
      });
    expect((await ask('openai/gpt-4o-mini')).status).toBe(200);
    expect((await ask('mistral/mistral-small-latest')).status).toBe(404);
  });

  test.each([
    ['gpt-4o-mini', 400, 'openai/gpt-4o-mini'],
    ['openai/gtp-4o-mini', 400, 'openai/gpt-4o-mini'],
    ['mistral/mistral-lrge-latest', 404, 'mistral/mistral-large-latest'],
    // What the caller may not reach is not named.
    ['deepsek/deepseek-chat', 403, undefined],
  ])('are named where a call misses them: %s', async (model, status, near) => {
    const answer = await fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
      body: JSON.stringify({ model, messages: [{ role: 'user', content: 'Hi.' }], max_tokens: 5 }),
    });
    const { error } = (await answer.json()) as { error: { message: string; param: string } };
    expect([answer.status, error.param]).toEqual([status, 'model']);
    const told = /Did you mean (\S+?)[ ?]/.exec(error.message)?.[1];
    expect(told).toBe(near);
  });

  test('come in pages in the vendor shape, as coding agents ask for them', async () => {
    const every = await list();
    const whole = (await (await get('/v1/models?limit=1000', VERSION)).json()) as Listed;
    expect(idsOf(whole)).toEqual(every);
    const paged: string[] = [];
    for (let after = ''; ;) {
      const page = (await (await get(`/v1/models?limit=20${after}`, VERSION)).json()) as Listed;
      paged.push(...idsOf(page));
      if (page.has_more !== true) break;
      after = `&after_id=${encodeURIComponent(page.last_id!)}`;
    }
    expect(paged).toEqual(every);
  });

  test.each(['/v1/models', '/anthropic/v1/models'])('HEAD %s answers without a body', async (path) => {
    const answer = await get(path, {}, 'HEAD');
    expect([answer.status, await answer.text()]).toEqual([200, '']);
  });
});
