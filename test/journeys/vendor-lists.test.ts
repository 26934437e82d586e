import { afterAll, beforeAll, beforeEach, describe, expect, inject, test, vi } from 'vitest';
import { chat, json, text } from '../harness/answers.ts';
import type { Answer } from '../harness/exchange.ts';
import { newKey, resource, startGateway, tenant, type GatewayProcess } from '../harness/gateway.ts';
import { createDatabase } from '../harness/postgres.ts';
import { startUpstream, type Upstream } from '../harness/upstream.ts';

/** What vendors list themselves, as clients find it at `/v1/models`, and how pickers of chat applications are filled. */

const key = newKey();
let upstream: Upstream;
let gateway: GatewayProcess;
/** What is answered at a path and query; 404 where there is none. */
const lists = new Map<string, Answer>();
const named = (...ids: readonly string[]): object => ({
  object: 'list',
  data: ids.map((id) => ({ id, object: 'model' })),
});

beforeAll(async () => {
  upstream = await startUpstream((exchange) => {
    const { method, path } = exchange.request;
    if (method === 'POST') return chat({ content: 'Hello.' })(exchange);
    return (lists.get(path) ?? text('not here', { status: 404 }))(exchange);
  });
  const credentials = [{ name: 'one', type: 'APIKey', secretKeyRef: { name: 'keys', key: 'key' } }];
  const { origin } = new URL(upstream.url);
  const provider = (slug: string, spec: object = {}): object =>
    resource('Provider', slug, {
      slug,
      jurisdiction: 'US',
      endpoint: { url: `${origin}/${slug}`, allowInsecure: true },
      credentials,
      ...spec,
    });
  lists.set(
    '/openai/models',
    json(
      named(
        'gpt-4o-2024-08-06',
        'gpt-4o-mini',
        'gpt-99-unpriced',
        'our-deployment',
        'bad id',
        '../up',
        'x'.repeat(300),
      ),
    ),
  );
  lists.set(
    '/anthropic/models?limit=1000',
    json({ ...named('claude-sonnet-5-5'), has_more: true, last_id: 'claude/1' }),
  );
  lists.set(
    '/anthropic/models?limit=1000&after_id=claude%2F1',
    json({ ...named('claude-haiku-4-5-20251001'), has_more: false }),
  );
  lists.set(
    '/gemini/models?pageSize=1000',
    json({ models: [{ name: 'models/gemini-2.5-flash' }, { name: 'tuned/x' }], nextPageToken: 'a+b' }),
  );
  lists.set('/gemini/models?pageSize=1000&pageToken=a%2Bb', json({ models: [{ name: 'models/gemini-2.5-pro' }] }));
  lists.set('/together/models', json([{ id: 'meta-llama/Llama-3.3-70B-Instruct-Turbo' }, { id: 7 }, null]));
  lists.set('/groq/models', json(named()));
  lists.set('/deepseek/models', text('<html>', { status: 200 }));
  lists.set('/cerebras/models', text(`{"data":[${'[],'.repeat(600_000)}1]}`));
  lists.set('/xai/models', text('x'.repeat(9 * 1024 * 1024)));
  gateway = await startGateway({
    resources: [
      ...tenant({
        upstreamUrl: `${origin}/custom`,
        key,
        workload: {
          allowedModels: [
            'openai/*',
            'anthropic/*',
            'gemini/*',
            'together/*',
            'groq/*',
            'deepseek/*',
            'cerebras/*',
            'xai/*',
            'mistral/*',
          ],
        },
        prices: ['openai/our-deployment', 'together/*', 'upstream/*'].map((model) => ({
          model,
          input: '1',
          output: '1',
        })),
      }),
      ...['openai', 'anthropic', 'gemini', 'together', 'groq', 'deepseek', 'cerebras', 'xai'].map((slug) =>
        provider(slug),
      ),
      provider('mistral', { models: [{ id: 'mistral-large-latest' }], onlyListedModels: true }),
      {
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { name: 'keys', namespace: 'default' },
        stringData: { key: 'sk-theirs' },
      },
    ],
    redisUrl: inject('redisUrl'),
    databaseUrl: await createDatabase(inject('databaseUrl')),
    env: { GW_MODEL_LIST_SECONDS: '2' },
  });
  await vi.waitFor(async () => {
    const { listed = 0, failed = 0 } = await asked();
    if (listed < 4 || failed < 5) throw new Error('not all of them were asked yet');
  }, 20_000);
}, 90_000);
afterAll(async () => {
  await gateway?.stop();
  await upstream?.close();
});
let before = 0;
beforeEach(() => {
  before = upstream.requests.length;
});

const get = (path: string, headers: Record<string, string> = { authorization: `Bearer ${key}` }): Promise<Response> =>
  fetch(gateway.url + path, { headers });
const ids = async (path = '/v1/models', headers?: Record<string, string>): Promise<readonly string[]> => {
  const { data } = (await (await get(path, headers)).json()) as { data: { id: string }[] };
  return data.map(({ id }) => id);
};
const of = async (slug: string): Promise<readonly string[]> => (await ids()).filter((id) => id.startsWith(`${slug}/`));

async function metrics(): Promise<string> {
  return (await fetch(`${gateway.adminUrl}/metrics`)).text();
}
async function asked(): Promise<Readonly<Record<string, number>>> {
  const found = (await metrics()).matchAll(/gw_model_lists_total\{result="(\w+)"\} (\d+)/g);
  return Object.fromEntries(Array.from(found, ([, result, count]) => [result!, Number(count)]));
}

describe('what a vendor lists', () => {
  test('is what is offered, where it has a price, under the names that are short for it too', async () => {
    expect(await of('openai')).toEqual([
      'openai/gpt-4o',
      'openai/gpt-4o-2024-08-06',
      'openai/gpt-4o-mini',
      'openai/our-deployment',
    ]);
    expect(await of('together')).toEqual(['together/meta-llama/Llama-3.3-70B-Instruct-Turbo']);
  });

  test('is read page by page', async () => {
    expect(await of('anthropic')).toEqual([
      'anthropic/claude-haiku-4-5',
      'anthropic/claude-haiku-4-5-20251001',
      'anthropic/claude-sonnet-5-5',
    ]);
    expect(await of('gemini')).toEqual(['gemini/gemini-2.5-flash', 'gemini/gemini-2.5-pro']);
  });

  test('is asked for with the account of the provider, and with nothing of a caller', () => {
    const find = (path: string) => upstream.requests.find((request) => request.path === path)!;
    expect(find('/openai/models').headers['authorization']).toBe('Bearer sk-theirs');
    expect(find('/anthropic/models?limit=1000').headers).toMatchObject({
      'x-api-key': 'sk-theirs',
      'anthropic-version': '2023-06-01',
    });
    expect(find('/gemini/models?pageSize=1000').headers['x-goog-api-key']).toBe('sk-theirs');
    // It serves those alone that it is configured with.
    expect(upstream.requests.filter(({ path }) => path.startsWith('/mistral/'))).toEqual([]);
  });

  test.each([
    ['names nothing', 'groq', 'its answer lists no models'],
    ['is no JSON', 'deepseek', 'it did not answer in JSON'],
    ['has too many values', 'cerebras', 'too many values'],
    ['is too long', 'xai', 'bytes'],
  ])('is not believed where it %s: what is known is offered', async (_what, slug, reason) => {
    expect((await of(slug)).length).toBeGreaterThan(0);
    expect(gateway.log.filter((line) => line.includes('models.not_listed') && line.includes(slug))).toEqual([
      expect.stringContaining(reason),
    ]);
    expect(await metrics()).not.toContain(`gw_model_list_age_seconds{provider="default/${slug}"}`);
  });

  test('stays where the vendor no longer tells one', async () => {
    lists.delete('/together/models');
    const { failed = 0 } = await asked();
    await vi.waitFor(() => {
      expect(gateway.log.some((line) => line.includes('default/together') && line.includes('it answered 404'))).toBe(
        true,
      );
    }, 20_000);
    expect((await asked())['failed']).toBeGreaterThan(failed);
    expect(await of('together')).toEqual(['together/meta-llama/Llama-3.3-70B-Instruct-Turbo']);
    expect(await metrics()).toContain('gw_model_list_age_seconds{provider="default/together"}');
  });

  test('changes with what the vendor tells next', async () => {
    lists.set('/openai/models', json(named('gpt-4o-mini')));
    await vi.waitFor(async () => {
      expect(await of('openai')).toEqual(['openai/gpt-4o-mini', 'openai/our-deployment']);
    }, 20_000);
  });

  test('closes nothing: a model that is not listed is called as before', async () => {
    const answer = await fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
      body: JSON.stringify({ model: 'openai/gpt-4.1', messages: [{ role: 'user', content: 'Hi.' }], max_tokens: 5 }),
    });
    expect(answer.status).toBe(200);
  });
});

describe('the picker', () => {
  const say = (model: string, headers: Record<string, string>): Promise<Response> =>
    fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ model, messages: [{ role: 'user', content: 'Hi.' }], stream: false }),
    });

  // github.com/open-webui/open-webui, backend/open_webui/routers/openai.py: send_get_request
  test('of Open WebUI is filled by one request, and each of its names can be asked', async () => {
    const headers = {
      authorization: `Bearer ${key}`,
      'user-agent': 'Python/3.11 aiohttp/3.12.15',
      'X-OpenWebUI-User-Name': 'Ada',
      'X-OpenWebUI-User-Id': 'u-1',
      'X-OpenWebUI-User-Role': 'user',
    };
    const answer = await get('/v1/models', headers);
    const { object, data } = (await answer.json()) as { object: string; data: Record<string, unknown>[] };
    expect([answer.status, object]).toEqual([200, 'list']);
    for (const { id, object: kind, owned_by: owner } of data) {
      expect([typeof id, kind, typeof owner]).toEqual(['string', 'model', 'string']);
    }
    expect(data.map(({ id }) => id)).toContain('openai/gpt-4o-mini');
    expect(upstream.requests.slice(before).filter(({ method }) => method === 'POST')).toEqual([]);
    expect((await say('openai/gpt-4o-mini', headers)).status).toBe(200);
  });

  // github.com/danny-avila/LibreChat, packages/api/src/endpoints/models.ts: fetchModels
  test('of LibreChat is filled in the chat shape', async () => {
    const headers = {
      authorization: `Bearer ${key}`,
      accept: 'application/json, text/plain, */*',
      'user-agent': 'axios/1.12.1',
    };
    expect(await ids('/v1/models', headers)).toEqual(await ids());
    expect(await ids('/v1/models?user=u-1', headers)).toEqual(await ids());
  });

  test('of LibreChat is filled whole in the vendor shape, which it does not page through', async () => {
    const headers = {
      'x-api-key': key,
      'anthropic-version': '2023-06-01',
      accept: 'application/json, text/plain, */*',
    };
    const every = await ids();
    expect(every.length).toBeGreaterThan(20);
    expect(await ids('/v1/models', headers)).toEqual(every);
  });
});
