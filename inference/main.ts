import { join } from 'node:path';
import type { Log } from '#/telemetry/log.ts';
import { startProgram } from '#/telemetry/start-program.ts';
import { openModelHost } from './decide/model-host.ts';
import { createModelMetrics } from './decide/model-metrics.ts';
import type { ModelKind } from './decide/manifest.ts';
import { createHealth } from './health.ts';
import { createJobMetrics } from './job-metrics.ts';
import { faultyLanguages, smallLanguages } from './ocr/language-data.ts';
import { JobQueue } from './jobs/queue.ts';
import { buildServer } from './server.ts';
import { processEnvironment } from '#/settings/reader.ts';
import { readSettings, type Settings } from './settings.ts';
import { openWorkerPool } from './jobs/worker-pool.ts';

/** Entry point of the document engine. The first line on stdout tells its address as JSON: `{"event", "url"}`. */

const MIB = 1024 * 1024;
/** How long a cancelled job may take to notice. */
const GRACE_MS = 2000;

/** Each has a folder of its kind, or is not there. The scope guard asks the model of typed decisions in a thread of its own. */
const MODELS: readonly { readonly kind: ModelKind; readonly name?: string; readonly isLate?: boolean }[] = [
  { kind: 'names' },
  { kind: 'router' },
  { kind: 'typed' },
  { kind: 'typed', name: 'guard', isLate: true },
];

await startProgram(readSettings(processEnvironment()), run);

async function run(settings: Settings, log: Log): Promise<void> {
  const queue = new JobQueue({ slots: settings.workers, length: settings.queueLength });
  const metrics = createJobMetrics(queue);
  const pool = openWorkerPool({
    workers: settings.workers,
    limits: { jobMs: settings.jobMs, stepMs: settings.stepMs, heapMib: settings.workerHeapMib, graceMs: GRACE_MS },
    tasksPerThread: settings.jobsPerWorker,
    maxRssBytes: settings.maxRssMib * MIB,
    onKill(reason) {
      metrics.killed(reason);
      log.warn({ event: 'worker.killed', reason });
    },
  });
  const models = MODELS.map(({ kind, name = kind, isLate = false }) =>
    openModelHost({
      kind,
      name,
      isLate,
      folder: join(settings.modelsDir, kind),
      device: settings.device,
      queueLength: settings.modelQueueLength,
      answerMs: settings.answerMs,
      onState: (fault) => log.info({ event: 'model.state', model: name, fault: fault ?? 'none' }),
    }),
  );
  const modelMetrics = createModelMetrics(models);
  const health = createHealth(queue, pool, faultyLanguages);
  const server = buildServer({ queue, pool, health, metrics, models, modelMetrics, log, maxBytes: settings.maxBytes });
  const url = await server.listen({ host: settings.host, port: settings.port });
  process.stdout.write(`${JSON.stringify({ event: 'inference.listening', url })}\n`);
  void health.start().then(() => log.info({ event: 'inference.ready', small_nets: smallLanguages() }));

  let draining = false;
  /** No new connections; jobs that were accepted are done, as long as there is time. */
  const shutDown = async (patienceMs: number): Promise<void> => {
    if (draining) return;
    draining = true;
    health.drain();
    const late = setTimeout(() => process.exit(1), patienceMs);
    await server.close();
    await Promise.all([pool.close(), ...models.map((model) => model.close())]);
    clearTimeout(late);
    process.exit(0);
  };
  process.on('SIGTERM', () => void shutDown(settings.drainMs));
  process.on('SIGINT', () => void shutDown(settings.drainMs));
  if (!settings.child) return;
  process.stdin
    .on('end', () => process.exit(0))
    .on('error', () => process.exit(0))
    .resume();
}
