import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { newKey, startGateway, tenant, type GatewayProcess } from '../harness/gateway.ts';
import { createDatabase } from '../harness/postgres.ts';
import { startUpstream, type Upstream } from '../harness/upstream.ts';

/** Web pages may call from origins that the organization lists, and from no other. */

const key = newKey();
const PAGE = 'https://app.acme.example';
let upstream: Upstream;
let gateway: GatewayProcess;

beforeAll(async () => {
  upstream = await startUpstream();
  gateway = await startGateway({
    resources: tenant({ upstreamUrl: upstream.url, key, organization: { corsOrigins: [PAGE] } }),
    redisUrl: inject('redisUrl'),
    databaseUrl: await createDatabase(inject('databaseUrl')),
  });
}, 60_000);
afterAll(async () => {
  await gateway?.stop();
  await upstream?.close();
});

const preflight = (origin: string): Promise<Response> =>
  fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'OPTIONS',
    headers: {
      origin,
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'authorization,content-type',
    },
  });
const ask = (origin: string, stream: boolean): Promise<Response> =>
  fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { origin, authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'upstream/m', stream, messages: [{ role: 'user', content: 'Hi.' }] }),
  });

test('a listed page may ask, and read the answer', async () => {
  const answer = await preflight(PAGE);
  expect([answer.status, answer.headers.get('access-control-allow-origin')]).toEqual([204, PAGE]);
  expect(answer.headers.get('access-control-allow-headers')).toBe('authorization,content-type');
  for (const stream of [false, true]) {
    const said = await ask(PAGE, stream);
    await said.text();
    expect([said.status, said.headers.get('access-control-allow-origin')]).toEqual([200, PAGE]);
  }
});

test('no other page may', async () => {
  for (const origin of ['https://evil.example', `${PAGE}.evil.example`, 'null']) {
    const answer = await preflight(origin);
    expect([answer.status, answer.headers.get('access-control-allow-origin')]).toEqual([405, null]);
    expect((await ask(origin, false)).headers.get('access-control-allow-origin')).toBeNull();
  }
});
