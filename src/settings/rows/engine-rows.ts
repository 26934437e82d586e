import { ANY, FLAG, mebibytes, secondsAsMs, whole, words } from './forms.ts';
import type { SettingRows } from './setting.ts';

/** Settings that the document engine alone reads. */
export const ENGINE_ROWS = {
  GW_INFERENCE_ANSWER_SECONDS: {
    form: secondsAsMs(1, 600),
    readers: ['engine'],
    as: 'answerMs',
    default: '10',
    meaning: 'Seconds from a question to a local model to its answer, including the wait.',
  },
  GW_INFERENCE_CHILD: {
    form: FLAG,
    readers: ['engine'],
    as: 'child',
    default: 'false',
    meaning:
      '`true`: the engine ends with the process that holds its stdin. A gateway sets it for the engine it starts.',
  },
  GW_INFERENCE_DEVICE: {
    form: words('cpu', 'cuda'),
    readers: ['engine'],
    as: 'device',
    default: 'cpu',
    meaning: 'What local models run on. `cuda` needs an image that is built for it.',
  },
  GW_INFERENCE_DRAIN_SECONDS: {
    form: secondsAsMs(0, 3600),
    readers: ['engine'],
    as: 'drainMs',
    default: '60',
    meaning: 'Seconds that accepted jobs may still take after SIGTERM.',
  },
  GW_INFERENCE_JOBS_PER_WORKER: {
    form: whole(1, 1_000_000),
    readers: ['engine'],
    as: 'jobsPerWorker',
    default: '200',
    meaning: 'Jobs after which a worker thread is replaced.',
  },
  GW_INFERENCE_JOB_SECONDS: {
    form: secondsAsMs(1, 3600),
    readers: ['engine'],
    as: 'jobMs',
    default: '1800',
    meaning: 'Longest time of a job, in seconds.',
  },
  GW_INFERENCE_MAX_MIB: {
    form: mebibytes(1, 512),
    readers: ['engine'],
    as: 'maxBytes',
    default: '64',
    meaning: 'Largest document, and largest options of a document, in MiB.',
  },
  GW_INFERENCE_MAX_RSS_MIB: {
    form: whole(256, 262_144),
    readers: ['engine'],
    unset: '1024, and 1536 more for each worker',
    chart: { values: { engine: 'inference.maxRssMiB' }, default: '4096' },
    meaning:
      'Memory of the engine with all its threads, in MiB. Beyond it the engine ends the job that started last. In the chart, at most the memory limit.',
  },
  GW_INFERENCE_MODEL_QUEUE_LENGTH: {
    form: whole(0, 10_000),
    readers: ['engine'],
    as: 'modelQueueLength',
    default: '32',
    meaning: 'Questions to a local model that may wait. Beyond it the engine answers 503 with `Retry-After: 2`.',
  },
  GW_INFERENCE_QUEUE_LENGTH: {
    form: whole(0, 1000),
    readers: ['engine'],
    as: 'queueLength',
    default: '8',
    meaning: 'Jobs that may wait, with their bodies in memory. Beyond it the engine answers 503 with `Retry-After: 2`.',
  },
  GW_INFERENCE_STEP_SECONDS: {
    form: secondsAsMs(1, 3600),
    readers: ['engine'],
    as: 'stepMs',
    default: '45',
    meaning: 'Longest time of a job between two signs of progress, such as a page, in seconds.',
  },
  GW_INFERENCE_WORKERS: {
    form: whole(1, 64),
    readers: ['engine'],
    unset: 'one less than there are processors, 1 to 4',
    chart: { values: { engine: 'inference.workers' }, default: '2' },
    meaning: 'Jobs that run at the same time, each in a thread of its own.',
  },
  GW_INFERENCE_WORKER_HEAP_MIB: {
    form: whole(64, 16_384),
    readers: ['engine'],
    as: 'workerHeapMib',
    default: '1024',
    meaning: 'JavaScript heap of a worker thread, in MiB.',
  },
  GW_MODELS_DIR: {
    form: ANY,
    readers: ['engine'],
    unset: '`inference/models`',
    chart: 'own',
    meaning: 'Folder of local models, with a folder for each. A gateway hands it to the engine it starts.',
  },
} as const satisfies SettingRows;
