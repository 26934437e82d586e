import type { Server } from 'node:http';
import { mkdir } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { createAlertWebhook } from '#/adapters/webhook/alert-webhook.ts';
import { DetectorMarks } from '#/inspect/detector-marks.ts';
import { withNames } from '#/inspect/names/detect-names.ts';
import { createNameSearch } from '#/inspect/names/name-search.ts';
import { createDetectionPool } from '#/inspect/search/detection-pool.ts';
import { createPriceBook } from '#/meter/pricing/price-book.ts';
import { Pipeline } from '#/pipeline/pipeline.ts';
import { createLocalRouter } from '#/route/local-router.ts';
import { createLocalProvider } from '#/providers/local/local.ts';
import { createProviders } from '#/providers/registry.ts';
import { createMediaFetcher } from '#/providers/http/media.ts';
import { createTransport } from '#/providers/http/transport.ts';
import type { Log } from '#/telemetry/log.ts';
import { startFailure, startProgram } from '#/telemetry/start-program.ts';
import { createCheckpointer } from '#/seal/checkpoints/checkpointer.ts';
import { createContentCipher } from '#/seal/content/content-cipher.ts';
import manifest from '../package.json' with { type: 'json' };
import { createAdminServer } from '#/telemetry/admin-server.ts';
import { loadCheckpointKeys } from '#/seal/checkpoints/checkpoint-keys.ts';
import { loadContentKeys } from '#/seal/content/content-keys.ts';
import { embeddedResources, newDevelopmentKey, SAMPLES_NAMESPACE } from '#/embedded/resources.ts';
import { startSandbox, type Sandbox } from '#/embedded/sandbox.ts';
import { buildGateway } from './gateway.ts';
import { bodyMemory } from '#/main/body-memory.ts';
import { openConfig } from '#/main/config.ts';
import { stopListening } from '#/main/stop-listening.ts';
import { openDocumentJobs } from '#/main/document-jobs.ts';
import { createKeyTrail } from '#/main/key-trail.ts';
import { openInference, type Inference } from '#/main/inference.ts';
import { openVendorLists } from '#/main/vendor-lists.ts';
import { openAnchors, openStores } from '#/main/stores.ts';
import { createObserver } from '#/telemetry/observer.ts';
import { openSnapshotFile } from '#/meter/pricing/price-snapshot-file.ts';
import { readSettings, type Settings } from '#/settings/gateway-settings.ts';
import { processEnvironment } from '#/settings/reader.ts';
import { BodyRoom } from '#/surfaces/body/body-room.ts';
import { OpenCalls } from '#/surfaces/open-calls.ts';

/** Partitions for the months to come, shorter running sums, no content that has expired. */
const MAINTENANCE_MS = 3_600_000;

/** The composition root: reads the environment, and constructs adapters with what is in `main/`. */

await startProgram(readSettings(processEnvironment()), run, startFailure);

async function run(settings: Settings, log: Log): Promise<void> {
  // What is written is for this user alone: keys, rows that wait, the files of the embedded database.
  process.umask(0o077);
  await mkdir(settings.dataDir, { recursive: true, mode: 0o700 });
  const observer = createObserver(log);
  let notReady = (): string | undefined => 'starting';
  const admin = createAdminServer({ metrics: () => observer.scrape(), notReady: () => notReady() });
  await listen(admin, settings.adminPort, settings.adminHost);
  const development = await startDevelopment(settings);
  const { source: config, close: closeConfig } = await openConfig(settings, {
    extra: development && (() => development.resources),
    onEvent: observer.onConfig,
  });
  const stores = await openStores(settings, log, observer);
  const { ledger, journal, counters, responseCache, retainedContent, keptObjects, credit } = stores;
  void ledger.countEarlierUsage().catch((error: unknown) => observer.onPipeline({ kind: 'ledger.fault', error }));
  const transport = createTransport(settings);
  const pool = createDetectionPool(settings.phoneRegions ? { phoneRegions: settings.phoneRegions } : {});
  const inference = openInference(settings, observer.onInference);
  const detection = withNames(
    pool,
    inference && createNameSearch(inference.models),
    () => inference?.knows('names') ?? false,
  );
  const local = inference && createLocalProvider({ ...inference, answers: (model) => answersFor(inference, model) });
  const providers = createProviders(transport, local);
  const lists = openVendorLists(settings, providers, () => config.current(), observer);
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
  const contentKeys = await loadContentKeys(settings.contentKeyFile);
  const pipeline = new Pipeline({
    counters,
    ledger,
    ...(journal && { journal }),
    credit,
    alertSink: settings.alertWebhook && createAlertWebhook(settings.alertWebhook),
    detection,
    detectors: new DetectorMarks({
      detection,
      build: manifest.version,
      names: () => inference?.revision('names'),
      onNew: (set) => observer.onPipeline({ kind: 'detectors.used', set }),
    }),
    prices,
    providers,
    ...(lists && { lists }),
    media,
    ...(inference && {
      documents: inference.engine,
      models: inference.models,
      router: createLocalRouter(inference.models, () => inference.has('router')),
    }),
    responseCache,
    retainedContent,
    keptObjects,
    cipher: createContentCipher(contentKeys),
    snapshot: () => config.current(),
    onEvent: observer.onPipeline,
  });
  const checkpointer = createCheckpointer({
    store: ledger,
    keys: await loadCheckpointKeys(settings.checkpointKeyFile),
    onFault: (error) => observer.onPipeline({ kind: 'checkpoint.fault', error }),
  });
  const anchors = openAnchors(settings, ledger, (error) => observer.onPipeline({ kind: 'anchor.fault', error }));
  await pipeline.start();
  checkpointer.start();
  anchors?.anchorer.start();
  const maintenance = setInterval(() => {
    ledger.maintain(Date.now()).catch((error: unknown) => observer.onPipeline({ kind: 'ledger.fault', error }));
    retainedContent.expire(Date.now()).catch((error: unknown) => observer.onPipeline({ kind: 'content.fault', error }));
    keptObjects.expire(Date.now()).catch((error: unknown) => observer.onPipeline({ kind: 'objects.fault', error }));
  }, MAINTENANCE_MS);
  maintenance.unref();
  const calls = new OpenCalls();
  const jobs = await openDocumentJobs({
    settings,
    database: stores.database,
    contentKeys,
    pipeline,
    ledger,
    config,
    calls,
    findable: () => detection.categories,
    onEnded: observer.onJob,
    onFault: (error) => observer.onPipeline({ kind: 'jobs.fault', error }),
  });
  const room = new BodyRoom(settings.bodyMemoryBytes ?? bodyMemory(), settings.bodyLimitBytes);
  const gateway = buildGateway({
    keys: config,
    providers,
    prices,
    ...(lists && { lists }),
    calls,
    pipeline,
    jobs: jobs.service,
    publicUrl: settings.publicUrl,
    onError: observer.onError,
    onStranger: createKeyTrail(log),
    authDelayMs: settings.authDelayMs,
    docsUrl: settings.docsUrl,
    bodyLimitBytes: settings.bodyLimitBytes,
    room,
  });
  observer.watch({
    pipeline,
    calls,
    room,
    jobs: jobs.runner,
    config,
    anchorer: anchors?.anchorer,
    prices: snapshot,
    lists,
    journal,
  });

  /**
   * Readiness off and clients sent away while they are still served, the door closed, open streams run on, rows and
   * settlements out, then the stores. // spec 6.1.5, ADR 0046
   */
  const shutDown = async (): Promise<void> => {
    if (calls.isLeaving) return;
    calls.isLeaving = true;
    jobs.runner.stop();
    log.info({ event: 'drain.leaving', open_calls: calls.size });
    await sleep(settings.leaveSeconds * 1000);
    stopListening(gateway.server);
    log.info({ event: 'drain.started', open_calls: calls.size });
    await calls.finish(settings.drainSeconds * 1000);
    const complete = await pipeline.drain(20_000);
    log.info({ event: 'drain.ended', complete });
    pipeline.stop();
    checkpointer.stop();
    await checkpointer.make();
    anchors?.anchorer.stop();
    admin.close();
    lists?.stop();
    snapshot?.close();
    const others = [{ close: closeConfig }, pool, transport, media, jobs, ...(anchors ? [anchors.store] : [])];
    await Promise.allSettled(others.map(async (one) => one.close()));
    await inference?.close();
    await stores.close();
    await development?.sandbox.stop();
    process.exit(complete ? 0 : 1);
  };
  // Before anybody is told that it listens: who hears of it may end it at once.
  process.on('SIGTERM', () => void shutDown());
  process.on('SIGINT', () => void shutDown());

  // Before anybody calls: policies that protect look for names where there is a model of them.
  await inference?.start();
  await gateway.listen({ host: settings.host, port: settings.port });
  notReady = () => (calls.isLeaving ? 'draining' : config.current() ? undefined : 'no valid configuration yet');
  announce(log, settings, addressOf(gateway.server), addressOf(admin), development?.key);
  if (inference) jobs.runner.start();
}

/** Whether one of the gateway's own models can answer now, as far as is known. */
function answersFor(inference: Inference, model: string): boolean {
  if (model === 'typed') return inference.has('typed');
  return model === 'typed/router' ? inference.has('router') : inference.answers();
}

interface Development {
  readonly key: string;
  readonly sandbox: Sandbox;
  readonly resources: ReturnType<typeof embeddedResources>;
}

/** The sandbox provider and a key for it: with the sample configuration, or where a key was asked for. */
async function startDevelopment(settings: Settings): Promise<Development | undefined> {
  if (settings.published) return undefined;
  if (settings.configDir !== undefined && settings.bootstrapKey === undefined) return undefined;
  const sandbox = await startSandbox();
  const key = settings.bootstrapKey ?? newDevelopmentKey();
  const namespace = settings.configDir === undefined ? SAMPLES_NAMESPACE : 'embedded';
  const resources = embeddedResources({ sandboxUrl: sandbox.url, key, vendorKeys: settings.vendorKeys, namespace });
  return { key, sandbox, resources };
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
