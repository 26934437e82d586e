import { hash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { newKey, resource, startGateway, type GatewayProcess } from '../../harness/gateway.ts';
import { createDatabase } from '../../harness/postgres.ts';
import { startProviderStandIn, type ProviderStandIn } from '../stand-in.ts';
import { AGENTS, work, type Agent, type Ended } from './agents.ts';
import { DESK, PERSON, REVIEWED, scripted } from './scripted-model.ts';

/**
 * Coding agents as their packages ship them, each in whole sessions: it reads notes, edits them and runs commands, ten
 * calls of tools, with thinking on. A few of all combinations, or all of them with AGENTS=all.
 */
const MODES = ['AllowLog', 'Tokenize', 'Block'] as const;
type Mode = (typeof MODES)[number];
/** Where the model is: the vendor's own, another's, or an alias whose first model fails in the middle. */
const PLACES = ['own', 'other', 'alias'] as const;
type Place = (typeof PLACES)[number];

const VENDORS = [
  { vendor: 'anthropic', base: '' },
  { vendor: 'openai', base: '/v1' },
  { vendor: 'mistral', base: '/v1' },
] as const;
/** So many requests a failing provider answers, then none. */
const ANSWERED = 4;

const keys = Object.fromEntries(MODES.map((mode) => [mode, newKey()])) as Record<Mode, string>;
/** A provider that fails for each session, since one that has failed is left alone for a while. */
const ALIASES = AGENTS.flatMap((agent, at) =>
  MODES.map((mode) => {
    const name = `${at}-${mode.toLowerCase()}`;
    return { agent, mode, alias: `gw/agent-${name}`, failing: `failing-${name}`, own: agent.own, other: agent.other };
  }),
);
let providers: ProviderStandIn;
let gateway: GatewayProcess;
/** Requests to failing providers since a session began. */
let asked = 0;
let answered = ANSWERED;

beforeAll(async () => {
  providers = await startProviderStandIn({
    says: scripted(AGENTS.flatMap(({ hands }) => hands ?? [])),
    answer: ({ kind }) => {
      if (!kind.startsWith('failing-') || ++asked <= answered) return undefined;
      return { status: 503, body: { error: { message: 'Down for maintenance.' } } };
    },
  });
  gateway = await startGateway({
    databaseUrl: await createDatabase(inject('databaseUrl')),
    redisUrl: inject('redisUrl'),
    resources: resources(providers.url),
  });
}, 120_000);

afterAll(async () => {
  await gateway?.stop();
  await providers?.close();
});

function resources(url: string): object[] {
  const named = [
    ...VENDORS.map((one) => ({ ...one, slug: one.vendor as string })),
    ...ALIASES.map(({ failing, own }) => ({ ...VENDORS.find(({ vendor }) => own.startsWith(vendor))!, slug: failing })),
  ];
  return [
    resource('Organization', 'acme', { contact: { email: 'ops@acme.example' }, priceBookRef: { name: 'prices' } }),
    {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'keys', namespace: 'default' },
      stringData: { main: 'sk-own' },
    },
    ...named.map(({ slug, vendor, base }) =>
      resource('Provider', slug, {
        slug,
        vendor,
        jurisdiction: 'EU',
        endpoint: { url: `${url}/${slug}${base}`, allowInsecure: true },
        credentials: [{ name: 'main', type: 'APIKey', secretKeyRef: { name: 'keys', key: 'main' } }],
        circuitBreaker: { minRequests: 100_000 },
      }),
    ),
    ...ALIASES.map(({ alias, failing, own, other }) =>
      resource('ModelAlias', failing, {
        alias,
        strategy: 'Failover',
        targets: [{ model: own.replace(/^[^/]+/, failing) }, { model: other, priority: 1 }],
      }),
    ),
    resource('PriceBook', 'prices', {
      prices: named.map(({ slug }) => ({ model: `${slug}/*`, input: '2', output: '8' })),
    }),
    ...MODES.flatMap((mode) => {
      const name = mode.toLowerCase();
      return [
        resource('Workload', name, { organizationRef: { name: 'acme' } }),
        resource('VirtualKey', name, {
          workloadRef: { name },
          hash: { algorithm: 'SHA256', value: hash('sha256', keys[mode], 'hex') },
        }),
        resource('Policy', name, { targetRefs: [{ kind: 'Workload', name }], defaults: { dlp: { mode } } }),
      ];
    }),
  ];
}

function modelOf(agent: Agent, place: Place, mode: Mode): string {
  return place === 'alias' ? ALIASES.find((one) => one.agent === agent && one.mode === mode)!.alias : agent[place];
}

const all = process.env['AGENTS'] === 'all';
/** aider's packages are many: `make test-agents` installs them. */
const PRESENT = all ? AGENTS : AGENTS.filter(({ name }) => name !== 'aider');
const SESSIONS = PRESENT.flatMap((agent, row) =>
  PLACES.flatMap((place, column) =>
    MODES.filter((_, at) => all || at === (row + column) % MODES.length).map(
      (mode) => [agent.name, place, mode, agent] as const,
    ),
  ),
);

describe('a session ends by its own will', () => {
  test.each(SESSIONS)('%s with the model of %s under %s', async (_name, place, mode, agent) => {
    const from = providers.seen.length;
    asked = 0;
    // Without tools a session is one request.
    answered = agent.hands ? ANSWERED : 0;
    // What is protected is refused under Block, which is what it is for.
    const contact = mode === 'Block' ? DESK : PERSON;
    const ended = await work(agent, {
      gatewayUrl: gateway.url,
      key: keys[mode],
      model: modelOf(agent, place, mode),
      contact,
    });
    const seen = providers.seen.slice(from);
    expect(ended, told(ended)).toMatchObject({ code: 0 });
    expect(ended.said, told(ended)).toContain(`The contact is ${contact}.`);
    expect(ended.notes).toContain(`Contact: ${contact}\n${REVIEWED}\n`);
    const isTold = seen.some(({ body }) => body.includes(contact));
    expect(isTold).toBe(mode !== 'Tokenize');
    if (place === 'alias') expect(new Set(seen.map(({ kind }) => kind)).size).toBeGreaterThan(1);
  });
});

describe('a wrong key ends a session with a sentence', () => {
  test.each(PRESENT.map((agent) => [agent.name, agent] as const))('%s', async (_name, agent) => {
    const from = providers.seen.length;
    const key = newKey();
    const ended = await work(agent, { gatewayUrl: gateway.url, key, model: agent.own, contact: DESK });
    expect(ended.said + ended.errors, told(ended)).toContain('API key');
    expect(providers.seen.slice(from)).toEqual([]);
  });
});

function told({ code, said, errors, seconds }: Ended): string {
  return `ended with ${code} after ${seconds.toFixed(1)} s\n${said.slice(-1500)}\n${errors.slice(-1500)}`;
}
