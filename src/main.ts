import { mkdir } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import { createAlertWebhook } from '#/adapters/webhook/alert-webhook.ts';
import type { ConfigSource } from '#/config/config-source.ts';
import { DetectorMarks } from '#/inspect/detector-marks.ts';
import { PinKeeper } from '#/dispatch/tools/pin-keeper.ts';
import { Pipeline } from '#/pipeline/pipeline.ts';
import { createLocalRouter } from '#/route/local-router.ts';
import type { Log } from '#/telemetry/log.ts';
import { createCheckpointer, type Checkpointer } from '#/seal/checkpoints/checkpointer.ts';
import { createContentCipher } from '#/seal/content/content-cipher.ts';
import type { MasterKey } from '#/config/master-keys.ts';
import { IMPLEMENTATION, VERSION } from './version.ts';
import { loadCheckpointKeys } from '#/seal/checkpoints/checkpoint-keys.ts';
import { loadContentKeys } from '#/seal/content/content-keys.ts';
import { embeddedResources, newDevelopmentKey, SAMPLES_NAMESPACE } from '#/embedded/resources.ts';
import type { Sandbox } from '#/embedded/sandbox.ts';
import { buildGateway } from './gateway.ts';
import { bodyMemory } from '#/main/body-memory.ts';
import { openCallTools, type CallTools } from '#/main/call-tools.ts';
import { openConfig } from '#/main/config.ts';
import { stopListening } from '#/main/stop-listening.ts';
import { openDocumentJobs, type DocumentJobs } from '#/main/document-jobs.ts';
import { addressOf, listenOptions, type Host } from '#/main/host.ts';
import { createKeyTrail } from '#/main/key-trail.ts';
import { releaseMemory } from '#/main/release-memory.ts';
import { openAnchors, openStores, type Stores } from '#/main/stores.ts';
import { createObserver, type Observer } from '#/telemetry/observe/observer.ts';
import type { Settings } from '#/settings/gateway-settings.ts';
import { BodyRoom } from '#/surfaces/body/body-room.ts';
import { OpenCalls } from '#/surfaces/endpoint/open-calls.ts';

/** Partitions for the months to come, shorter running sums, no content that has expired. */
const MAINTENANCE_MS = 3_600_000;
/** Requests for approval are shown a week after their end. */
const APPROVALS_KEPT_MS = 7 * 24 * 3_600_000;

/** The composition root: constructs adapters with the parts in `main/`. Rejects when the gateway cannot start. */
export async function run(settings: Settings, log: Log, host: Host): Promise<void> {
  // What is written is for this user alone: keys, rows that wait, the files of the embedded database.
  process.umask(0o077);
  await mkdir(settings.dataDir, { recursive: true, mode: 0o700 });
  const observer = createObserver(log);
  let notReady = (): string | undefined => 'starting';
  await host.show({ metrics: () => observer.scrape(), notReady: () => notReady() });
  const development = await startDevelopment(settings);
  const { source: config, close: closeConfig } = await openConfig(settings, {
    extra: development && (() => development.resources),
    onEvent: observer.onConfig,
  });
  const stores = await openStores(settings, log, observer);
  maintain(stores, observer);
  const tools = await openCallTools(settings, config, observer);
  const contentKeys = await loadContentKeys(settings.contentKeyFile);
  const pins = new PinKeeper({ store: stores.toolPins, onEvent: observer.onPipeline });
  const pipeline = createPipeline(settings, config, { ...stores, pins }, tools, contentKeys, observer);
  const { checkpointer, anchors } = await openCheckpoints(settings, stores, observer);
  await pipeline.start();
  checkpointer.start();
  anchors?.anchorer.start();
  const calls = new OpenCalls();
  const { ledger, database, journal } = stores;
  const jobs = await openDocumentJobs({
    settings,
    database,
    contentKeys,
    pipeline,
    ledger,
    config,
    calls,
    findable: () => tools.detection.categories,
    onEnded: observer.onJob,
    onFault: (error) => observer.onPipeline({ kind: 'jobs.fault', error }),
  });
  const room = new BodyRoom(settings.bodyMemoryBytes ?? bodyMemory(), settings.bodyLimitBytes);
  const gateway = createGateway(settings, log, observer, { config, tools, pipeline, calls, room, jobs });
  const { priceFile: prices, lists, inference } = tools;
  const anchorer = anchors?.anchorer;
  observer.watch({ pipeline, calls, room, jobs: jobs.runner, config, anchorer, prices, lists, journal, pins });
  const sandbox = development?.sandbox;
  const running = { host, gateway, calls, jobs, pipeline, checkpointer, anchors, tools, stores, closeConfig, sandbox };
  // Before anybody is told that it listens: who hears of it may end it at once.
  process.on('SIGTERM', () => void shutDown(settings, log, running));
  process.on('SIGINT', () => void shutDown(settings, log, running));
  // Before anybody calls: policies that protect look for names where there is a model of them.
  await inference?.start();
  // Before it listens: this takes a moment.
  releaseMemory();
  await gateway.listen(listenOptions(settings, host));
  notReady = () => (calls.isLeaving ? 'draining' : config.current() ? undefined : 'no valid configuration yet');
  host.announce(addressOf(gateway.server), development?.key);
  if (inference) jobs.runner.start();
}

function createPipeline(
  { alertWebhook }: Settings,
  config: ConfigSource,
  stores: Stores & { readonly pins: PinKeeper },
  { inference, lists, ...tools }: CallTools,
  contentKeys: readonly MasterKey[],
  { onPipeline }: Observer,
): Pipeline {
  const { counters, ledger, journal, credit, responseCache, retainedContent, keptObjects, pins, toolApprovals } =
    stores;
  const { neighbours } = stores;
  return new Pipeline({
    counters,
    ledger,
    ...(journal && { journal }),
    credit,
    alertSink: alertWebhook && createAlertWebhook(alertWebhook),
    detection: tools.detection,
    detectors: new DetectorMarks({
      detection: tools.detection,
      build: VERSION,
      ...(inference && { names: () => inference.revision('names') }),
      onNew: (set) => onPipeline({ kind: 'detectors.used', set }),
    }),
    prices: tools.prices,
    providers: tools.providers,
    ...(lists && { lists }),
    media: tools.media,
    mcpServers: tools.mcpServers,
    neighbours,
    ...(inference && {
      documents: inference.engine,
      models: inference.models,
      router: createLocalRouter(inference.models, () => inference.has('router')),
    }),
    responseCache,
    retainedContent,
    keptObjects,
    pins,
    toolApprovals,
    cipher: createContentCipher(contentKeys),
    snapshot: () => config.current(),
    onEvent: onPipeline,
  });
}

/** What signs the heads of all strands, and what copies the signatures elsewhere. */
async function openCheckpoints(settings: Settings, { ledger }: Stores, { onPipeline }: Observer) {
  const checkpointer = createCheckpointer({
    store: ledger,
    keys: await loadCheckpointKeys(settings.checkpointKeyFile),
    onFault: (error) => onPipeline({ kind: 'checkpoint.fault', error }),
  });
  const anchors = openAnchors(settings, ledger, (error) => onPipeline({ kind: 'anchor.fault', error }));
  return { checkpointer, anchors };
}

/** Counts what earlier builds did not, now, and keeps the stores in order each hour. */
function maintain({ ledger, retainedContent, keptObjects, toolApprovals }: Stores, { onPipeline }: Observer): void {
  const report = (kind: 'ledger.fault' | 'content.fault' | 'objects.fault' | 'approvals.fault') => (error: unknown) =>
    onPipeline({ kind, error });
  void ledger.countEarlierUsage().catch(report('ledger.fault'));
  const maintenance = setInterval(() => {
    ledger.maintain(Date.now()).catch(report('ledger.fault'));
    retainedContent.expire(Date.now()).catch(report('content.fault'));
    keptObjects.expire(Date.now()).catch(report('objects.fault'));
    toolApprovals.expire(Date.now() - APPROVALS_KEPT_MS).catch(report('approvals.fault'));
  }, MAINTENANCE_MS);
  maintenance.unref();
}

interface ServedBy {
  readonly config: ConfigSource;
  readonly tools: CallTools;
  readonly pipeline: Pipeline;
  readonly calls: OpenCalls;
  readonly room: BodyRoom;
  readonly jobs: DocumentJobs;
}

function createGateway(settings: Settings, log: Log, { onError }: Observer, by: ServedBy): FastifyInstance {
  const { config, tools, pipeline, calls, room, jobs } = by;
  const { providers, prices, lists, tokenChecker: checker } = tools;
  const { publicUrl, authDelayMs, docsUrl, bodyLimitBytes, mcpOrigins } = settings;
  return buildGateway({
    keys: config,
    providers,
    prices,
    ...(lists && { lists }),
    calls,
    pipeline,
    jobs: jobs.service,
    publicUrl,
    onError,
    onStranger: createKeyTrail(log),
    authDelayMs,
    docsUrl,
    bodyLimitBytes,
    mcpOrigins: mcpOrigins ?? [],
    implementation: IMPLEMENTATION,
    ...(checker && publicUrl !== undefined && { access: { checker, publicUrl } }),
    room,
  });
}

interface Running {
  readonly host: Host;
  readonly gateway: FastifyInstance;
  readonly calls: OpenCalls;
  readonly jobs: DocumentJobs;
  readonly pipeline: Pipeline;
  readonly checkpointer: Checkpointer;
  readonly anchors: ReturnType<typeof openAnchors>;
  readonly tools: CallTools;
  readonly stores: Stores;
  readonly closeConfig: () => Promise<void>;
  readonly sandbox: Sandbox | undefined;
}

/**
 * Readiness off and clients sent away while they are still served, the door closed, open streams run on, rows and
 * settlements out, then the stores. // spec 6.1.5, ADR 0046
 */
async function shutDown(settings: Settings, log: Log, running: Running): Promise<void> {
  const { calls, jobs, gateway, pipeline, checkpointer, anchors, tools, stores } = running;
  if (calls.isLeaving) return;
  calls.leave();
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
  running.host.close();
  tools.stop();
  const others = [{ close: running.closeConfig }, tools, jobs, ...(anchors ? [anchors.store] : [])];
  await Promise.allSettled(others.map(async (one) => one.close()));
  await tools.inference?.close();
  await stores.close();
  await running.sandbox?.stop();
  process.exit(complete ? 0 : 1);
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
  // The stand-in is large, and few need it.
  const { startSandbox } = await import('#/embedded/sandbox.ts');
  const sandbox = await startSandbox();
  const key = settings.bootstrapKey ?? newDevelopmentKey();
  const namespace = settings.configDir === undefined ? SAMPLES_NAMESPACE : 'embedded';
  const resources = embeddedResources({ sandboxUrl: sandbox.url, key, vendorKeys: settings.vendorKeys, namespace });
  return { key, sandbox, resources };
}
