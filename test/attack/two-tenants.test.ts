import { hash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { ENDPOINTS } from '#/surfaces/endpoints.ts';
import { OPERATIONS } from '../../src/surfaces/passthrough/operations.ts';
import { MEMBERS, OPERATION_OBJECTS } from '../../src/wire/kept/table.ts';
import { json, sse, text } from '../harness/answers.ts';
import type { Exchange } from '../harness/exchange.ts';
import { newKey, resource, startGateway, type GatewayProcess } from '../harness/gateway.ts';
import { createDatabase } from '../harness/postgres.ts';
import { startUpstream, type Upstream } from '../harness/upstream.ts';
import { sample } from './effort.ts';
import { tally } from './tally.ts';

/**
 * Two tenants and a provider that serves whatever it is asked for: what one has made, the other can neither read, change,
 * delete, list nor build on. Two gateways share a database: what is made at one is known to the other.
 */

const tried = tally('two tenants x objects of a provider');

/** `app` and `rival` are two organizations; `app` and `other` two workloads of one; `open` and `opener` share. */
const TENANTS = ['app', 'other', 'rival', 'open', 'opener'] as const;
type Tenant = (typeof TENANTS)[number];
const ORGANIZATIONS: Readonly<Record<Tenant, string>> = {
  app: 'acme',
  other: 'acme',
  rival: 'rival',
  open: 'open',
  opener: 'open',
};
const keys = Object.fromEntries(TENANTS.map((name) => [name, newKey()])) as Record<Tenant, string>;

let upstream: Upstream;
const gateways: GatewayProcess[] = [];
let made = 0;

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

async function call(
  tenant: Tenant,
  method: string,
  path: string,
  body?: object | FormData,
  slug?: string,
): Promise<Told> {
  const before = upstream.requests.length;
  turn += 1;
  const answer = await fetch(gateways[turn % 2]!.url + path, {
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

async function makeVideo(tenant: Tenant, slug: string): Promise<string> {
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

const MAKERS: Readonly<Record<string, (tenant: Tenant, slug: string) => Promise<string>>> = {
  video: makeVideo,
  file: makeFile,
  batch: makeBy('/v1/batches', 'batch'),
  upload: makeBy('/v1/uploads', 'upload'),
  response: makeResponse,
};

/** Accounts on which the first tenant has made something that the second one must not reach. */
const PAIRS: readonly (readonly [what: string, slug: 'own' | 'shared', owner: Tenant, thief: Tenant])[] = [
  ['two organizations on a managed account', 'shared', 'app', 'rival'],
  ['two workloads of one organization on a managed account', 'shared', 'app', 'other'],
  ['two workloads that share nothing on an own account', 'own', 'app', 'other'],
  ['two organizations of one namespace on an own account', 'own', 'app', 'rival'],
  ['an organization that shares, and another one', 'own', 'app', 'opener'],
  ['two workloads that share, on a managed account', 'shared', 'open', 'opener'],
];

test('every operation that is mounted is in the table, and nothing else', () => {
  const mounted = OPERATIONS.map(({ method, path }) => `${method} ${path}`);
  expect(mounted.toSorted()).toEqual(Object.keys(OPERATION_OBJECTS).toSorted());
});

describe.each(PAIRS)('%s: operations', (what, slug, owner, thief) => {
  const named = OPERATIONS.filter(({ objects }) => objects !== 'none' && objects.act !== 'make');

  test.each(named)('$method $path', async ({ method, path, objects, ownKeyOnly }) => {
    const make = MAKERS[objects === 'none' ? '' : objects.kind]!;
    // Files are for own accounts only: there is nothing to steal, and the operation itself must be refused.
    const id = ownKeyOnly && slug === 'shared' ? `shared~file_${made}` : await make(owner, slug);
    const bare = id.slice(id.indexOf('~') + 1);
    const body = method === 'POST' ? { prompt: 'a dog' } : undefined;
    const ways = path.includes(':id')
      ? [
          call(thief, method, path.replace(':id', id), body),
          call(thief, method, path.replace(':id', bare), body, slug),
          call(thief, method, path.replace(':id', encodeURIComponent(id)), body),
          call(thief, method, path.replace(':id', `${slug}~never-seen`), body),
        ]
      : [
          call(thief, method, path, body, slug),
          call(thief, method, `${path}?limit=100&order=asc`, body, slug),
          call(thief, method, `${path}?after=${id}`, body, slug),
          call(thief, method, `${path}?after=${bare}&limit=1`, body, slug),
        ];
    // `opener` may reach what nobody has recorded: that is what sharing means, on an own account.
    const shares = ORGANIZATIONS[thief] === 'open' && slug === 'own';
    for (const [index, way] of ways.entries()) {
      const { status, body: told, asked } = await way;
      const leaks = told.includes(`"${id}"`) || told.includes(`bytes of ${bare}`);
      const reached = asked.some((one) => one.includes(`/${bare}`));
      const ofNobody = shares && index === 3 && path.includes(':id');
      const name = `${what}: ${method} ${path}, way ${index + 1}`;
      if (leaks || (reached && !ofNobody) || (path.includes(':id') && status === 200 && !ofNobody)) tried.passed(name);
      else tried.held(name);
      expect({ name, leaks, reached: reached && !ofNobody }).toEqual({ name, leaks: false, reached: false });
      if (path.includes(':id') && !ofNobody)
        expect([name, status]).toEqual([name, expect.toSatisfy((code: number) => [403, 404].includes(code))]);
    }
    if (ownKeyOnly && slug === 'shared') return;
    const [mine] = [await call(owner, method, path.replace(':id', id), body, slug)];
    expect([mine.status, mine.body]).toEqual([200, expect.any(String)]);
    if (!path.includes(':id')) expect(mine.body).toContain(`"${id}"`);
  });
});

describe('a path that nobody has classified', () => {
  test.each(PAIRS)(
    '%s: it is closed to an account that is not one organization’s alone',
    async (_, slug, owner, thief) => {
      for (const tenant of [owner, thief]) {
        for (const [method, path] of [
          ['POST', '/v1/evals'],
          ['GET', '/v1/evals'],
          ['GET', '/v1/evals/object_1'],
          ['DELETE', '/v1/evals/object_1'],
          ['POST', '/v1/evals/object_1/runs'],
          ['GET', '/v1/batches/batch_1/lines'],
        ] as const) {
          const { status, asked } = await call(tenant, method, path, method === 'POST' ? {} : undefined, slug);
          const name = `${method} ${path} by ${tenant} on ${slug}`;
          if (status === 403 && asked.length === 0) tried.held(name);
          else tried.passed(name);
          expect([name, status, asked]).toEqual([name, 403, []]);
        }
      }
    },
  );
});

/** Where a member stands in the body of a surface. */
function bodyWith(
  family: string,
  model: string,
  placed: Record<string, unknown>,
): { path: string; body: object } | undefined {
  if (family === 'passthrough') return { path: '/v1/images/edits', body: { model, prompt: 'a', ...placed } };
  const door = ENDPOINTS.find(({ codec }) => codec.family === family);
  const bodies: Readonly<Record<string, object>> = {
    chat: { messages: [{ role: 'user', content: 'Hi' }] },
    messages: { max_tokens: 9, messages: [{ role: 'user', content: 'Hi' }] },
    responses: { input: 'Hi' },
    completions: { prompt: 'Hi' },
    embeddings: { input: 'Hi' },
    moderations: { input: 'Hi' },
    decisions: { input: 'Hi', questions: [{ type: 'predicate', instructions: 'It is urgent.' }] },
    images: { prompt: 'Hi' },
  };
  return door && bodies[family] ? { path: door.paths[0]!, body: { model, ...bodies[family], ...placed } } : undefined;
}

const FAMILIES = [
  'chat',
  'messages',
  'responses',
  'completions',
  'embeddings',
  'moderations',
  'decisions',
  'images',
  'passthrough',
];

interface Case {
  readonly name: string;
  readonly family: string;
  readonly place: (id: string) => Record<string, unknown>;
}

/** Every member of the table in every family it holds for, in the request itself or in what holds it. */
const MEMBER_CASES: readonly Case[] = MEMBERS.filter(({ anyValue }) => !anyValue).flatMap(
  ({ names, families = FAMILIES, inside, kind }) =>
    names.flatMap((name) =>
      families
        .filter((family) => FAMILIES.includes(family))
        .flatMap((family) =>
          (inside ?? ['', 'tools']).map((holder): Case => {
            const place = (id: string): Record<string, unknown> => {
              const value = name.endsWith('s') ? [id] : id;
              const object = { ...(kind === 'item' && { type: 'item_reference' }), [name]: value };
              if (holder === '') return object;
              if (holder === 'tools') return { tools: [{ type: 'code_interpreter', ...object }] };
              return { [holder]: holder === 'input' ? [object] : object };
            };
            return { name: `${family} ${holder}.${name}`, family, place };
          }),
        ),
    ),
);

/** Places that clients use. */
const USED_CASES: readonly Case[] = [
  {
    name: 'chat file part',
    family: 'chat',
    place: (id) => ({ messages: [{ role: 'user', content: [{ type: 'file', file: { file_id: id } }] }] }),
  },
  {
    name: 'chat earlier sound',
    family: 'chat',
    place: (id) => ({
      messages: [
        { role: 'user', content: 'a' },
        { role: 'assistant', audio: { id } },
        { role: 'user', content: 'b' },
      ],
    }),
  },
  {
    name: 'responses image by id',
    family: 'responses',
    place: (id) => ({ input: [{ role: 'user', content: [{ type: 'input_image', file_id: id }] }] }),
  },
  {
    name: 'responses result of a tool',
    family: 'responses',
    place: (id) => ({
      input: [{ type: 'function_call_output', call_id: 'c', output: [{ type: 'input_file', file_id: id }] }],
    }),
  },
  {
    name: 'responses stored reasoning',
    family: 'responses',
    place: (id) => ({
      input: [
        { type: 'reasoning', id, summary: [] },
        { role: 'user', content: 'a' },
      ],
    }),
  },
  {
    name: 'responses stored image',
    family: 'responses',
    place: (id) => ({
      input: [
        { type: 'image_generation_call', id },
        { role: 'user', content: 'a' },
      ],
    }),
  },
  {
    name: 'responses message without content',
    family: 'responses',
    place: (id) => ({ input: [{ type: 'message', role: 'assistant', id }] }),
  },
  {
    name: 'responses variable of a prompt',
    family: 'responses',
    place: (id) => ({ prompt: { id: 'none', variables: { x: { type: 'input_file', file_id: id } } } }),
  },
  {
    name: 'responses container with files',
    family: 'responses',
    place: (id) => ({ tools: [{ type: 'code_interpreter', container: { type: 'auto', file_ids: [id] } }] }),
  },
  {
    name: 'messages document',
    family: 'messages',
    place: (id) => ({
      messages: [{ role: 'user', content: [{ type: 'document', source: { type: 'file', file_id: id } }] }],
    }),
  },
  {
    name: 'messages upload',
    family: 'messages',
    place: (id) => ({ messages: [{ role: 'user', content: [{ type: 'container_upload', file_id: id }] }] }),
  },
  {
    name: 'messages result of a tool',
    family: 'messages',
    place: (id) => ({
      messages: [
        {
          role: 'user',
          content: [
            {
              type: 'tool_result',
              tool_use_id: 't',
              content: [{ type: 'image', source: { type: 'file', file_id: id } }],
            },
          ],
        },
      ],
    }),
  },
  {
    name: 'messages custom skill',
    family: 'messages',
    place: (id) => ({ container: { skills: [{ type: 'custom', skill_id: id, version: 'latest' }] } }),
  },
  { name: 'pictures by id', family: 'passthrough', place: (id) => ({ images: [{ file_id: id }] }) },
];

const WALKED = new Set([PAIRS[0]![0], PAIRS[2]![0]]);

describe.each(PAIRS)('%s: members of requests', (what, slug, owner, thief) => {
  // Every member for organizations on a managed account and workloads on an own one; for the others, those that clients use.
  const cases = WALKED.has(what) ? [...sample(what, MEMBER_CASES, 0.4), ...USED_CASES] : USED_CASES;
  test.each(cases)('$name', async ({ name, family, place }) => {
    const id = await recorded(owner, slug);
    const model = `${slug}${family === 'messages' ? 'claude' : ''}/m`;
    const ids = [id, `${slug}~${id}`, ...(slug === 'shared' ? ['never-seen'] : [])];
    for (const [index, one] of ids.entries()) {
      const asked = bodyWith(family, model, place(one))!;
      const told = await call(thief, 'POST', asked.path, asked.body);
      const attack = `${what}: ${name}, way ${index + 1}`;
      // Another provider of the same address is another account: there its ids are nobody's, so sharing lets them by.
      const shares = ORGANIZATIONS[thief] === 'open' && slug === 'own' && family === 'messages';
      const reached = told.asked.some((request) => request.includes(`"${id}"`) || request.includes('"never-seen"'));
      if (reached && !shares) tried.passed(attack);
      else tried.held(attack);
      expect([attack, reached && !shares]).toEqual([attack, false]);
    }
  });
});

const known = new Map<string, string>();

/** The bare id of something that a tenant has made on an account. */
async function recorded(tenant: Tenant, slug: string): Promise<string> {
  const key = `${tenant} ${slug}`;
  let id = known.get(key);
  if (id === undefined) {
    id = (await makeVideo(tenant, slug)).slice(slug.length + 1);
    known.set(key, id);
  }
  return id;
}

describe('what a workload has made itself', () => {
  const cases = [...sample('let through', MEMBER_CASES, 0.2), ...USED_CASES].filter(
    ({ family }) => family !== 'messages',
  );
  let served = 0;
  test.each(cases)('$name is let through, or refused as what it is', async ({ family, place }) => {
    const id = await recorded('app', 'own');
    const { path, body } = bodyWith(family, 'own/m', place(`own~${id}`))!;
    const told = await call('app', 'POST', path, body);
    // A case that names two things, and shapes that the door or a rule of the surface refuses.
    if (told.status !== 200) expect([400, 404, 422]).toContain(told.status);
    else served += 1;
    expect(told.asked.join()).not.toContain('own~');
  });

  test('most of what names an object is let through for its workload', () => {
    expect(served).toBeGreaterThan(cases.length * 0.8);
  });

  test.each([false, true])('a stored response, streamed: %s, is gone on from by its workload alone', async (stream) => {
    const first = await call('app', 'POST', '/v1/responses', { model: 'own/m', input: 'Hi', stream });
    expect([first.status, first.body]).toEqual([200, expect.stringContaining('resp_')]);
    const id = /resp_\d+/.exec(first.body)![0];
    const item = /msg_\d+/.exec(first.body)![0];
    const container = /cntr_\d+/.exec(first.body)![0];
    const uses: readonly object[] = [
      { previous_response_id: id },
      {
        input: [
          { type: 'item_reference', id: item },
          { role: 'user', content: 'b' },
        ],
      },
      { tools: [{ type: 'code_interpreter', container }] },
    ];
    for (const use of uses) {
      const body = { model: 'own/m', input: 'Go on', ...use };
      for (const gateway of [0, 1]) {
        turn = gateway;
        expect([use, (await call('app', 'POST', '/v1/responses', body)).status]).toEqual([use, 200]);
      }
      for (const thief of ['other', 'rival', 'opener'] as const) {
        const { status, body: told, asked } = await call(thief, 'POST', '/v1/responses', body);
        if (status === 404 && asked.length === 0) tried.held(`stored response, ${thief}`);
        else tried.passed(`stored response, ${thief}`);
        expect([status, asked]).toEqual([404, []]);
        expect(told).toContain('sharedObjects');
      }
    }
  });

  test('what a workload asked not to store is nobody’s, and on a managed account nothing is stored', async () => {
    for (const [model, more] of [
      ['own/m', { store: false }],
      ['shared/m', {}],
    ] as const) {
      const first = await call('app', 'POST', '/v1/responses', { model, input: 'Hi', ...more });
      expect(first.asked.join()).toMatch(/"store":\s*false/);
      const id = /resp_\d+/.exec(first.body)![0];
      const next = await call('app', 'POST', '/v1/responses', { model, input: 'b', previous_response_id: id });
      expect([next.status, next.asked]).toEqual([404, []]);
    }
  });

  test('thoughts in clear are sent back to any provider, under an id that is nobody’s unless they are its own', async () => {
    const first = await call('app', 'POST', '/v1/responses', { model: 'own/m', input: 'Hi' });
    const id = /msg_\d+/.exec(first.body)![0];
    const thought = { type: 'reasoning', id, summary: [{ type: 'summary_text', text: 'Hm.' }] };
    const body = { model: 'own/m', input: [{ role: 'user', content: 'a' }, thought, { role: 'user', content: 'b' }] };
    const own = await call('app', 'POST', '/v1/responses', body);
    expect([own.status, own.asked.join()]).toEqual([200, expect.stringContaining(`"${id}"`)]);
    const theirs = await call('other', 'POST', '/v1/responses', body);
    expect([theirs.status, theirs.asked.join()]).toEqual([200, expect.stringContaining('Hm.')]);
    if (theirs.asked.join().includes(`"${id}"`)) tried.passed('told thought');
    else tried.held('told thought');
  });

  test('a container of the messages surface, on a managed account too', async () => {
    const asked = { max_tokens: 9, messages: [{ role: 'user', content: 'Hi' }] };
    for (const model of ['ownclaude/m', 'sharedclaude/m']) {
      const first = await call('app', 'POST', '/v1/messages', { model, ...asked });
      const container = /container_\d+/.exec(first.body)![0];
      const body = { model, ...asked, container };
      expect((await call('app', 'POST', '/v1/messages', body)).status).toBe(200);
      const theirs = await call('other', 'POST', '/v1/messages', body);
      expect([theirs.status, theirs.asked]).toEqual([404, []]);
    }
  });

  test('what a model writes into arguments of a tool makes nothing anybody’s', async () => {
    const content = [{ type: 'container_upload', file_id: 'file_claimed' }];
    const body = { model: 'sharedclaude/m', max_tokens: 9, messages: [{ role: 'user', content }] };
    const { status, asked } = await call('app', 'POST', '/v1/messages', body);
    expect([status, asked]).toEqual([404, []]);
  });

  test('the sound of an answer', async () => {
    const messages = [{ role: 'user', content: 'Hi' }];
    const first = await call('app', 'POST', '/v1/chat/completions', { model: 'shared/m', messages });
    const sound = { role: 'assistant', audio: { id: /audio_\d+/.exec(first.body)![0] } };
    const body = { model: 'shared/m', messages: [...messages, sound, ...messages] };
    expect((await call('app', 'POST', '/v1/chat/completions', body)).status).toBe(200);
    expect((await call('rival', 'POST', '/v1/chat/completions', body)).status).toBe(404);
  });
});

test('an organization that shares lets its workloads name each other’s objects, and what was made elsewhere', async () => {
  const id = await makeVideo('open', 'own');
  expect((await call('opener', 'GET', `/v1/videos/${id}`)).status).toBe(200);
  expect((await call('opener', 'GET', '/v1/videos/own~made-elsewhere')).status).toBe(200);
  const body = { model: 'own/m', input: 'Hi', previous_response_id: 'resp_elsewhere' };
  expect((await call('opener', 'POST', '/v1/responses', body)).status).toBe(200);
  const list = await call('opener', 'GET', '/v1/videos', undefined, 'own');
  expect(list.body).toContain(`"${id}"`);
  const foreign = await makeVideo('app', 'own');
  expect((await call('opener', 'GET', '/v1/videos', undefined, 'own')).body).not.toContain(`"${foreign}"`);
});

test('a workload pages through what it has made, and what it deletes is gone', async () => {
  const ids = [
    await makeVideo('rival', 'shared'),
    await makeVideo('rival', 'shared'),
    await makeVideo('rival', 'shared'),
  ];
  const listed: string[] = [];
  for (let after = ''; ;) {
    const { status, body } = await call('rival', 'GET', `/v1/videos?limit=2${after}`, undefined, 'shared');
    expect(status).toBe(200);
    const page = JSON.parse(body) as { data: { id: string }[]; has_more: boolean; last_id: string };
    listed.push(...page.data.map(({ id }) => id));
    if (!page.has_more) break;
    after = `&after=${page.last_id}`;
  }
  expect(listed.filter((id) => ids.includes(id))).toEqual(ids.toReversed());
  expect((await call('rival', 'DELETE', `/v1/videos/${ids[0]}`)).status).toBe(200);
  expect((await call('rival', 'GET', `/v1/videos/${ids[0]}`)).status).toBe(404);
});

test('an object is asked for with the credential that it was made with', async () => {
  const madeOn = new Map<string, string>();
  for (let round = 0; round < 40 && (round < 4 || madeOn.size < 2); round++) {
    const id = await makeVideo('app', 'own');
    const account = upstream.requests.at(-1)!.headers.authorization;
    madeOn.set(account!, id);
    expect((await call('app', 'GET', `/v1/videos/${id}`)).status).toBe(200);
    expect(upstream.requests.at(-1)!.headers.authorization).toBe(account);
  }
  // Each account keeps its own: a body that names objects of both can be sent to neither.
  const content = [...madeOn.values()].map((id) => ({ type: 'file', file: { file_id: id } }));
  const body = { model: 'own/m', messages: [{ role: 'user', content }] };
  const { status, asked } = await call('app', 'POST', '/v1/chat/completions', body);
  expect([content.length, status, asked]).toEqual([2, 400, []]);
});

test.each([
  '?limit=0',
  '?limit=1e3',
  '?order=up',
  '?filter=x',
  '?after=../x',
  '?after=',
  '?after=a&after=b',
  '?after=own~video_1',
  '?before=video_1',
])('a list is refused for %s', async (query) => {
  const { status, asked } = await call('app', 'GET', `/v1/videos${query}`, undefined, 'shared');
  expect([400, 404]).toContain(status);
  expect(asked).toEqual([]);
});

test('an id-like member that nobody has classified is refused on a managed account, and sent on an own one', async () => {
  const messages = [{ role: 'user', content: 'Hi' }];
  const managed = await call('app', 'POST', '/v1/chat/completions', {
    model: 'shared/m',
    messages,
    secret_store_id: 'x',
  });
  expect([managed.status, managed.asked]).toEqual([400, []]);
  expect(managed.body).toContain('secret_store_id');
});

test('a form names nothing that a provider keeps', async () => {
  for (const [name, value] of [
    ['image[file_id]', 'x'],
    ['file_id', 'x'],
    ['input_reference', '{"file_id":"x"}'],
  ] as const) {
    const form = new FormData();
    form.append('model', 'own/m');
    form.append('prompt', 'a');
    form.append(name, value);
    form.append('image', new Blob(['x'], { type: 'image/png' }), 'x.png');
    const { status, asked } = await call('app', 'POST', '/v1/images/edits', form);
    expect([name, status, asked]).toEqual([name, 400, []]);
  }
});
