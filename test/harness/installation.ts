import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startCluster, type Cluster } from './cluster.ts';
import { startControllerProcess, type ControllerProcess } from './controller.ts';
import { startGateway, type GatewayProcess } from './gateway.ts';
import { helm } from './helm.ts';
import { configKeys, newConfigKey } from './published-config.ts';
import { startRedis, type RedisServer } from './redis.ts';
import { startUpstream, type Upstream } from './upstream.ts';

/** The namespace of the release. */
export const RELEASE = 'gateway';
export const ACCOUNT = 'gw-gatewarden-controller';
export const STORES = ['redis', 'database', 'keys'].flatMap((name) => ['--set', `${name}.existingSecret=${name}`]);

/** Puts both charts into a cluster without waiting for anything to run. */
export function installCharts(cluster: Cluster, more: readonly string[] = []): void {
  for (const [release, chart, values] of [
    ['crds', 'gatewarden-crds', []],
    ['gw', 'gatewarden', [...STORES, ...more]],
  ] as const) {
    const where = ['--namespace', RELEASE, '--create-namespace', '--no-hooks', '--kubeconfig', cluster.kubeconfig];
    const { status, err } = helm(['install', release, `charts/${chart}`, ...where, ...values]);
    if (status !== 0) throw new Error(`helm ended with ${status}: ${err}`);
  }
  cluster.must(['wait', '--for=condition=Established', '--timeout=30s', 'crds', '--all']);
}

/** What the Deployment of the chart tells the controller, but for addresses, and for what a pod alone can know. */
export function controllerEnvironment(cluster: Cluster): Readonly<Record<string, string>> {
  const path = '{.spec.template.spec.containers[0].env}';
  const text = cluster.must(['get', 'deployment', ACCOUNT, '-n', RELEASE, '-o', `jsonpath=${path}`]);
  const given = JSON.parse(text) as { readonly name: string; readonly value?: string }[];
  const told = given.flatMap(({ name, value }) => (value === undefined ? [] : [[name, value] as const]));
  return { ...Object.fromEntries(told), HOST: '127.0.0.1', ADMIN_PORT: '0', GW_CONTROLLER_NAMESPACE: RELEASE };
}

/** The charts on an API server, with controllers and gateways as processes beside it and a real Redis between them. */
export interface Installation extends AsyncDisposable {
  readonly cluster: Cluster;
  readonly redis: RedisServer;
  readonly upstream: Upstream;
  /** By which the controller reaches the API server: with its own account, and what the chart allows it. */
  readonly kubeconfig: string;
  startController(name: string, env?: Readonly<Record<string, string>>): Promise<ControllerProcess>;
  /** Starts a gateway that follows what is published in Redis. */
  startGateway(name: string): Promise<GatewayProcess>;
}

export interface InstallationOptions {
  readonly databaseUrl: string;
  /** For Helm, such as `--set`. */
  readonly values?: readonly string[];
}

export async function startInstallation({ databaseUrl, values }: InstallationOptions): Promise<Installation> {
  await using starting = new AsyncDisposableStack();
  const cluster = starting.use(await startCluster());
  installCharts(cluster, values);
  const kubeconfig = cluster.accountKubeconfig(RELEASE, ACCOUNT);
  const folder = mkdtempSync(join(tmpdir(), 'gatewarden-installation-'));
  starting.defer(() => rmSync(folder, { recursive: true, force: true }));
  const keyFile = join(folder, 'config-keys');
  configKeys(newConfigKey(), keyFile);
  const redis = await startRedis({ control: true });
  starting.defer(() => redis.stop());
  const upstream = starting.use(await startUpstream());
  const all = starting.move();
  return {
    cluster,
    redis,
    upstream,
    kubeconfig,
    async startController(name, env) {
      const controller = await startControllerProcess({
        ...controllerEnvironment(cluster),
        REDIS_URL: redis.url,
        KUBECONFIG: kubeconfig,
        GW_CONFIG_KEY_FILE: keyFile,
        GW_CONTROLLER_NAME: name,
        ...env,
      });
      all.defer(() => controller.kill());
      return controller;
    },
    async startGateway(name) {
      const env = { GW_CONFIG_KEY_FILE: keyFile, GW_GATEWAY_NAME: name };
      const gateway = await startGateway({ redisUrl: redis.url, databaseUrl, env });
      all.defer(() => gateway.kill());
      return gateway;
    },
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  };
}
