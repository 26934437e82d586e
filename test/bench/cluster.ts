import { hash, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { openApiClient } from '../../src/adapters/kubernetes/api-client.ts';
import { collectionPath } from '../../src/adapters/kubernetes/cluster.ts';
import { newKey } from '../harness/gateway.ts';
import { startInstallation } from '../harness/installation.ts';
import { startPostgres } from '../harness/postgres.ts';
import { make } from '../../src/config/testing/resources.ts';
import { residentBytes } from './processes.ts';

/**
 * How long a changed limit takes from `kubectl apply` until every gateway uses it, with many workloads and keys on a
 * real API server, and what the controller and Redis need meanwhile. Keys are put into etcd as they are once all is settled.
 * Ends with 1 where the goal is missed.
 */
const WORKLOADS = Number(process.env['BENCH_WORKLOADS'] ?? 1000);
const KEYS = Number(process.env['BENCH_KEYS'] ?? 100_000);
const GATEWAYS = Number(process.env['BENCH_GATEWAYS'] ?? 3);
const ROUNDS = Number(process.env['BENCH_ROUNDS'] ?? 60);
const NAMESPACES = 20;
const AT_ONCE = 16;
const POLL_MS = 20;
const GOAL_MS = 2000;

await using servers = new AsyncDisposableStack();
const postgres = await startPostgres();
servers.defer(() => postgres.stop());
const all = servers.use(
  await startInstallation({
    databaseUrl: await postgres.createDatabase(),
    values: [
      '--set',
      'controller.allNamespaces=true,controller.platformNamespace=team-0,controller.organizationNamespaces={*}',
    ],
  }),
);
const { cluster, redis, upstream } = all;
const client = openApiClient(cluster.kubeconfig);
servers.defer(() => client.close());

const say = (what: string, value: string): void => void process.stdout.write(`${what.padEnd(58)} ${value}\n`);
const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(0)} MB`;
const secondsSince = (startedAt: number): string => `${((performance.now() - startedAt) / 1000).toFixed(0)} s`;
const space = (index: number): string => `team-${index % NAMESPACES}`;
const key = newKey();

type Made = ReturnType<typeof make>;

/** One namespace has the provider, all have an organization and workloads; keys are spread over the workloads. */
function* resources(): Generator<Made> {
  for (let index = 0; index < NAMESPACES; index++)
    yield make('Organization', `${space(index)}/acme`, { priceBookRef: { name: 'prices' } });
  for (let index = 0; index < NAMESPACES; index++)
    yield make('PriceBook', `${space(index)}/prices`, { prices: [{ model: 'upstream/*', input: '2', output: '8' }] });
  const endpoint = { url: upstream.url, allowInsecure: true };
  yield make('Provider', `${space(0)}/upstream`, { slug: 'upstream', endpoint });
  for (let index = 0; index < WORKLOADS; index++) yield workload(index, 100_000);
}

/** A key as it is once every gateway has had it for long. */
function settledKey(index: number) {
  const owner = index % WORKLOADS;
  const value = hash('sha256', index === 0 ? key : `key ${index}`, 'hex');
  const now = new Date().toISOString();
  const conditions = ['Accepted', 'ResolvedRefs', 'Programmed'].map((type) => ({
    type,
    status: 'True',
    reason: type,
    message: '',
    observedGeneration: 1,
    lastTransitionTime: now,
  }));
  return {
    apiVersion: 'gatewarden.dev/v1alpha1',
    kind: 'VirtualKey',
    metadata: {
      namespace: space(owner),
      name: `k${index}`,
      uid: randomUUID(),
      generation: 1,
      creationTimestamp: now.replace(/\.\d+/, ''),
      finalizers: ['gatewarden.dev/snapshot'],
    },
    spec: { workloadRef: { name: `w${owner}` }, hash: { algorithm: 'SHA256', value }, revoked: false },
    status: { observedGeneration: 1, conditions },
  };
}

function workload(index: number, requestsPerMinute: number): Made {
  return make('Workload', `${space(index)}/w${index}`, { limits: { requestsPerMinute } });
}

async function createAll(): Promise<void> {
  const rest = resources();
  const work = async (): Promise<void> => {
    for (const body of rest) {
      const { kind, metadata } = body;
      const path = collectionPath(kind as 'Workload', String(metadata['namespace']));
      await client.ask({ method: 'POST', path, body });
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
}

async function metric(url: string, name: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text();
  return Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1]);
}

/** The limit that a gateway tells, if it serves at all. */
async function limitOf(url: string): Promise<number> {
  const answer = await fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'upstream/m', messages: [{ role: 'user', content: 'Hello' }] }),
  });
  await answer.arrayBuffer();
  return Number(answer.headers.get('x-ratelimit-limit-requests'));
}

for (let index = 0; index < NAMESPACES; index++) cluster.must(['create', 'namespace', space(index)]);
const beganToStore = performance.now();
for (let from = 0; from < KEYS; from += 1000)
  await cluster.store(
    'virtualkeys',
    Array.from({ length: Math.min(1000, KEYS - from) }, (_, index) => settledKey(from + index)),
  );
say(`${KEYS} keys stored`, secondsSince(beganToStore));
const controller = await all.startController('bench', { GW_LEASE_SECONDS: '15' });
const gateways = await Promise.all(
  Array.from({ length: GATEWAYS }, (_, index) => all.startGateway(`gateway-${index}`)),
);
const startedAt = performance.now();
await createAll();
say(`${WORKLOADS} workloads created`, secondsSince(startedAt));
const unsettled = async (): Promise<number> =>
  KEYS -
  (await metric(controller.adminUrl, 'gw_controller_keys')) +
  ((await metric(controller.adminUrl, 'gw_controller_resources')) > WORKLOADS ? 0 : 1) +
  (await metric(controller.adminUrl, 'gw_controller_pending_resources')) +
  (await metric(controller.adminUrl, 'gw_controller_waiting_writes'));
// Twice nothing, so that what the last writes bring about has been seen too.
for (let quiet = 0; quiet < 2; quiet = (await unsettled()) === 0 ? quiet + 1 : 0) await sleep(2000);
say('… and every finalizer and status of theirs written', secondsSince(startedAt));

// Not counted: kubectl has to make up for not having created it, and gateways take in the first of all.
await cluster.apply(workload(0, 99_999));
for (const { url } of gateways) while ((await limitOf(url)) !== 99_999) await sleep(POLL_MS);
const times: number[] = [];
for (let round = 1; round <= ROUNDS; round++) {
  const limit = 100_000 + round;
  const began = performance.now();
  const enforced = Promise.all(
    gateways.map(async ({ url }) => {
      while ((await limitOf(url)) !== limit) await sleep(POLL_MS);
    }),
  );
  await cluster.apply(workload(0, limit));
  await enforced;
  times.push(performance.now() - began);
  await sleep(300 + Math.random() * 700);
}
times.sort((a, b) => a - b);
const at = (share: number): number => times[Math.min(times.length - 1, Math.ceil(times.length * share) - 1)]!;
for (const [name, share] of [
  ['median', 0.5],
  ['p95', 0.95],
  ['most', 1],
] as const)
  say(`from kubectl apply to ${GATEWAYS} gateways, ${name} of ${ROUNDS}`, `${at(share).toFixed(0)} ms`);
say('resident memory of the controller', megabytes(residentBytes(controller.pid)));
for (const gateway of gateways.slice(0, 1)) say('… of a gateway', megabytes(residentBytes(gateway.pid)));
say('… of the API server', megabytes(residentBytes(cluster.apiServerPid)));
const store = new Redis(redis.url);
say('Redis, all of it', megabytes(Number(/used_memory:(\d+)/.exec(await store.info('memory'))?.[1])));
store.disconnect();
say('… published', megabytes(await metric(controller.adminUrl, 'gw_config_published_bytes')));
if (at(0.95) > GOAL_MS) process.exitCode = 1;
