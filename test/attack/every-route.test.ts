import { hash } from 'node:crypto';
import { request } from 'node:http';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { CLOUD_ENDPOINTS } from '#/surfaces/clouds/endpoints.ts';
import { ENDPOINTS } from '#/surfaces/endpoints.ts';
import { OPERATIONS } from '../../src/surfaces/passthrough/operations.ts';
import { json } from '../harness/answers.ts';
import { newKey, resource, startGateway, tenant, type GatewayProcess } from '../harness/gateway.ts';
import { createDatabase } from '../harness/postgres.ts';
import { startUpstream, type Upstream } from '../harness/upstream.ts';
import { tally } from './tally.ts';

/** What holds for one route holds for all that are mounted: a new one is tried as soon as it is in the tables of routes. */

const tried = tally('routes x budgets, ids and keys');

const keys = { spent: newKey(), rich: newKey() };
let upstream: Upstream;
let gateway: GatewayProcess;

beforeAll(async () => {
  upstream = await startUpstream(json({ id: 'x', object: 'thing', data: [] }));
  gateway = await startGateway({
    resources: [
      ...tenant({
        upstreamUrl: upstream.url,
        key: keys.rich,
        prices: [
          { model: 'upstream/*', input: '2', output: '8' },
          { model: 'upstream/sora', unit: 'Second', input: '1' },
          { model: 'upstream/pages', unit: 'Page', input: '1' },
        ],
      }),
      resource('Workload', 'spent', {
        organizationRef: { name: 'acme' },
        budget: { amount: '0', period: 'Total' },
      }),
      resource('VirtualKey', 'spent', {
        workloadRef: { name: 'spent' },
        hash: { algorithm: 'SHA256', value: hash('sha256', keys.spent, 'hex') },
      }),
    ],
    redisUrl: inject('redisUrl'),
    databaseUrl: await createDatabase(inject('databaseUrl')),
  });
}, 90_000);

afterAll(async () => {
  await gateway?.stop();
  await upstream?.close();
});

const BODIES: Readonly<Record<string, object>> = {
  '/v1/ocr': { model: 'upstream/pages', document: { type: 'document_url', document_url: 'https://example.com/a.pdf' } },
  '/v1/systemone': { model: 'gw/typed', state: 'x' },
  '/v1/decisions': {
    model: 'upstream/m',
    input: 'Hi',
    questions: [{ type: 'predicate', instructions: 'It is urgent.' }],
  },
  '/v1/videos': { model: 'upstream/sora', prompt: 'a', seconds: '4' },
};
const GENERAL = {
  model: 'upstream/m',
  messages: [{ role: 'user', content: 'Hi' }],
  input: 'Hi',
  query: 'Hi',
  documents: ['Hi'],
  prompt: 'Hi',
  voice: 'a',
  max_tokens: 9,
};

interface Route {
  readonly method: string;
  readonly path: string;
  /** It names a model, which has its price. */
  readonly priced: boolean;
}

const ROUTES: readonly Route[] = [
  ...[...ENDPOINTS, ...CLOUD_ENDPOINTS].flatMap(({ paths }) =>
    paths.map((path) => ({ method: 'POST', path, priced: true })),
  ),
  ...OPERATIONS.map(({ method, path, named }) => ({ method, path, priced: named })),
];

async function ask({ method, path }: Route, key: string | undefined): Promise<readonly [status: number, body: string]> {
  const body = method === 'POST' ? JSON.stringify(BODIES[path] ?? GENERAL) : undefined;
  const answer = await fetch(
    gateway.url +
      path.replace(':id', 'upstream~thing-1').replace(':model', 'upstream%2Fm').replace('*', 'upstream/m:rawPredict'),
    {
      method,
      headers: {
        ...(key !== undefined && { authorization: `Bearer ${key}` }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
        'x-gw-provider': 'upstream',
      },
      ...(body !== undefined && { body }),
    },
  );
  return [answer.status, await answer.text()];
}

test.each(ROUTES)('$method $path sends nothing for a stranger, nor for a budget of nothing', async (route) => {
  const sent = upstream.requests.length;
  const stranger = await ask(route, undefined);
  const spent = await ask(route, keys.spent);
  const reached = upstream.requests.length - sent;
  const name = `${route.method} ${route.path}`;
  if (stranger[0] === 401 && reached === 0 && spent[0] >= 400 && spent[0] < 500) tried.held(name);
  else tried.passed(name);
  expect([name, stranger[0], reached]).toEqual([name, 401, 0]);
  // What costs nothing is refused for what it names; what has a price, for the budget.
  if (route.priced && !['/v1/ocr', '/v1/systemone'].includes(route.path)) expect([name, spent[0]]).toEqual([name, 402]);
});

const HOSTILE = [
  '..',
  '%2e%2e',
  '..%2fmodels',
  'a%2fb',
  'a%3fb=c',
  'a%23b',
  'a%00b',
  'a%0d%0aX-Evil:%201',
  'a b',
  'ada%40example.com',
  '%ff',
  'a%5cb',
  'x'.repeat(300),
  '~',
  'upstream~',
  'upstream~..',
  'upstream~a~b',
  'other~a',
  "a';DROP",
  '__proto__',
  'constructor',
];

/** Sent as they are: `fetch` would tidy them up. */
function raw(method: string, path: string, headers: Record<string, string>): Promise<number> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(gateway.url);
    const sending = request({ hostname, port, method, path, headers }, (answer) => {
      answer.resume();
      answer.on('end', () => resolve(answer.statusCode ?? 0));
    });
    sending.on('error', reject);
    sending.end();
  });
}

test.each(HOSTILE)(
  'the id %j reaches no provider, in the path, as a cursor or as the name of a provider',
  async (id) => {
    const authorization = `Bearer ${keys.rich}`;
    const sent = upstream.requests.length;
    for (const { method, path } of OPERATIONS) {
      if (method === 'POST' || (!path.includes(':id') && method !== 'GET')) continue;
      const [inPath, headers] = path.includes(':id')
        ? [path.replace(':id', encodeSpace(id)), { authorization, 'x-gw-provider': 'upstream' }]
        : [`${path}?after=${encodeSpace(id)}`, { authorization, 'x-gw-provider': 'upstream' }];
      const statuses = [await raw(method, inPath, headers)];
      if (path.includes(':id')) {
        const slug = id.replace(/[^\x21-\x7e]/g, '');
        statuses.push(await raw(method, path.replace(':id', 'thing-1'), { authorization, 'x-gw-provider': slug }));
      }
      const isHeld = statuses.every((status) => status >= 400 && status < 500);
      if (isHeld) tried.held(`${method} ${path}, ${id}`);
      else tried.passed(`${method} ${path}, ${id}`);
      expect([method, path, statuses]).toEqual([method, path, expect.toSatisfy(() => isHeld)]);
    }
    expect(upstream.requests.length - sent).toBe(0);
  },
);

/** A request line has no blanks. */
function encodeSpace(id: string): string {
  return id.replaceAll(' ', '%20');
}
