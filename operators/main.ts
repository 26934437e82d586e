import { readFile } from 'node:fs/promises';
import { openApiClient } from '#/adapters/kubernetes/api-client.ts';
import { openCluster, openLeaseStore } from '#/adapters/kubernetes/cluster.ts';
import { openPublishedConfig } from '#/adapters/redis/published-config.ts';
import { openSpentReader, type SpentSums } from '#/adapters/redis/spent.ts';
import { readMasterKeys } from '#/config/master-keys.ts';
import { createConfigKeys } from '#/config/published/config-keys.ts';
import { formatEuro } from '#/values/money.ts';
import { periodsAt } from '#/meter/limits/periods.ts';
import type { Log } from '#/telemetry/log.ts';
import { startFailure, startProgram } from '#/telemetry/start-program.ts';
import { createAdminServer } from '#/telemetry/admin-server.ts';
import { startController } from './controller.ts';
import { createObserver } from './observer.ts';
import { processEnvironment } from '#/settings/reader.ts';
import { readSettings, type Settings } from './settings.ts';
import { createSpending, type Sums } from './status/spending.ts';

/** Nothing was heard of a collection for so long: whatever holds the connection up, a new process may not have it. */
const MOST_SILENCE_MS = 600_000;

/** The composition root of the controller: reads the environment and constructs adapters. */

await startProgram(readSettings(processEnvironment()), run, startFailure);

async function run(settings: Settings, log: Log): Promise<void> {
  const { redisUrl: url, redisCluster: cluster, name, leaseSeconds } = settings;
  const keys = createConfigKeys(readMasterKeys(await readFile(settings.keyFile, 'utf8'), 'configuration keys'));
  const client = openApiClient(settings.kubeconfig);
  const ownNamespace = settings.leaseNamespace ?? client.namespace;
  const platformNamespace = settings.platformNamespace ?? ownNamespace;
  const { organizationNamespaces: permitted } = settings;
  const store = openPublishedConfig({ url, cluster });
  await store.ping().catch(() => {}); // publishing says that it cannot be reached
  const spent = openSpentReader({ url, cluster });
  const observer = createObserver(log);
  const controller = startController({
    cluster: openCluster(client, name),
    leases: openLeaseStore(client, ownNamespace, 'gatewarden-controller'),
    store,
    keys,
    name,
    namespaces: settings.namespaces,
    usdToEur: settings.usdToEur,
    platformNamespace,
    organizationNamespaces: permitted === 'all' ? undefined : permitted.length > 0 ? permitted : [platformNamespace],
    spending: createSpending(async ({ id, timeZone }) => {
      const sums = await spent.read(id, periodsAt(Date.now(), timeZone));
      return new Map([...sums].map(([workload, one]) => [workload, toSums(one)]));
    }),
    onEvent: observer.onEvent,
    timings: { leaseSeconds, renewDeadlineMs: (leaseSeconds * 2000) / 3, retryMs: (leaseSeconds * 1000) / 7.5 },
  });
  observer.watch(controller);
  const admin = createAdminServer({
    metrics: () => observer.scrape(),
    notReady: () => (controller.state().isSynced ? undefined : 'the first list of all resources is not complete'),
    notAlive: () => (controller.state().silentMs > MOST_SILENCE_MS ? 'the API server does not answer' : undefined),
  });
  admin.listen(settings.adminPort, settings.adminHost, () => {
    const address = admin.address();
    const port = typeof address === 'object' && address ? address.port : settings.adminPort;
    log.info({ event: 'controller.listening', admin: `http://${settings.adminHost}:${port}`, name });
  });

  let ending = false;
  const shutDown = async (): Promise<void> => {
    if (ending) return;
    ending = true;
    await controller.stop();
    admin.close();
    spent.close();
    client.close();
    await store.close();
    process.exit(0);
  };
  process.on('SIGTERM', () => void shutDown());
  process.on('SIGINT', () => void shutDown());
}

function toSums(sums: SpentSums): Sums {
  const amounts = Object.entries(sums).map(([period, amount]) => [period, formatEuro(amount as bigint)]);
  return Object.fromEntries(amounts) as Sums;
}
