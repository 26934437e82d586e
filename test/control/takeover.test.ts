import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Timings } from '../../operators/controller-options.ts';
import { startController, type Controller } from '../../operators/controller.ts';
import { openApiClient } from '../../src/adapters/kubernetes/api-client.ts';
import { openCluster, openLeaseStore } from '../../src/adapters/kubernetes/cluster.ts';
import { openPublishedConfig, type RedisPublishedConfig } from '../../src/adapters/redis/published-config.ts';
import type { Position } from '../../src/config/published/config-store.ts';
import { startFakeCluster, type FakeCluster } from '../harness/fake-cluster.ts';
import { newKey, resource, tenant } from '../harness/gateway.ts';
import { configKeys, newConfigKey } from '../harness/published-config.ts';
import { startRedis, type RedisServer } from '../harness/redis.ts';

const REPORT_MS = 3000;
const keys = configKeys(newConfigKey());
let all: AsyncDisposableStack;
let cluster: FakeCluster;
let redis: RedisServer;
let store: RedisPublishedConfig;
let kubeconfig: string;

beforeEach(async () => {
  all = new AsyncDisposableStack();
  const folder = mkdtempSync(join(tmpdir(), 'gatewarden-takeover-'));
  all.defer(() => rmSync(folder, { recursive: true, force: true }));
  cluster = all.use(await startFakeCluster());
  kubeconfig = cluster.kubeconfig(join(folder, 'kubeconfig'));
  redis = await startRedis({ control: true });
  all.defer(() => redis.stop());
  store = openPublishedConfig({ url: redis.url });
  all.defer(() => store.close());
  await store.ping();
  cluster.apply(...tenant({ upstreamUrl: 'http://127.0.0.1:9', key: newKey() }));
});
afterEach(() => all.disposeAsync());

/** A controller of this process, with a store of its own. */
function lead(name: string, timings: Partial<Timings> = {}): Controller {
  const client = openApiClient(kubeconfig);
  const own = openPublishedConfig({ url: redis.url });
  const controller = startController({
    cluster: openCluster(client, name),
    leases: openLeaseStore(client, 'default', 'gatewarden-controller'),
    store: own,
    keys,
    name,
    namespaces: [],
    usdToEur: '0.92',
    platformNamespace: 'default',
    timings: {
      lookMs: 100,
      hurryMs: 50,
      reportMs: REPORT_MS,
      leaseSeconds: 3,
      renewDeadlineMs: 2000,
      retryMs: 200,
      ...timings,
    },
  });
  all.defer(async () => {
    await controller.stop();
    await own.close();
    client.close();
  });
  return controller;
}

const eventually = <T>(read: () => T | Promise<T>) => expect.poll(read, { timeout: 30_000 });
const appKey = () => cluster.get('VirtualKey', 'app-key');
const programmed = (name = 'app') => cluster.condition('Workload', name, 'Programmed');
const report = (gateway: string, { epoch, seq }: Position) => store.report(gateway, { epoch, seq, broken: [] });
/** A gateway reports what is published, once that is of a term and later than a number. */
async function follow(gateway: string, epoch: number, after = 0): Promise<Position> {
  await eventually(async () => {
    const head = await store.head();
    return head?.epoch === epoch && head.seq > after;
  }).toBe(true);
  const head = (await store.head())!;
  await report(gateway, head);
  return head;
}

test('what was deleted before a controller took over stays until gateways tell that it is gone for them', async () => {
  const first = lead('one');
  await follow('gateway-0', 1);
  await eventually(() => programmed()).toBe('True Programmed');
  await first.stop();
  cluster.delete('VirtualKey', 'app-key');
  lead('two');
  await eventually(async () => (await store.head())?.epoch).toBe(2);
  await sleep(REPORT_MS + 1000);
  // Others may still be heard of, but this one has not followed.
  expect(appKey()).toBeDefined();
  await follow('gateway-0', 2);
  await eventually(appKey).toBeUndefined();
});

test('of a store that was emptied, one gateway that reports again does not speak for all', async () => {
  // Whether it was emptied is not looked for, but found by publishing.
  const controller = lead('one', { lookMs: 600_000 });
  const before = await follow('gateway-0', 1);
  await report('gateway-1', before);
  await eventually(() => programmed()).toBe('False Pending');
  cluster.apply(resource('Workload', 'second', { organizationRef: { name: 'acme' } }));
  const { seq } = await follow('gateway-0', 1, before.seq);
  await follow('gateway-1', 1, before.seq);
  await eventually(() => programmed('second')).toBe('True Programmed');
  expect(controller.state().gateways).toBe(2);
  await sleep(REPORT_MS);

  const client = new Redis(redis.url);
  await client.flushall();
  client.disconnect();
  await report('gateway-0', { epoch: 1, seq });
  const deletedAt = performance.now();
  cluster.delete('VirtualKey', 'app-key');
  await follow('gateway-0', 1, seq);
  // The other one never comes back: it counts as gone after as long as it would have otherwise.
  await eventually(appKey).toBeUndefined();
  expect(performance.now() - deletedAt).toBeGreaterThan(REPORT_MS);
});

test('with no gateway at all, what is deleted goes', async () => {
  lead('one');
  await eventually(() => appKey()?.metadata.finalizers).toHaveLength(1);
  cluster.delete('VirtualKey', 'app-key');
  await eventually(appKey).toBeUndefined();
});

test('without the store a controller that takes over says so, and leaves standing what gateways serve by', async () => {
  const first = lead('one');
  await follow('gateway-0', 1);
  await eventually(() => programmed()).toBe('True Programmed');
  await first.stop();
  await redis.kill();
  const second = lead('two');
  await eventually(() => second.state().epoch).toBe(2);
  cluster.apply(resource('Workload', 'second', { organizationRef: { name: 'acme' } }));
  await eventually(() => programmed('second')).toBe('False PublishFailed');
  expect(cluster.condition('Workload', 'second', 'Accepted')).toBe('True Accepted');
  expect(programmed()).toBe('True Programmed');

  await redis.restart({ empty: true });
  await store.ping();
  await follow('gateway-0', 2);
  await eventually(() => programmed('second')).toBe('True Programmed');
  expect(programmed()).toBe('True Programmed');
});
