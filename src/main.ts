import type { Server } from 'node:http';
import { mkdir } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { openMemoryCounters } from '#adapters/memory/limit-counters.ts';
import { openMemoryCache } from '#adapters/memory/response-cache.ts';
import { openEmbeddedPostgres } from '#adapters/pglite/embedded-postgres.ts';
import { openPostgresLedger } from '#adapters/postgres/ledger.ts';
import { openPostgresContent } from '#adapters/postgres/retained-content.ts';
import { openRedisCounters } from '#adapters/redis/limit-counters.ts';
import { openRedisCache } from '#adapters/redis/response-cache.ts';
import { openS3Anchors, type S3AnchorStore } from '#adapters/s3/anchor-store.ts';
import { openFolderSource } from '#config/folder-source.ts';
import { createDetectionPool } from '#inspect/detect-worker.ts';
import { createPriceBook } from '#meter/price-book.ts';
import type { CheckpointStore } from '#ports/checkpoints.ts';
import type { LimitCounters } from '#ports/limit-counters.ts';
import { createCorridor } from '#pipeline/corridor.ts';
import { createProviders } from '#providers/registry.ts';
import { createMediaFetcher } from '#providers/media.ts';
import { createTransport } from '#providers/transport.ts';
import { createLog, type Log } from '#telemetry/log.ts';
import { createAnchorer, type Anchorer } from '#seal/anchorer.ts';
import { createCheckpointer } from '#seal/checkpointer.ts';
import { createSealedBox } from '#seal/sealed-box.ts';
import type { ResponseCache } from '#ports/response-cache.ts';
import { createAdminServer } from './admin.ts';
import { loadCheckpointKeys } from './checkpoint-key.ts';
import { loadContentKeys } from './content-keys.ts';
import { embeddedResources, newDevelopmentKey, SAMPLES_NAMESPACE } from './embedded/resources.ts';
import { startSandbox, type Sandbox } from './embedded/sandbox.ts';
import { buildGateway } from './gateway.ts';
import { createObserver } from './observer.ts';
import { openSnapshotFile } from './price-snapshot-file.ts';
import { readSettings, type Settings } from './settings.ts';
import { OpenCalls } from '#surfaces/open-calls.ts';

/** Partitions for the months to come, shorter running sums, no content that has expired. */
const MAINTENANCE_MS = 3_600_000;

/** The composition root: the only file that reads the environment and constructs adapters. */

await main();

async function main(): Promise<void> {
  const read = readSettings(process.env);
  if ('faults' in read) {
    for (const fault of read.faults) process.stderr.write(`settings: ${fault}\n`);
    process.exit(2);
  }
  const log = createLog(read.settings.logLevel);
  try {
    await run(read.settings, log);
  } catch (error) {
    log.fatal({ event: 'start.failed', err: error }, startFailure(error));
    process.exit(1);
  }
}

async function run(settings: Settings, log: Log): Promise<void> {
  await mkdir(settings.dataDir, { recursive: true, mode: 0o700 });
  const observer = createObserver(log);
  let notReady = (): string | undefined => 'starting';
  const admin = createAdminServer({ metrics: () => observer.scrape(), notReady: () => notReady() });
  await listen(admin, settings.adminPort, settings.host);
  const development = await startDevelopment(settings);
  const config = await openFolderSource({
    dir: settings.configDir ?? fileURLToPath(new URL('../k8s/samples/local', import.meta.url)),
    usdToEur: settings.usdToEur,
    ...(settings.secretsDir !== undefined && { secretsDir: settings.secretsDir }),
    ...(development && { extra: () => development.resources }),
    onEvent: observer.onConfig,
  });
  const database =
    settings.databaseUrl === undefined ? await openEmbeddedPostgres({ dataDir: settings.dataDir }) : undefined;
  const ledger = await openLedger(database?.connectionString ?? settings.databaseUrl!, log);
  const counters = await openCounters(settings, log);
  const responseCache = openCache(settings);
  const retainedContent = await openPostgresContent({
    connectionString: database?.connectionString ?? settings.databaseUrl!,
  });
  const transport = createTransport();
  const detection = createDetectionPool(settings.phoneRegions ? { phoneRegions: settings.phoneRegions } : {});
  const providers = createProviders(transport);
  const snapshot =
    settings.prices &&
    (await openSnapshotFile({
      ...settings.prices,
      lastGoodFile: `${settings.dataDir}/prices.last-good.json`,
      onEvent: observer.onPrices,
    }));
  const prices = createPriceBook({
    usdToEur: settings.usdToEur,
    ...(snapshot && { snapshot: () => snapshot.current() }),
  });
  const media = createMediaFetcher();
  const corridor = createCorridor({
    counters,
    ledger,
    detection,
    prices,
    providers,
    media,
    responseCache,
    retainedContent,
    box: createSealedBox(await loadContentKeys(settings.contentKeyFile)),
    snapshot: () => config.current(),
    onEvent: observer.onCorridor,
  });
  const checkpointer = createCheckpointer({
    store: ledger,
    keys: await loadCheckpointKeys(settings.checkpointKeyFile),
    onFault: (error) => observer.onCorridor({ kind: 'checkpoint.fault', error }),
  });
  const anchors = openAnchors(settings, ledger, (error) => observer.onCorridor({ kind: 'anchor.fault', error }));
  await corridor.start();
  checkpointer.start();
  anchors?.anchorer.start();
  const maintenance = setInterval(() => {
    ledger.maintain(Date.now()).catch((error: unknown) => observer.onCorridor({ kind: 'ledger.fault', error }));
    retainedContent.expire(Date.now()).catch((error: unknown) => observer.onCorridor({ kind: 'content.fault', error }));
  }, MAINTENANCE_MS);
  maintenance.unref();
  const calls = new OpenCalls();
  let draining = false;
  const gateway = buildGateway({
    keys: config,
    providers,
    prices,
    calls,
    turnAway: (caller) => corridor.turnAway(caller),
    serve: (ingress) => corridor.serve(ingress),
    refuse: (ingress, error) => corridor.refuse(ingress, ingress.codec.family, error),
    pass: (passage) => corridor.pass(passage),
    refusePassage: (opening, error) => corridor.refuse(opening, 'passthrough', error),
    onError: observer.onError,
    docsUrl: settings.docsUrl,
    bodyLimitBytes: settings.bodyLimitBytes,
    draining: () => draining,
  });
  observer.watch({ corridor, calls, config, anchorer: anchors?.anchorer, prices: snapshot });
  await gateway.listen({ host: settings.host, port: settings.port });
  notReady = () => (draining ? 'draining' : config.current() ? undefined : 'no valid configuration yet');
  announce(log, settings, addressOf(gateway.server), addressOf(admin), development?.key);

  /** Readiness off, no new calls, open streams run on, rows and settlements out, then the stores. // spec 6.1.5 */
  const shutDown = async (): Promise<void> => {
    if (draining) return;
    draining = true;
    log.info({ event: 'drain.started', open_calls: calls.size });
    gateway.server.close();
    gateway.server.closeIdleConnections();
    await calls.finish(settings.drainSeconds * 1000);
    const complete = await corridor.drain(20_000);
    log.info({ event: 'drain.ended', complete });
    corridor.stop();
    checkpointer.stop();
    await checkpointer.make();
    anchors?.anchorer.stop();
    admin.close();
    config.close();
    snapshot?.close();
    const stores = [
      detection,
      transport,
      media,
      counters,
      responseCache,
      retainedContent,
      ledger,
      ...(anchors ? [anchors.store] : []),
    ];
    await Promise.allSettled(stores.map(async (store) => store.close()));
    await database?.close();
    await development?.sandbox.stop();
    process.exit(complete ? 0 : 1);
  };
  process.on('SIGTERM', () => void shutDown());
  process.on('SIGINT', () => void shutDown());
}

interface Development {
  readonly key: string;
  readonly sandbox: Sandbox;
  readonly resources: ReturnType<typeof embeddedResources>;
}

/** The sandbox provider and a key for it: with the sample configuration, or where a key was asked for. */
async function startDevelopment(settings: Settings): Promise<Development | undefined> {
  if (settings.configDir !== undefined && settings.bootstrapKey === undefined) return undefined;
  const sandbox = await startSandbox();
  const key = settings.bootstrapKey ?? newDevelopmentKey();
  const namespace = settings.configDir === undefined ? SAMPLES_NAMESPACE : 'embedded';
  const resources = embeddedResources({ sandboxUrl: sandbox.url, key, vendorKeys: settings.vendorKeys, namespace });
  return { key, sandbox, resources };
}

/** Waits for the database: it may start after us. */
async function openLedger(connectionString: string, log: Log): Promise<Awaited<ReturnType<typeof openPostgresLedger>>> {
  for (let wait = 250; ; wait = Math.min(wait * 2, 5000)) {
    try {
      return await openPostgresLedger({ connectionString });
    } catch (error) {
      if (!mayPass(error)) throw error;
      log.warn({ event: 'ledger.unreachable', err: error, retry_ms: wait });
      await new Promise((resolve) => setTimeout(resolve, wait));
    }
  }
}

/** Whether a database that could not be opened may just not be there yet. */
function mayPass(error: unknown): boolean {
  const { code } = error as { code?: unknown };
  return typeof code === 'string' && /^(E[A-Z_]+|57P\d\d|08\d\d\d|53\d\d\d)$/.test(code);
}

/** Shared counters, or this process' own. Redis may come later: until then calls are refused, not lost. */
async function openCounters(settings: Settings, log: Log): Promise<LimitCounters & { close(): Promise<void> | void }> {
  if (settings.redisUrl === undefined) return openMemoryCounters({ journal: `${settings.dataDir}/holds.journal` });
  const counters = openRedisCounters({ url: settings.redisUrl, cluster: settings.redisCluster });
  await counters.ping().catch((error: unknown) => log.warn({ event: 'counters.unreachable', err: error }));
  return counters;
}

/** Shared by all gateways, or this process' own. */
function openCache(settings: Settings): ResponseCache & { close(): Promise<void> | void } {
  const { redisUrl, redisCluster, cacheRedisUrl } = settings;
  if (cacheRedisUrl !== undefined) return openRedisCache({ url: cacheRedisUrl });
  if (redisUrl !== undefined) return openRedisCache({ url: redisUrl, cluster: redisCluster });
  return { ...openMemoryCache(), close: () => {} };
}

/** Copies of checkpoints outside the database, where settings ask for them. */
function openAnchors(
  { anchor }: Settings,
  checkpoints: CheckpointStore,
  onFault: (error: unknown) => void,
): { readonly anchorer: Anchorer; readonly store: S3AnchorStore } | undefined {
  if (!anchor) return undefined;
  const store = openS3Anchors(anchor);
  return { anchorer: createAnchorer({ checkpoints, store, every: anchor.every, onFault }), store };
}

function listen(server: Server, port: number, host: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  });
}

function addressOf(server: Server): string {
  const address = server.address();
  if (address === null || typeof address === 'string') return String(address);
  const host = address.family === 'IPv6' ? `[${address.address}]` : address.address;
  return `http://${host === '0.0.0.0' ? '127.0.0.1' : host}:${address.port}`;
}

function announce(log: Log, settings: Settings, url: string, admin: string, key: string | undefined): void {
  log.info({ event: 'gateway.listening', url, admin, embedded: settings.databaseUrl === undefined });
  if (key === undefined) return;
  const body =
    '{"model":"sandbox/echo","stream":true,"messages":[{"role":"user","content":"Write to ada@example.com"}]}';
  process.stdout.write(`
  Gatewarden is up. This key works until the process ends${settings.bootstrapKey === undefined ? ' and is not shown again' : ''}:

    ${key}

  Try it:

    curl -N ${url}/v1/chat/completions -H 'Authorization: Bearer ${key}' -H 'Content-Type: application/json' -d '${body}'

  Readiness: ${admin}/readyz   Metrics: ${admin}/metrics

`);
}

/** What a start that failed is told as: system errors by their code, without paths or addresses of secrets. */
function startFailure(error: unknown): string {
  const { code, message } = error as { code?: unknown; message?: unknown };
  return typeof code === 'string' ? `could not start: ${code}` : `could not start: ${String(message)}`;
}
