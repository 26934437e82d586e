import { hash } from 'node:crypto';
import { afterAll, beforeAll, expect, inject } from 'vitest';
import { json, sse, text } from '../harness/answers.ts';
import type { Exchange } from '../harness/exchange.ts';
import { newKey, resource, startGateway, type GatewayProcess } from '../harness/gateway.ts';
import { createDatabase } from '../harness/postgres.ts';
import { startUpstream, type Upstream } from '../harness/upstream.ts';

/** `app` and `rival` are two organizations; `app` and `other` two workloads of one; `open` and `opener` share. */
const TENANTS = ['app', 'other', 'rival', 'open', 'opener'] as const;
export type Tenant = (typeof TENANTS)[number];
export const ORGANIZATIONS: Readonly<Record<Tenant, string>> = {
  app: 'acme',
  other: 'acme',
  rival: 'rival',
  open: 'open',
  opener: 'open',
};
const keys = Object.fromEntries(TENANTS.map((name) => [name, newKey()])) as Record<Tenant, string>;

export let upstream: Upstream;
const gateways: GatewayProcess[] = [];
export let made = 0;

/** Two gateways of one database, and a provider that serves everything; for the file that calls it. */
export function startTenants(): void {
  beforeAll(async () => {
    upstream = await startUpstream(obliging);
    const provider = (slug: string, more: object): object =>
      resource('Provider', slug, {
        slug,
        endpoint: { url: upstream.url, allowInsecure: true },
        jurisdiction: 'EU',
        credentials: ['first', 'second'].map((key) => ({
          name: key,
          type: 'APIKey',
          secretKeyRef: { name: 'accounts', key },
        })),
        ...more,
      });
    const organization = (name: string, more: object = {}): object =>
      resource('Organization', name, {
        contact: { email: 'ops@acme.example' },
        priceBookRef: { name: 'prices' },
        ...more,
      });
    const secret = {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'accounts', namespace: 'default' },
      stringData: { first: 'first-account', second: 'second-account' },
    };
    const resources = [
      secret,
      organization('acme'),
      organization('rival'),
      organization('open', { sharedObjects: 'Organization' }),
      resource('Policy', 'logged', {
        targetRefs: TENANTS.map((name) => ({ kind: 'Workload', name })),
        defaults: { dlp: { mode: 'AllowLog' }, passthrough: ['batches', 'uploads', 'fim', 'score', 'evals'] },
      }),
      ...TENANTS.flatMap((name) => [
        resource('Workload', name, { organizationRef: { name: ORGANIZATIONS[name] } }),
        resource('VirtualKey', name, {
          workloadRef: { name },
          hash: { algorithm: 'SHA256', value: hash('sha256', keys[name], 'hex') },
        }),
      ]),
      provider('shared', { vendor: 'openai', keyOwnership: 'Managed' }),
      provider('sharedclaude', { vendor: 'anthropic', keyOwnership: 'Managed' }),
      provider('own', { vendor: 'openai' }),
      provider('ownclaude', { vendor: 'anthropic' }),
      resource('PriceBook', 'prices', {
        prices: ['shared', 'sharedclaude', 'own', 'ownclaude'].flatMap((slug) => [
          { model: `${slug}/*`, input: '0.01', output: '0.01' },
          { model: `${slug}/sora`, unit: 'Second', input: '0.01' },
          { model: `${slug}/batches`, unit: 'Call', input: '0' },
          { model: `${slug}/evals`, unit: 'Call', input: '0' },
        ]),
      }),
    ];
    const databaseUrl = await createDatabase(inject('databaseUrl'));
    for (let count = 0; count < 2; count++)
      gateways.push(await startGateway({ resources, redisUrl: inject('redisUrl'), databaseUrl }));
  }, 90_000);

  afterAll(async () => {
    await Promise.all(gateways.map((gateway) => gateway.stop()));
    await upstream?.close();
  });
}

/** What is kept below each folder. */
const THINGS: Readonly<Record<string, string>> = {
  videos: 'video',
  files: 'file',
  batches: 'batch',
  uploads: 'upload',
  evals: 'object',
};

/** A provider's whole answer to anything: it keeps no tenant from any object. */
async function obliging(exchange: Exchange): Promise<void> {
  const { method, path, body } = exchange.request;
  const [, folder = '', id, part] = path.split('?')[0]!.slice('/v1'.length).split('/');
  made += 1;
  const thing = THINGS[folder];
  if (thing !== undefined) {
    const object = (name: string): object => ({
      id: name,
      object: thing,
      purpose: 'user_data',
      seconds: '4',
    });
    if (part === 'content') return text(`bytes of ${id}`)(exchange);
    if (method === 'DELETE') return json({ id, object: folder, deleted: true })(exchange);
    if (method === 'POST') return json(object(`${thing}_${made}`))(exchange);
    if (id !== undefined) return json(object(id))(exchange);
    const all = Array.from({ length: made }, (_, number) => object(`${thing}_${number}`));
    return json({ object: 'list', data: all, first_id: 'x', last_id: 'y', has_more: false })(exchange);
  }
  if (folder === 'responses' && id !== undefined) return json({ id, object: 'response', output: [] })(exchange);
  if (folder === 'responses') {
    const response = {
      id: `resp_${made}`,
      object: 'response',
      status: 'completed',
      model: 'm',
      output: [
        {
          type: 'message',
          id: `msg_${made}`,
          role: 'assistant',
          content: [{ type: 'output_text', text: 'Hi', annotations: [] }],
        },
        {
          type: 'code_interpreter_call',
          id: `ci_${made}`,
          container_id: `cntr_${made}`,
          code: '',
          status: 'completed',
        },
      ],
      usage: { input_tokens: 1, output_tokens: 1, total_tokens: 2 },
    };
    if (!(JSON.parse(body) as { stream?: boolean }).stream) return json(response)(exchange);
    const events = [
      { type: 'response.created', response: { ...response, status: 'in_progress', output: [] } },
      ...response.output.map((item, output_index) => ({ type: 'response.output_item.done', output_index, item })),
      { type: 'response.completed', response },
    ];
    return sse(events.map((event) => ({ event: event.type, data: JSON.stringify(event) })))(exchange);
  }
  if (folder === 'messages') {
    const message = {
      id: `msg_${made}`,
      type: 'message',
      role: 'assistant',
      model: 'm',
      content: [
        { type: 'text', text: 'Hi' },
        { type: 'tool_use', id: 't', name: 'f', input: { file_id: 'file_claimed' } },
      ],
      container: { id: `container_${made}`, expires_at: '2030-01-01T00:00:00Z' },
      stop_reason: 'end_turn',
      stop_sequence: null,
      usage: { input_tokens: 1, output_tokens: 1 },
    };
    return json(message)(exchange);
  }
  const message = {
    role: 'assistant',
    content: 'Hi',
    audio: { id: `audio_${made}`, data: '', transcript: '', expires_at: 1 },
  };
  return json({
    id: 'x',
    object: 'chat.completion',
    created: 1,
    model: 'm',
    choices: [{ index: 0, message, text: 'Hi', finish_reason: 'stop' }],
    data: [{ url: 'https://example.com', embedding: [1], index: 0 }],
    results: [{ flagged: false, categories: {}, category_scores: {} }],
    usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2, input_tokens: 1, output_tokens: 1 },
  })(exchange);
}

interface Told {
  readonly status: number;
  readonly body: string;
  /** What the provider was asked meanwhile. */
  readonly asked: readonly string[];
}

let turn = 0;

/** Sends the next call to a gateway, 0 or 1; later calls take turns. */
export function turnTo(gateway: 0 | 1): void {
  turn = gateway;
}

export async function call(
  tenant: Tenant,
  method: string,
  path: string,
  body?: object | FormData,
  slug?: string,
): Promise<Told> {
  const before = upstream.requests.length;
  const gateway = gateways[turn % 2]!;
  turn += 1;
  const answer = await fetch(gateway.url + path, {
    method,
    headers: {
      authorization: `Bearer ${keys[tenant]}`,
      ...(slug !== undefined && { 'x-gw-provider': slug }),
      ...(body && !(body instanceof FormData) && { 'content-type': 'application/json' }),
    },
    ...(body && { body: body instanceof FormData ? body : JSON.stringify(body) }),
  });
  const told = await answer.text();
  const asked = upstream.requests.slice(before).map((one) => `${one.method} ${one.path} ${one.body}`);
  return { status: answer.status, body: told, asked };
}

export async function makeVideo(tenant: Tenant, slug: string): Promise<string> {
  const { status, body } = await call(tenant, 'POST', '/v1/videos', {
    model: `${slug}/sora`,
    prompt: 'a cat',
    seconds: '4',
  });
  expect([status, body]).toEqual([200, expect.stringContaining(`"${slug}~video_`)]);
  return (JSON.parse(body) as { id: string }).id;
}

async function makeFile(tenant: Tenant, slug: string): Promise<string> {
  const form = new FormData();
  form.append('purpose', 'user_data');
  form.append('file', new Blob(['x']), 'x.txt');
  const { status, body } = await call(tenant, 'POST', '/v1/files', form, slug);
  expect([status, body]).toEqual([200, expect.stringContaining(`"${slug}~file_`)]);
  return (JSON.parse(body) as { id: string }).id;
}

/** Makes an object that a JSON body is enough for. */
function makeBy(path: string, thing: string): (tenant: Tenant, slug: string) => Promise<string> {
  return async (tenant, slug) => {
    const { status, body } = await call(tenant, 'POST', path, { bytes: 1 }, slug);
    expect([status, body]).toEqual([200, expect.stringContaining(`"${slug}~${thing}_`)]);
    return (JSON.parse(body) as { id: string }).id;
  };
}

async function makeResponse(tenant: Tenant, slug: string): Promise<string> {
  const { status, body } = await call(tenant, 'POST', '/v1/responses', { model: `${slug}/m`, input: 'Hi' });
  expect(status).toBe(200);
  return `${slug}~${(JSON.parse(body) as { id: string }).id}`;
}

export const MAKERS: Readonly<Record<string, (tenant: Tenant, slug: string) => Promise<string>>> = {
  video: makeVideo,
  file: makeFile,
  batch: makeBy('/v1/batches', 'batch'),
  upload: makeBy('/v1/uploads', 'upload'),
  response: makeResponse,
};

/** Accounts on which the first tenant has made something that the second one must not reach. */
export const PAIRS: readonly (readonly [what: string, slug: 'own' | 'shared', owner: Tenant, thief: Tenant])[] = [
  ['two organizations on a managed account', 'shared', 'app', 'rival'],
  ['two workloads of one organization on a managed account', 'shared', 'app', 'other'],
  ['two workloads that share nothing on an own account', 'own', 'app', 'other'],
  ['two organizations of one namespace on an own account', 'own', 'app', 'rival'],
  ['an organization that shares, and another one', 'own', 'app', 'opener'],
  ['two workloads that share, on a managed account', 'shared', 'open', 'opener'],
];
