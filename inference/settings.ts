import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { unknownSettingFaults, type SettingName } from '#/config/setting-names.ts';
import { LOG_LEVELS } from '#/telemetry/log.ts';
import type { Device } from './decide/session.ts';

/** What the engine's process is told by its environment. */
export interface Settings {
  readonly host: string;
  /** 0: any free one, told on stdout. */
  readonly port: number;
  /** Jobs at a time, each in a thread of its own. */
  readonly workers: number;
  /** Jobs that may wait beside those that run. */
  readonly queueLength: number;
  /** Bytes of a document, and of its options. */
  readonly maxBytes: number;
  /** Milliseconds of a job from its start to its result. */
  readonly jobMs: number;
  /** Milliseconds of a job between two signs of progress, which a page is. */
  readonly stepMs: number;
  /** JavaScript heap of a thread. */
  readonly workerHeapMib: number;
  /** Where local models are, a folder each. */
  readonly modelsDir: string;
  /** What they run on; `cuda` wants the image that is built for it. */
  readonly device: Device;
  /** Questions to a model that may wait beside the one that runs. */
  readonly modelQueueLength: number;
  /** Milliseconds from a question to a model to its answer. */
  readonly answerMs: number;
  /** Memory of the process with all threads: at more, the job that started last is ended. */
  readonly maxRssMib: number;
  /** Jobs after which a thread is replaced. */
  readonly jobsPerWorker: number;
  /** How long accepted jobs are kept when the process is told to end. */
  readonly drainMs: number;
  /** It ends with the process that holds the other side of its stdin. */
  readonly child: boolean;
  readonly logLevel: string;
}

type Environment = Readonly<Record<string, string | undefined>>;

const MIB = 1024 * 1024;
const MODELS = fileURLToPath(new URL('./models', import.meta.url));

/** Reads and checks the environment; every fault at once, each naming its variable. */
export function readSettings(env: Environment): { settings: Settings } | { faults: readonly string[] } {
  const faults = [...unknownSettingFaults(env)];
  const text = (name: SettingName, fallback: string): string => env[name] || fallback;
  const whole = (name: SettingName, fallback: number, least: number, most: number): number => {
    const value = text(name, String(fallback));
    const number = /^\d{1,10}$/.test(value) ? Number(value) : Number.NaN;
    if (number >= least && number <= most) return number;
    faults.push(`${name} must be a whole number from ${least} to ${most}`);
    return fallback;
  };
  const child = text('GW_INFERENCE_CHILD', 'false');
  if (child !== 'true' && child !== 'false') faults.push('GW_INFERENCE_CHILD must be true or false');
  const device = text('GW_INFERENCE_DEVICE', 'cpu');
  if (device !== 'cpu' && device !== 'cuda') faults.push('GW_INFERENCE_DEVICE must be cpu or cuda');
  const logLevel = text('LOG_LEVEL', 'info');
  if (!LOG_LEVELS.includes(logLevel)) faults.push(`LOG_LEVEL must be one of ${LOG_LEVELS.join(', ')}`);
  const workers = whole('GW_INFERENCE_WORKERS', Math.max(1, Math.min(4, availableParallelism() - 1)), 1, 64);
  const settings: Settings = {
    host: text('HOST', '127.0.0.1'),
    port: whole('PORT', 8090, 0, 65_535),
    workers,
    queueLength: whole('GW_INFERENCE_QUEUE_LENGTH', 8, 0, 1000),
    maxBytes: whole('GW_INFERENCE_MAX_MIB', 64, 1, 512) * MIB,
    jobMs: whole('GW_INFERENCE_JOB_SECONDS', 1800, 1, 3600) * 1000,
    stepMs: whole('GW_INFERENCE_STEP_SECONDS', 45, 1, 3600) * 1000,
    workerHeapMib: whole('GW_INFERENCE_WORKER_HEAP_MIB', 1024, 64, 16_384),
    maxRssMib: whole('GW_INFERENCE_MAX_RSS_MIB', 1024 + workers * 1536, 256, 262_144),
    modelsDir: text('GW_MODELS_DIR', MODELS),
    device: device === 'cuda' ? 'cuda' : 'cpu',
    modelQueueLength: whole('GW_INFERENCE_MODEL_QUEUE_LENGTH', 32, 0, 10_000),
    answerMs: whole('GW_INFERENCE_ANSWER_SECONDS', 10, 1, 600) * 1000,
    jobsPerWorker: whole('GW_INFERENCE_JOBS_PER_WORKER', 200, 1, 1_000_000),
    drainMs: whole('GW_INFERENCE_DRAIN_SECONDS', 60, 0, 3600) * 1000,
    child: child === 'true',
    logLevel,
  };
  return faults.length > 0 ? { faults } : { settings };
}
