import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startReflector } from '../../operators/cluster/reflector.ts';
import { openApiClient } from '../../src/adapters/kubernetes/api-client.ts';
import { openCluster } from '../../src/adapters/kubernetes/cluster.ts';
import { startFakeCluster } from '../harness/fake-cluster.ts';

test('everything is listed again in time, however often watches end before', async () => {
  await using all = new AsyncDisposableStack();
  const folder = mkdtempSync(join(tmpdir(), 'gatewarden-reflector-'));
  all.defer(() => rmSync(folder, { recursive: true, force: true }));
  const cluster = all.use(await startFakeCluster());
  const client = openApiClient(cluster.kubeconfig(join(folder, 'kubeconfig')));
  all.defer(() => client.close());
  const reflector = startReflector({
    cluster: openCluster(client, 'one'),
    collection: { kind: 'Workload' },
    sink: { put: () => {}, remove: () => {}, synced: () => {} },
    backoffMs: [1, 1],
    resyncMs: 2000,
  });
  all.defer(() => reflector.stop());
  const watches = (): number => cluster.requests.filter((one) => one.endsWith('?watch')).length;
  const startedAt = performance.now();
  await expect
    .poll(
      () => {
        cluster.cutWatches();
        return reflector.lists;
      },
      { timeout: 30_000, interval: 100 },
    )
    .toBe(3);
  // In time, and not each time.
  expect(performance.now() - startedAt).toBeGreaterThan(3900);
  expect(watches()).toBeGreaterThan(4);
});
