import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, inject, test } from 'vitest';
import { openPublishedConfig, type RedisPublishedConfig } from '../../src/adapters/redis/published-config.ts';
import { startControllerProcess, type ControllerProcess } from '../harness/controller.ts';
import { startFakeCluster, type FakeCluster } from '../harness/fake-cluster.ts';
import { newKey, resource, startGateway, tenant, type GatewayProcess } from '../harness/gateway.ts';
import { createDatabase } from '../harness/postgres.ts';
import { configKeys, newConfigKey } from '../harness/published-config.ts';
import { startRedis, type RedisServer } from '../harness/redis.ts';
import { startUpstream, type Upstream } from '../harness/upstream.ts';

let all: AsyncDisposableStack;
let folder: string;
let cluster: FakeCluster;
let redis: RedisServer;
let upstream: Upstream;
let store: RedisPublishedConfig;
const key = newKey();

beforeEach(async () => {
  all = new AsyncDisposableStack();
  folder = mkdtempSync(join(tmpdir(), 'gatewarden-control-'));
  all.defer(() => rmSync(folder, { recursive: true, force: true }));
  cluster = all.use(await startFakeCluster());
  cluster.kubeconfig(join(folder, 'kubeconfig'));
  configKeys(newConfigKey(), join(folder, 'config-keys'));
  redis = await startRedis({ control: true });
  all.defer(() => redis.stop());
  upstream = all.use(await startUpstream());
  store = openPublishedConfig({ url: redis.url });
  all.defer(() => store.close());
  await store.ping();
});
afterEach(() => all.disposeAsync());

async function startController(name: string): Promise<ControllerProcess> {
  const controller = await startControllerProcess({
    REDIS_URL: redis.url,
    KUBECONFIG: join(folder, 'kubeconfig'),
    GW_CONFIG_KEY_FILE: join(folder, 'config-keys'),
    GW_CONTROLLER_NAME: name,
  });
  all.defer(() => controller.kill());
  return controller;
}

async function startFollower(name = 'gateway-0'): Promise<GatewayProcess> {
  const env = { GW_CONFIG_KEY_FILE: join(folder, 'config-keys'), GW_GATEWAY_NAME: name };
  const databaseUrl = await createDatabase(inject('databaseUrl'));
  const gateway = await startGateway({ redisUrl: redis.url, databaseUrl, env });
  all.defer(() => gateway.kill());
  return gateway;
}

const resources = (workload: object = {}): object[] => tenant({ upstreamUrl: upstream.url, key, workload });
const statusOf = async (gateway: GatewayProcess): Promise<number> =>
  (
    await fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
      body: JSON.stringify({ model: 'upstream/m', messages: [{ role: 'user', content: 'Hello' }] }),
    })
  ).status;
/** However busy the machine is. */
const eventually = <T>(read: () => T | Promise<T>) => expect.poll(read, { timeout: 60_000 });

test('what is applied reaches gateways, and its status says so once all of them have it', async () => {
  cluster.apply(...resources());
  const controller = await startController('one');
  await eventually(() => cluster.condition('Workload', 'app', 'Accepted')).toBe('True Accepted');
  expect(cluster.condition('Workload', 'app', 'ResolvedRefs')).toBe('True ResolvedRefs');
  // Nobody serves by it yet.
  expect(cluster.condition('Workload', 'app', 'Programmed')).toBe('False Pending');
  const gateway = await startFollower();
  await eventually(() => cluster.condition('VirtualKey', 'app-key', 'Programmed')).toBe('True Programmed');
  await eventually(() => cluster.condition('Workload', 'app', 'Programmed')).toBe('True Programmed');
  expect(await statusOf(gateway)).toBe(200);

  cluster.apply(...resources({ limits: { requestsPerMinute: 1 } }));
  await eventually(() => statusOf(gateway)).toBe(429);
  const settled = () => cluster.get('Workload', 'app')?.status;
  await eventually(settled).toMatchObject({ observedGeneration: 2, limits: { requestsPerMinute: 1 } });
  await eventually(() => cluster.condition('Workload', 'app', 'Programmed')).toBe('True Programmed');
  expect(cluster.get('Workload', 'app')?.metadata.finalizers).toEqual(['gatewarden.dev/snapshot']);

  // Gone for the gateway first, then for the cluster.
  cluster.delete('VirtualKey', 'app-key');
  await eventually(() => cluster.get('VirtualKey', 'app-key')).toBeUndefined();
  expect(await statusOf(gateway)).toBe(401);
  // The answer of the API server is not quoted, nor are credentials.
  expect(controller.log.join('\n')).not.toContain('canary');
});

test('faults are told to whom they belong, and nobody else is kept waiting', async () => {
  const credentials = [{ name: 'main', type: 'APIKey', secretKeyRef: { name: 'gone', key: 'main' } }];
  cluster.apply(
    ...resources(),
    resource('Provider', 'other', { slug: 'openai', jurisdiction: 'US', credentials }),
    resource('VirtualKey', 'stray', {
      workloadRef: { name: 'nobody' },
      hash: { algorithm: 'SHA256', value: 'a'.repeat(64) },
    }),
  );
  await startController('one');
  await eventually(() => cluster.condition('Provider', 'other', 'ResolvedRefs')).toBe('False SecretNotFound');
  await eventually(() => cluster.condition('VirtualKey', 'stray', 'ResolvedRefs')).toBe('False TargetNotFound');
  await eventually(() => cluster.condition('Workload', 'app', 'Accepted')).toBe('True Accepted');
  await eventually(() => cluster.events.map(({ reason }) => reason).sort()).toContain('SecretNotFound');
  cluster.apply({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 'gone', namespace: 'default' },
    data: { main: Buffer.from('sk-1').toString('base64') },
  });
  await eventually(() => cluster.condition('Provider', 'other', 'ResolvedRefs')).toBe('True ResolvedRefs');
});

test('the cluster cut off, forgetful or busy: the controller comes back to what is there', async () => {
  cluster.apply(...resources());
  const controller = await startController('one');
  await eventually(() => cluster.condition('Workload', 'app', 'Accepted')).toBe('True Accepted');
  const lists = () => cluster.requests.filter((one) => one === 'GET /apis/gatewarden.dev/v1alpha1/workloads').length;
  const listed = lists();
  cluster.cutWatches();
  cluster.apply(resource('Workload', 'second', { organizationRef: { name: 'acme' } }));
  await eventually(() => cluster.condition('Workload', 'second', 'Accepted')).toBe('True Accepted');
  // It went on from where it was.
  expect(lists()).toBe(listed);

  cluster.compact();
  cluster.cutWatches();
  cluster.delete('Workload', 'second');
  await eventually(() => cluster.get('Workload', 'second')).toBeUndefined();
  expect(lists()).toBeGreaterThan(listed);

  cluster.answerWith(({ url }) =>
    url?.includes('leases') ? undefined : { status: 429, headers: { 'retry-after': '1' } },
  );
  cluster.cutWatches();
  await eventually(() => controller.log.some((line) => line.includes('429'))).toBe(true);
  cluster.apply(resource('Workload', 'third', { organizationRef: { name: 'acme' } }));
  cluster.answerWith(undefined);
  await eventually(() => cluster.condition('Workload', 'third', 'Accepted')).toBe('True Accepted');
});

test('of two controllers one leads; when it dies the other takes over in a later term, and what the dead one would write is fenced', async () => {
  cluster.apply(...resources());
  const first = await startController('one');
  await eventually(async () => (await store.head())?.epoch).toBe(1);
  const second = await startController('two');
  first.signal('SIGSTOP');
  await eventually(async () => (await store.head())?.epoch).toBe(2);
  const head = await store.head();
  cluster.apply(resource('Workload', 'second', { organizationRef: { name: 'acme' } }));
  await eventually(() => cluster.condition('Workload', 'second', 'Accepted')).toBe('True Accepted');
  first.signal('SIGCONT');
  await eventually(() => first.log.some((line) => line.includes('controller.following'))).toBe(true);
  await second.stop();
  // The lease was given up: no need to wait for its end. A later term again.
  await eventually(async () => (await store.head())?.epoch).toBe(3);
  expect(head?.epoch).toBe(2);
});

test('a store that was flushed is filled again; a lease that was lost does not bring back an old term', async () => {
  cluster.apply(...resources());
  const first = await startController('one');
  await eventually(async () => (await store.head())?.epoch).toBe(1);
  const gateway = await startFollower();
  await eventually(() => statusOf(gateway)).toBe(200);
  await redis.restart({ empty: true });
  await store.ping();
  await eventually(async () => (await store.head().catch(() => undefined))?.seq).toBeGreaterThan(1);
  await eventually(() => statusOf(gateway)).toBe(200);

  for (const [kind, name] of [
    ['VirtualKey', 'app-key'],
    ['Workload', 'app'],
  ] as const)
    await eventually(() => cluster.condition(kind, name, 'Programmed')).toBe('True Programmed');

  await first.kill();
  const statuses = (): readonly string[] => cluster.requests.filter((one) => one.endsWith('/status'));
  const written = statuses().length;
  cluster.delete('Lease', 'gatewarden-controller');
  await startController('two');
  await eventually(async () => (await store.head())?.epoch).toBe(2);
  cluster.apply(...resources({ limits: { requestsPerMinute: 1 } }));
  await eventually(() => statusOf(gateway)).toBe(429);
  await eventually(() => cluster.get('Workload', 'app')?.status).toMatchObject({ observedGeneration: 2 });
  await eventually(() => cluster.condition('Workload', 'app', 'Programmed')).toBe('True Programmed');
  // What its predecessor has found of all others stands as it was.
  expect(new Set(statuses().slice(written))).toEqual(
    new Set(['PATCH /apis/gatewarden.dev/v1alpha1/namespaces/default/workloads/app/status']),
  );
});
