import { setTimeout as sleep } from 'node:timers/promises';
import type { Snapshot, VirtualKeyConfig } from '#/config/snapshot.ts';
import type { ErrorCode } from '#/errors/catalogue.ts';
import { GatewayError } from '#/errors/gateway-error.ts';
import type { JobEnd, JobFiles, JobNews, JobProgress, JobQueue, TakenJob } from '#/ports/document-jobs.ts';
import type { Ledger } from '#/ports/ledger.ts';
import type { AuditRow } from '#/seal/row.ts';
import { ClientHungUp, ServerRestarting } from '#/call/call.ts';
import type { Pipeline } from '../pipeline.ts';
import { MODEL_ID, type AnonymizedDocument, type Upload } from '../anonymize.ts';
import type { JobStorage } from './job-storage.ts';

export interface JobRunDeps {
  readonly queue: JobQueue;
  readonly files: JobFiles;
  readonly storage: JobStorage;
  readonly pipeline: Pick<Pipeline, 'anonymize' | 'close'>;
  readonly ledger: Pick<Ledger, 'find'>;
  readonly snapshot: () => Snapshot | undefined;
  /** False while keys may exist that could not be read. */
  readonly readable: () => boolean;
  /** How long a result is kept. */
  readonly keptMs: number;
  readonly onEnded: (ended: JobEnded) => void;
}

/** Report on a job that this process released; `queued`: it will be resumed. */
export interface JobEnded {
  readonly state: JobEnd['state'];
  /** Why it failed. */
  readonly code: string | undefined;
  /** That were billed. */
  readonly pages: number;
  /** From when it was handed in until it was taken up this time, and from then on. */
  readonly waitedMs: number;
  readonly workedMs: number;
}

/** How a job ends, and what of it was billed. */
interface Ending {
  readonly end: JobEnd;
  readonly pages: number;
}

/** Another process has the job. */
class LeaseLost extends Error {
  override readonly name = 'LeaseLost';
}

/** Not heard of for as long, a process has left its jobs. */
export const LEASE_MS = 20_000;
const KEEP_MS = 3000;
/** How long page counts may wait to be reported together. */
const NOTE_MS = 1000;
/** The engine has its own bounds, which are closer. */
const WORK_MS = 1_800_000;
/** Taken up no more often; where those who worked on it were not heard of again, once more at most. */
export const MOST_TAKES = 5;
const MOST_AGE_MS = 24 * 3_600_000;
/** Taken up again after as long; four times as long after each time. */
const FIRST_WAIT_MS = 2000;
const LONGEST_WAIT_MS = 300_000;
const ROW_WAIT_MS = 30_000;
const ROW_LOOK_MS = 100;

/** Nothing was done, and the document has no part in it: tried again as long as the job may live. */
const NOT_THE_JOBS: ReadonlySet<ErrorCode> = new Set([
  'upstream_overloaded',
  'rate_limit_exceeded',
  'limits_unavailable',
  'ledger_unavailable',
  'auth_unavailable',
  'server_restarting',
]);
/** May pass, or may be what the document does to those who read it: tried again some times. */
const MAY_PASS: ReadonlySet<ErrorCode> = new Set([
  'document_engine_unavailable',
  'inspection_unavailable',
  'internal_error',
]);

/**
 * Brings a resumed or new job to its end, or to a point where it can be resumed. Its row in the ledger decides the
 * outcome, no matter which gateway wrote it: there is one row, so it is billed once, and a result is given out only with
 * a row that says so.
 */
export async function runJob(job: TakenJob, stop: AbortController, deps: JobRunDeps): Promise<void> {
  const takenAt = Date.now();
  try {
    const ending = (job.takes > 1 ? await endInLedger(job, 0, deps) : undefined) ?? (await workOn(job, stop, deps));
    if (await deps.queue.end(job, ending.end)) deps.onEnded(endedOf(job, ending, takenAt));
  } catch (thrown) {
    if (thrown instanceof LeaseLost) return;
    // A fault of a store: whatever was written is found again.
    await deps.queue.end(job, again(job, true).end).catch(() => {});
    throw thrown;
  }
}

function endedOf({ createdAt }: TakenJob, { end, pages }: Ending, takenAt: number): JobEnded {
  const code = end.state === 'failed' ? end.error.code : undefined;
  return { state: end.state, code, pages, waitedMs: takenAt - createdAt, workedMs: Date.now() - takenAt };
}

async function workOn(job: TakenJob, stop: AbortController, deps: JobRunDeps): Promise<Ending> {
  const snapshot = deps.snapshot();
  if (!snapshot) return again(job, false);
  const key = keyOf(job, snapshot);
  if (!key && !deps.readable()) return again(job, false);
  const refusal = job.cancelled ? undefined : refusalOf(job, key);
  if (job.cancelled || refusal || !key) return close(job, snapshot, refusal, deps);
  const upload = await uploadOf(job, deps);
  if (!upload) {
    const lost = new GatewayError('internal_error', 'The document is no longer available. Submit it again.');
    return close(job, snapshot, lost, deps);
  }
  using watch = new Watch(job, stop, deps.queue);
  const failure = await walk(job, upload, { key, snapshot }, watch, deps);
  if (stop.signal.reason instanceof LeaseLost) throw stop.signal.reason;
  if (failure && goesOn(failure, job, stop.signal)) return again(job, !NOT_THE_JOBS.has(failure.code), failure);
  return (await endInLedger(job, ROW_WAIT_MS, deps)) ?? again(job, false);
}

/** Through the pipeline, as a document whose client waits; resolves with why it failed, if it did. */
async function walk(
  job: TakenJob,
  upload: Upload,
  caller: { readonly key: VirtualKeyConfig; readonly snapshot: Snapshot },
  watch: Watch,
  { pipeline, files, storage }: JobRunDeps,
): Promise<GatewayError | undefined> {
  const { signal } = watch;
  const keep = async ({ bytes, ...document }: AnonymizedDocument): Promise<void> => {
    await watch.tell();
    signal.throwIfAborted();
    const encrypted = storage.encryptFile(job, 'result', bytes);
    await files.put({ job: job.id, part: 'result' }, encrypted);
    await watch.tell({ result: { outcome: storage.encryptOutcome(job, document), bytes: encrypted.length } });
    signal.throwIfAborted();
  };
  try {
    await pipeline.anonymize({
      id: job.id,
      startedAt: job.createdAt,
      ...caller,
      surface: 'documents',
      headers: {},
      signal,
      upload: () => Promise.resolve(upload),
      lasting: {
        timeoutMs: WORK_MS,
        onProgress: (progress) => watch.note(progress),
        keep,
        goesOn: (error) => goesOn(error, job, signal),
      },
    });
    return undefined;
  } catch (thrown) {
    if (thrown instanceof GatewayError) return thrown;
    throw thrown;
  }
}

/** Whether it will be tried again. A process that lost the job has no say. */
function goesOn({ code }: GatewayError, { takes }: TakenJob, { reason }: AbortSignal): boolean {
  if (reason instanceof LeaseLost || reason instanceof ServerRestarting) return true;
  if (reason instanceof ClientHungUp) return false;
  return NOT_THE_JOBS.has(code) || (MAY_PASS.has(code) && takes < MOST_TAKES);
}

function again({ takes }: TakenJob, counted: boolean, error?: GatewayError): Ending {
  const wait = error?.code === 'server_restarting' ? 0 : Math.min(FIRST_WAIT_MS * 4 ** (takes - 1), LONGEST_WAIT_MS);
  const inMs = Math.max(wait, error?.retryAfterMs ?? 0);
  return { end: { state: 'queued', inMs, counted }, pages: 0 };
}

/** The end in the row that exists, or comes within a while; undefined: there is no row. */
async function endInLedger(job: TakenJob, waitMs: number, { ledger, keptMs }: JobRunDeps): Promise<Ending | undefined> {
  for (let waited = 0; ; waited += ROW_LOOK_MS) {
    const [sealed] = await ledger.find([job.id]);
    if (sealed) return endOf(JSON.parse(sealed.row) as AuditRow, keptMs);
    if (waited >= waitMs) return undefined;
    await sleep(ROW_LOOK_MS);
  }
}

function endOf({ outcome, code, reason, units }: AuditRow, keptMs: number): Ending {
  if (outcome === 'served')
    return { end: { state: 'succeeded', keptMs }, pages: (units?.pages ?? 0) + (units?.images ?? 0) };
  if (outcome === 'hung_up') return { end: { state: 'cancelled' }, pages: 0 };
  const error = { code: code ?? 'internal_error', message: reason ?? 'The job was cancelled.' };
  return { end: { state: 'failed', error }, pages: 0 };
}

/** Seals a job that no process works on. */
async function close(
  job: TakenJob,
  snapshot: Snapshot,
  error: GatewayError | undefined,
  deps: JobRunDeps,
): Promise<Ending> {
  const { id, createdAt: startedAt, organization, workload, key } = job;
  const mode = snapshot.workloads.get(workload)?.policy.dlp.mode ?? 'none';
  const call = { id, startedAt, organization, workload, key, error, mode };
  deps.pipeline.close({ ...call, surface: 'documents', model: MODEL_ID, revision: snapshot.revision });
  return (await endInLedger(job, ROW_WAIT_MS, deps)) ?? again(job, false);
}

/** The key that handed it in, as it is now. */
function keyOf({ key, workload }: TakenJob, { keysById }: Snapshot): VirtualKeyConfig | undefined {
  const known = keysById.get(key);
  return known?.workload.id === workload ? known : undefined;
}

function refusalOf({ takes, createdAt }: TakenJob, key: VirtualKeyConfig | undefined): GatewayError | undefined {
  if (!key || key.revoked || (key.expiresAt !== undefined && key.expiresAt <= Date.now()))
    return new GatewayError('invalid_api_key', 'The API key that submitted the job is no longer valid.');
  if (takes > MOST_TAKES)
    return new GatewayError(
      'document_engine_unavailable',
      'Processing of the document failed repeatedly. Split it and submit it again.',
    );
  if (Date.now() - createdAt > MOST_AGE_MS)
    return new GatewayError('upstream_timeout', 'The job was not completed within a day.');
  return undefined;
}

async function uploadOf(job: TakenJob, { storage, files }: JobRunDeps): Promise<Upload | undefined> {
  const order = storage.decryptOrder(job);
  const encrypted = order && (await files.get({ job: job.id, part: 'input' }));
  const bytes = encrypted && storage.decryptFile(job, 'input', encrypted);
  return order && bytes && { file: { ...order.file, bytes }, options: order.options };
}

/** Keeps the lease during the work, and ends the work when the job is cancelled or lost. */
class Watch implements Disposable {
  readonly #job: TakenJob;
  readonly #stop: AbortController;
  readonly #queue: JobQueue;
  readonly #timer: NodeJS.Timeout;
  #keptAt = performance.now();
  #progress: JobProgress | undefined;
  #noted: NodeJS.Timeout | undefined;

  constructor(job: TakenJob, stop: AbortController, queue: JobQueue) {
    this.#job = job;
    this.#stop = stop;
    this.#queue = queue;
    this.#timer = setInterval(() => {
      this.tell().catch(() => {
        if (performance.now() - this.#keptAt > LEASE_MS) stop.abort(new LeaseLost());
      });
    }, KEEP_MS);
  }

  get signal(): AbortSignal {
    return this.#stop.signal;
  }

  /** Reports within a second, or together with the next report. */
  note(progress: JobProgress): void {
    this.#progress = progress;
    this.#noted ??= setTimeout(() => {
      this.#noted = undefined;
      this.tell().catch(() => {});
    }, NOTE_MS);
  }

  /** Rejects when the store cannot be reached. */
  async tell(news: Pick<JobNews, 'result'> = {}): Promise<void> {
    const at = performance.now();
    const progress = this.#progress;
    const state = await this.#queue.keep(this.#job, LEASE_MS, { ...news, ...(progress && { progress }) });
    if (state === 'cancelled') this.#stop.abort(new ClientHungUp());
    else if (state === 'lost') this.#stop.abort(new LeaseLost());
    else this.#keptAt = at;
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
    clearTimeout(this.#noted);
  }
}
