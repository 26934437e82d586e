import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { startFakeCluster, type FakeCluster } from '../harness/fake-cluster.ts';
import { freePort } from '../harness/free-port.ts';
import { newKey, tenant } from '../harness/gateway.ts';
import { newConfigKey } from '../harness/published-config.ts';
import { startUpstream, type Upstream } from '../harness/upstream.ts';
import { startPod, type Pod } from './pod.ts';
import { start, type Running } from './podman.ts';

/** A gateway's pod, where it listens. */
export interface GatewayPod extends Pod {
  readonly port: number;
  readonly adminUrl: string;
}

/** Everything in containers but the provider and the API server, which are stand-ins on loopback. */
export interface World extends AsyncDisposable {
  readonly upstream: Upstream;
  readonly cluster: FakeCluster;
  readonly key: string;
  readonly databaseUrl: string;
  readonly inference: Pod;
  readonly controller: Pod;
  /** Starts one more gateway and waits until it is ready. */
  gateway(): Promise<GatewayPod>;
}

const STORES = 'localhost/gatewarden-stores';
const POSTGRES_USER = 999;
/** What the stand-in takes for an answer may last as long as an answer may. */
const POLICY = { answerTimeoutSeconds: 600 };

/** Starts stores, the migrations, the engine and the controller, and applies the resources of one tenant. */
export async function startWorld(): Promise<World> {
  await using cleanup = new AsyncDisposableStack();
  const id = randomBytes(3).toString('hex');
  const folder = mkdtempSync(join(tmpdir(), 'gatewarden-containers-'));
  cleanup.defer(() => rmSync(folder, { recursive: true, force: true }));
  const [redisPort, databasePort, inferencePort, controllerPort] = await freePorts(4);
  const redis = await startRedis(`gw-${id}-redis`, redisPort!);
  cleanup.use(redis);
  const postgres = await startPostgres(`gw-${id}-postgres`, databasePort!, folder);
  cleanup.use(postgres);
  const redisUrl = `redis://127.0.0.1:${redisPort}`;
  const databaseUrl = `postgres://postgres@127.0.0.1:${databasePort}/postgres`;
  await answers(async () => {
    const client = new pg.Client({ connectionString: databaseUrl });
    await client.connect().finally(() => void client.end().catch(() => {}));
  }, postgres);
  await answers(() => dial(redisPort!), redis);
  {
    await using migrations = await startPod('migrations', `gw-${id}-migrations`, {
      env: { DATABASE_URL: databaseUrl },
    });
    const code = await migrations.ended();
    if (code !== 0) throw new Error(`the migrations ended with ${code}: ${await migrations.log()}`);
  }
  const upstream = await startUpstream();
  cleanup.defer(() => upstream.close());
  const cluster = await startFakeCluster();
  cleanup.use(cluster);
  const key = newKey();
  cluster.apply(...tenant({ upstreamUrl: upstream.url, key, policy: POLICY }));
  const kubeconfig = cluster.kubeconfig(join(folder, 'kubeconfig'));
  chmodSync(kubeconfig, 0o644);
  const inference = await startPod('inference', `gw-${id}-inference`, {
    env: { HOST: '127.0.0.1', PORT: String(inferencePort) },
  });
  cleanup.use(inference);
  const keys = {
    'config-keys': newConfigKey(),
    'content-keys': `k1:${randomBytes(32).toString('base64')}\n`,
    'checkpoint-key.pem': generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  };
  const controller = await startPod('controller', `gw-${id}-controller`, {
    env: {
      HOST: '127.0.0.1',
      ADMIN_PORT: String(controllerPort),
      REDIS_URL: redisUrl,
      GW_WATCH_NAMESPACES: 'default',
      KUBECONFIG: '/etc/kubeconfig',
    },
    secrets: { keys: { 'config-keys': keys['config-keys'] } },
    folders: { '/etc/kubeconfig': kubeconfig },
  });
  cleanup.use(controller);
  await isReady(`http://127.0.0.1:${inferencePort}/readyz`, inference);
  const all = cleanup.move();
  let gateways = 0;
  return {
    upstream,
    cluster,
    key,
    databaseUrl,
    inference,
    controller,
    async gateway() {
      const [port, adminPort] = await freePorts(2);
      const pod = await startPod('gateway', `gw-${id}-gateway-${gateways++}`, {
        env: {
          HOST: '127.0.0.1',
          PORT: String(port),
          ADMIN_PORT: String(adminPort),
          REDIS_URL: redisUrl,
          DATABASE_URL: databaseUrl,
          GW_INFERENCE_URL: `http://127.0.0.1:${inferencePort}`,
        },
        secrets: { keys },
      });
      all.use(pod);
      const adminUrl = `http://127.0.0.1:${adminPort}`;
      await isReady(`${adminUrl}/readyz`, pod);
      return { ...pod, port: port!, adminUrl };
    },
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  };
}

function startRedis(name: string, port: number): Promise<Running> {
  const command = ['redis-server', '--bind', '127.0.0.1', '--port', String(port), '--save', ''];
  return start(name, ['--user', '999:999', '--read-only', '--cap-drop', 'ALL'], STORES, command);
}

function startPostgres(name: string, port: number, folder: string): Promise<Running> {
  const data = join(folder, 'postgres');
  mkdirSync(data);
  chownSync(data, POSTGRES_USER, POSTGRES_USER);
  chmodSync(folder, 0o755);
  const bin = '/usr/lib/postgresql/15/bin';
  const settings = ['fsync=off', 'jit=off', 'listen_addresses=127.0.0.1', 'unix_socket_directories='];
  const script = [
    `${bin}/initdb -D /data/main -U postgres --auth=trust --no-sync --encoding=UTF8 --locale=C.UTF-8 >/dev/null`,
    `exec ${bin}/postgres -D /data/main -p ${port} ${settings.map((each) => `-c ${each}`).join(' ')}`,
  ];
  const options = ['--user', '999:999', '--read-only', '--cap-drop', 'ALL', '--volume', `${data}:/data`];
  return start(name, options, STORES, ['/bin/sh', '-ec', script.join('\n')]);
}

async function freePorts(count: number): Promise<readonly number[]> {
  const ports = new Set<number>();
  while (ports.size < count) ports.add(await freePort());
  return [...ports];
}

function dial(port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1' });
    socket.once('connect', () => resolve(void socket.destroy())).once('error', reject);
  });
}

const isReady = (url: string, pod: Running): Promise<void> =>
  answers(async () => {
    const answer = await fetch(url);
    if (answer.status !== 200) throw new Error(await answer.text());
  }, pod);

/** Tries until it does not fail. Rejects with the container's log after two minutes. */
async function answers(attempt: () => Promise<void>, container: Running): Promise<void> {
  let last: unknown;
  for (let tries = 0; tries < 600; tries++) {
    try {
      return await attempt();
    } catch (error) {
      last = error;
      await sleep(200);
    }
  }
  throw new Error(`${container.name} is not there: ${String(last)}\n${await container.log()}`);
}
