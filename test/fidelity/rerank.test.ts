import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { json } from '../harness/answers.ts';
import { newKey, startGateway, tenant, type GatewayProcess } from '../harness/gateway.ts';
import { rowOf } from '../harness/ledger-rows.ts';
import { createDatabase } from '../harness/postgres.ts';
import { startUpstream, type Upstream } from '../harness/upstream.ts';

/** `POST /v1/rerank`: one shape for Cohere, Jina, vLLM and Voyage, inspected, priced by the token or by the search. */

const keys = { tokenized: newKey(), blocked: newKey() };
type Name = keyof typeof keys;
const MODES: Readonly<Record<Name, string>> = { tokenized: 'Tokenize', blocked: 'Block' };
let upstream: Upstream;
let databaseUrl: string;
const gateways = {} as Record<Name, GatewayProcess>;

beforeAll(async () => {
  upstream = await startUpstream();
  databaseUrl = await createDatabase(inject('databaseUrl'));
  for (const name of Object.keys(keys) as Name[]) {
    gateways[name] = await startGateway({
      resources: tenant({
        upstreamUrl: upstream.url,
        key: keys[name],
        policy: { dlp: { mode: MODES[name] } },
        prices: [
          { model: 'upstream/jina', input: '2' },
          { model: 'upstream/cohere', unit: 'Search', input: '0.002' },
          { model: 'upstream/flat', unit: 'Call', input: '0.5' },
        ],
      }),
      redisUrl: inject('redisUrl'),
      databaseUrl,
    });
  }
}, 90_000);

afterAll(async () => {
  await Promise.all(Object.values(gateways).map((gateway) => gateway.stop()));
  await upstream?.close();
});

function rerank(name: Name, body: object): Promise<Response> {
  return fetch(`${gateways[name].url}/v1/rerank`, {
    method: 'POST',
    headers: { authorization: `Bearer ${keys[name]}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
}

const DOCUMENTS = ['Write to ada@example.com', { text: 'Berlin', author: 'of ada@example.com' }];

test('query and documents leave with tags, and the documents that come back have their words again', async () => {
  upstream.respond(({ request: { body }, ...exchange }) => {
    const { documents } = JSON.parse(body) as { documents: unknown[] };
    const results = [{ index: 0, relevance_score: 0.9, document: { text: documents[0] } }];
    return json({ id: 'r', results, usage: { total_tokens: 30 } })({ request: { body }, ...exchange } as never);
  });
  const asked = {
    model: 'upstream/jina',
    query: 'Who is ada@example.com?',
    documents: DOCUMENTS,
    top_n: 1,
    return_documents: true,
  };
  const answer = await rerank('tokenized', asked);
  expect(await answer.json()).toMatchObject({
    results: [{ index: 0, relevance_score: 0.9, document: { text: 'Write to ada@example.com' } }],
  });
  const { path, body } = upstream.requests.at(-1)!;
  expect([path, JSON.parse(body)]).toEqual([
    '/v1/rerank',
    {
      model: 'jina',
      query: 'Who is «EMAIL_1»?',
      documents: ['Write to «EMAIL_1»', { text: 'Berlin', author: 'of «EMAIL_1»' }],
      top_n: 1,
      return_documents: true,
    },
  ]);
  expect(await rowOf(databaseUrl, answer.headers.get('x-request-id'))).toMatchObject({
    surface: 'rerank',
    wire_format: 'rerank',
    outcome: 'served',
    usage_source: 'provider',
    cost_nano_eur: '60000',
    dlp: { findings: { EMAIL: 3 } },
  });
});

test.each([
  [
    'by the search, as the vendor tells',
    'cohere',
    { results: [], meta: { billed_units: { search_units: 2 } } },
    '4000000',
  ],
  ['by the search, as it was asked for', 'cohere', { results: [] }, '2000000'],
  [
    'by the search, where what is told cannot be',
    'cohere',
    { results: [], meta: { billed_units: { search_units: 1e9 } } },
    '2000000',
  ],
  ['by the call', 'flat', { data: [{ index: 0, relevance_score: 0.1 }], usage: { total_tokens: 5 } }, '500000000'],
])('is priced %s', async (_, model, told, cost) => {
  upstream.respond(json(told));
  const answer = await rerank('tokenized', { model: `upstream/${model}`, query: 'a', documents: ['b'] });
  expect(await answer.json()).toHaveProperty('results');
  expect(await rowOf(databaseUrl, answer.headers.get('x-request-id'))).toMatchObject({ cost_nano_eur: cost });
});

test('mode Block, a model without a price, and a request of another shape: nothing is sent', async () => {
  const before = upstream.requests.length;
  const statuses = [
    await rerank('blocked', { model: 'upstream/jina', query: 'a', documents: DOCUMENTS }),
    await rerank('tokenized', { model: 'upstream/unpriced', query: 'a', documents: ['b'] }),
    await rerank('tokenized', { model: 'jina', query: 'a', documents: ['b'] }),
    await rerank('tokenized', { model: 'upstream/jina', documents: ['b'] }),
  ].map(({ status }) => status);
  expect([statuses, upstream.requests.length]).toEqual([[422, 400, 400, 400], before]);
});
