import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { newKey, resource, startGateway, tenant, type GatewayProcess } from '../harness/gateway.ts';
import { createDatabase } from '../harness/postgres.ts';
import { startUpstream, type Upstream } from '../harness/upstream.ts';

/** Client libraries repeat requests by themselves, coding agents for minutes: what is final says so. */

const key = newKey();
const guarded = newKey();
let upstream: Upstream;
let gateway: GatewayProcess;

beforeAll(async () => {
  upstream = await startUpstream();
  gateway = await startGateway({
    resources: [
      ...tenant({ upstreamUrl: upstream.url, key, workload: { allowedModels: ['upstream/*', 'gw/*', 'nobody/*'] } }),
      ...tenant({ upstreamUrl: upstream.url, key: guarded })
        .filter((one) => isKind(one, 'VirtualKey'))
        .map(renamed),
      resource('Workload', 'guarded', { organizationRef: { name: 'acme' } }),
      resource('Policy', 'guard', {
        targetRefs: [{ kind: 'Workload', name: 'guarded' }],
        defaults: { dlp: { mode: 'Tokenize', entities: ['person_name'] } },
      }),
    ],
    redisUrl: inject('redisUrl'),
    databaseUrl: await createDatabase(inject('databaseUrl')),
  });
}, 60_000);

afterAll(async () => {
  await gateway?.stop();
  await upstream?.close();
});

interface Named {
  readonly kind: string;
  readonly metadata: object;
  readonly spec: object;
}
const isKind = (one: object, kind: string): boolean => (one as Named).kind === kind;
const renamed = (one: object): object => ({
  ...one,
  metadata: { ...(one as Named).metadata, name: 'guarded-key' },
  spec: { ...(one as Named).spec, workloadRef: { name: 'guarded' } },
});

async function ask(path: string, body: object, secret = key): Promise<Response> {
  const isForm = body instanceof FormData;
  const answer = await fetch(gateway.url + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${secret}`, ...(!isForm && { 'content-type': 'application/json' }) },
    body: isForm ? body : JSON.stringify(body),
  });
  await answer.arrayBuffer();
  return answer;
}

const said = (model: string): object => ({ model, max_tokens: 5, messages: [{ role: 'user', content: 'Hi.' }] });
const DECISION = { model: 'gw/typed/router', state: { request: 'Hi.' } };
const form = new FormData();
form.set('file', new Blob(['Hi.'], { type: 'text/plain' }), 'a.txt');
form.set('options', '{}');

describe('a final refusal', () => {
  test.each([
    ['of a key that nobody has', 401, '/v1/messages', said('upstream/m'), 'gw_test_nobody'],
    ['of a key that nobody has, in chat', 401, '/v1/chat/completions', said('upstream/m'), 'gw_test_nobody'],
    ['of a request that is none', 400, '/v1/messages', { model: 5 }, key],
    ['of a model that is not allowed', 403, '/v1/messages', said('other/m'), key],
    ['of a model that is not there', 404, '/v1/chat/completions', said('nobody/m'), key],
    ['of decisions where there is no local model', 503, '/v1/systemone', DECISION, key],
    ['of documents where there is no engine', 404, '/v1/documents/anonymize', form, key],
    ['of a job where there is no engine', 503, '/v1/documents/anonymize/jobs', form, key],
    ['of names where there is no model of them', 503, '/v1/messages', said('upstream/m'), guarded],
  ] as const)('%s tells client libraries so, and no time to come back', async (_what, status, path, body, secret) => {
    const { status: told, headers } = await ask(path, body, secret);
    expect([told, headers.get('x-should-retry'), headers.get('retry-after')]).toEqual([status, 'false', null]);
  });
});
