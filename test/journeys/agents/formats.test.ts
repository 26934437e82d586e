import type { IncomingHttpHeaders } from 'node:http';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { newKey, resource, startGateway, tenant, type GatewayProcess } from '../../harness/gateway.ts';
import { ledgerRows } from '../../harness/ledger-rows.ts';
import { createDatabase } from '../../harness/postgres.ts';
import { startProviderStandIn, type ProviderStandIn } from '../stand-in.ts';
import { CLAUDE_CODE_ON, work } from './agents.ts';
import { PERSON, REVIEWED, scripted } from './scripted-model.ts';

/** Claude Code in the formats of clouds, in whole sessions: the cloud's own model, and one of another maker. */
const key = newKey();
let providers: ProviderStandIn;
let gateway: GatewayProcess;
let databaseUrl: string;

beforeAll(async () => {
  providers = await startProviderStandIn({ says: scripted(CLAUDE_CODE_ON.flatMap(({ hands }) => hands ?? [])) });
  databaseUrl = await createDatabase(inject('databaseUrl'));
  const vendors = [
    { slug: 'bedrock', base: '', spec: { vendor: 'bedrock', region: 'us-east-1' } },
    { slug: 'vertex', base: '', spec: { vendor: 'vertex', project: 'p-one', region: 'europe-west1' } },
    { slug: 'openai', base: '/v1', spec: { vendor: 'openai' } },
  ];
  const prices = ['upstream', ...vendors.map(({ slug }) => slug)];
  gateway = await startGateway({
    databaseUrl,
    redisUrl: inject('redisUrl'),
    resources: [
      ...tenant({
        upstreamUrl: providers.url,
        key,
        policy: { dlp: { mode: 'Tokenize' } },
        prices: prices.map((slug) => ({ model: `${slug}/*`, input: '2', output: '8' })),
      }),
      {
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { name: 'keys', namespace: 'default' },
        stringData: { main: 'sk-own' },
      },
      ...vendors.map(({ slug, base, spec }) =>
        resource('Provider', slug, {
          slug,
          jurisdiction: 'EU',
          endpoint: { url: `${providers.url}/${slug}${base}`, allowInsecure: true },
          credentials: [{ name: 'main', type: 'APIKey', secretKeyRef: { name: 'keys', key: 'main' } }],
          ...spec,
        }),
      ),
    ],
  });
}, 120_000);

afterAll(async () => {
  await gateway?.stop();
  await providers?.close();
});

const SESSIONS = CLAUDE_CODE_ON.flatMap((agent) =>
  (['own', 'other'] as const).map((place) => [agent.name, place, agent] as const),
);

test.each(SESSIONS)('%s with the model of %s', async (_name, place, agent) => {
  const from = providers.seen.length;
  const ended = await work(agent, { gatewayUrl: gateway.url, key, model: agent[place], contact: PERSON });
  const told = `${ended.said.slice(-1500)}\n${ended.errors.slice(-1500)}`;
  expect(ended, told).toMatchObject({ code: 0 });
  expect(ended.said, told).toContain(`The contact is ${PERSON}.`);
  expect(ended.notes).toContain(`Contact: ${PERSON}\n${REVIEWED}\n`);
  const seen = providers.seen.slice(from);
  expect(seen.some(({ body }) => body.includes(PERSON))).toBe(false);
  if (place === 'own') expect(seen.every(({ headers, body }) => betasOf(headers, body).length > 1)).toBe(true);
  const rows = await ledgerRows(databaseUrl, seen.length);
  expect(rows.every(({ surface }) => surface === 'messages')).toBe(true);
});

/** Beta flags of a request, in the header or in the body. */
function betasOf(headers: IncomingHttpHeaders, body: Buffer): readonly string[] {
  const { anthropic_beta: inBody } = JSON.parse(body.toString('utf8')) as { anthropic_beta?: string[] };
  return inBody ?? String(headers['anthropic-beta'] ?? '').split(',');
}
