import { hash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { newKey, resource, startGateway, tenant, type GatewayProcess } from '../harness/gateway.ts';
import { createDatabase } from '../harness/postgres.ts';
import { startUpstream, type Upstream } from '../harness/upstream.ts';

/** What a platform engineer does to a gateway that is running: nothing but edit files. */

const key = newKey();
const second = newKey();
let upstream: Upstream;
let gateway: GatewayProcess;
let resources: object[];

beforeAll(async () => {
  upstream = await startUpstream();
  resources = tenant({ upstreamUrl: upstream.url, key });
  gateway = await startGateway({
    resources,
    redisUrl: inject('redisUrl'),
    databaseUrl: await createDatabase(inject('databaseUrl')),
  });
}, 60_000);
afterAll(async () => {
  await gateway?.stop();
  await upstream?.close();
});

const ask = (secret: string) =>
  fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${secret}` },
    body: JSON.stringify({ model: 'upstream/m', messages: [{ role: 'user', content: 'Hello' }] }),
  });

async function until(status: number, secret: string): Promise<Response> {
  for (let tries = 0; tries < 400; tries++) {
    const answer = await ask(secret);
    if (answer.status === status) return answer;
    await answer.text();
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`never answered with ${status}`);
}

const keyResource = (name: string, secret: string, more: object = {}) =>
  resource('VirtualKey', name, {
    workloadRef: { name: 'app' },
    hash: { algorithm: 'SHA256', value: hash('sha256', secret, 'hex') },
    ...more,
  });

test('a key is added, then revoked, without a restart', async () => {
  expect((await ask(second)).status).toBe(401);
  gateway.configure([...resources, keyResource('second', second)]);
  await until(200, second);
  gateway.configure([...resources, keyResource('second', second, { revoked: true })]);
  const refused = await until(401, second);
  expect(await refused.json()).toMatchObject({
    error: { code: 'invalid_api_key', message: 'The API key was revoked.' },
  });
});

test('a broken change keeps the last good configuration, names every fault, and unknown keys are told 503, not 401', async () => {
  gateway.configure([
    ...resources,
    resource('Workload', 'broken', { organizationRef: { name: 'nobody' }, limits: { requestsPerMinute: 0 } }),
  ]);
  const unknown = await until(503, newKey());
  expect(unknown.headers.get('retry-after')).toBe('5');
  expect(await unknown.json()).toMatchObject({ error: { type: 'api_error', code: 'auth_unavailable' } });
  expect((await ask(key)).status).toBe(200);
  const rejected = gateway.log.findLast((line) => line.includes('config.rejected'))!;
  const { faults } = JSON.parse(rejected) as { faults: { file: string; object: string; field: string }[] };
  expect(faults).toContainEqual(
    expect.objectContaining({
      file: 'resources.yaml',
      object: 'Workload default/broken',
      field: 'spec.limits.requestsPerMinute',
    }),
  );
  gateway.configure(resources);
  await until(401, newKey());
});

test('text that is no YAML breaks nothing', async () => {
  writeFileSync(join(gateway.configDir, 'resources.yaml'), 'kind: [unclosed');
  await until(503, newKey());
  expect((await ask(key)).status).toBe(200);
  gateway.configure(resources);
  await until(401, newKey());
});
