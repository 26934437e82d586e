import { documentError } from '#/errors/document-error.ts';
import { GatewayError } from '#/errors/gateway-error.ts';
import { categoriesOf } from '#/inspect/entities.ts';
import { refuseUnguarded } from '#/inspect/scope/scope-guard.ts';
import type { Job, JobBook, JobBounds, JobFiles } from '#/ports/document-jobs.ts';
import { engineOff } from '#/ports/documents.ts';
import type { AddressSigner, SignedAddress } from '#/seal/content/signed-address.ts';
import { refuseBeforeReading } from '../admit.ts';
import type { CallContext } from '#/call/call.ts';
import type { AnonymizeRequest } from '../anonymize.ts';
import type { JobOutcome, JobStorage } from './job-storage.ts';

export interface JobServiceDeps {
  readonly book: JobBook;
  readonly files: JobFiles;
  readonly storage: JobStorage;
  readonly signer: AddressSigner;
  /** False where documents are not processed. */
  readonly accepts: boolean;
  /** Kinds of personal data that can be found, in capitals. */
  readonly findable: () => ReadonlySet<string>;
  readonly bounds: JobBounds;
  /** How long the address of a result holds. */
  readonly addressMs: number;
  /** There is a job to work on. */
  readonly onQueued: () => void;
  /** There is a result to remove. */
  readonly onGivenUp: () => void;
}

/** A job as its workload sees it. */
export interface JobView extends Pick<
  Job,
  'id' | 'state' | 'cancelling' | 'progress' | 'error' | 'createdAt' | 'expiresAt'
> {
  readonly result: { readonly outcome: JobOutcome; readonly address: SignedAddress } | undefined;
}

/** A document without personal data, as it is handed out. */
export interface JobResult {
  readonly bytes: Buffer;
  readonly filename: string;
  readonly mediaType: string;
}

/** Where jobs are handed in, asked about, cancelled and fetched. A job is there for the keys of its workload alone. */
export interface JobService {
  /** Throws a refusal; after that, the job's own row records the outcome of the call. */
  submit(request: AnonymizeRequest): Promise<Pick<JobView, 'id' | 'state'>>;
  /** Throws `not_found`. */
  find(id: string, caller: Pick<CallContext, 'key'>): Promise<JobView>;
  /** Throws `not_found`. */
  cancel(id: string, caller: Pick<CallContext, 'key'>): Promise<JobView>;
  /** Returns a result to any caller with its address. Throws `not_found` for every fault. */
  fetch(address: SignedAddress): Promise<JobResult>;
}

const RETRY_AFTER_MS = 30_000;
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

export function createJobService(deps: JobServiceDeps): JobService {
  const owned = async (id: string, { key }: Pick<CallContext, 'key'>, verb: 'find' | 'cancel'): Promise<Job> => {
    const found = UUID.test(id) ? await deps.book.find(id) : undefined;
    const { workload } = key;
    if (!found || found.workload !== workload.id || found.organization !== workload.organization.id) throw unknown();
    return verb === 'find' ? found : ((await deps.book.cancel(id)) ?? found);
  };
  return {
    submit: (request) => submit(request, deps),
    find: async (id, caller) => viewOf(await owned(id, caller, 'find'), deps),
    async cancel(id, caller) {
      const job = await owned(id, caller, 'cancel');
      if (job.state === 'expired') deps.onGivenUp();
      else deps.onQueued();
      return viewOf(job, deps);
    },
    fetch: (address) => fetchResult(address, deps),
  };
}

async function submit(request: AnonymizeRequest, deps: JobServiceDeps): Promise<Pick<JobView, 'id' | 'state'>> {
  refuseBeforeReading(request);
  if (!deps.accepts) throw documentError(engineOff());
  refuseUnguarded(request.key.workload.policy);
  const upload = await request.upload();
  categoriesOf(upload.options.entities, deps.findable(), 'options.entities');
  const { id, startedAt, key } = request;
  const { workload } = key;
  const job = { id, organization: workload.organization.id };
  const encrypted = deps.storage.encryptFile(job, 'input', upload.file.bytes);
  const order = deps.storage.encryptOrder(job, upload);
  const entered = await deps.book.enter(
    { ...job, workload: workload.id, key: key.id, createdAt: startedAt, order, inputBytes: encrypted.length },
    deps.bounds,
  );
  if (entered === 'too_many') {
    const message = `An organization may have at most ${deps.bounds.waiting} waiting jobs. Try again later.`;
    throw new GatewayError('rate_limit_exceeded', message, { retryAfterMs: RETRY_AFTER_MS });
  }
  if (entered === 'no_room') {
    const message = 'The storage for documents and results is full. Try again later.';
    throw new GatewayError('upstream_overloaded', message, { retryAfterMs: RETRY_AFTER_MS, shouldRetry: true });
  }
  await deps.files.put({ job: id, part: 'input' }, encrypted);
  // A client that has gone does not know of its job.
  request.signal.throwIfAborted();
  await deps.book.queue(id);
  deps.onQueued();
  return { id, state: 'queued' };
}

function viewOf(job: Job, { storage, signer, addressMs }: JobServiceDeps): JobView {
  const now = Date.now();
  const { id, cancelling, progress, error, createdAt, expiresAt } = job;
  const state = job.state === 'succeeded' && (expiresAt ?? 0) <= now ? 'expired' : job.state;
  const outcome = state === 'succeeded' ? storage.decryptOutcome(job) : undefined;
  const until = Math.min(now + addressMs, expiresAt ?? 0);
  const result = outcome && { outcome, address: signer.sign(id, until) };
  return { id, state, cancelling, progress, error, createdAt, expiresAt, result };
}

async function fetchResult(address: SignedAddress, deps: JobServiceDeps): Promise<JobResult> {
  if (!deps.signer.holds(address, Date.now())) throw unknown();
  const job = await deps.book.find(address.id);
  if (job?.state !== 'succeeded' || (job.expiresAt ?? 0) <= Date.now()) throw unknown();
  const outcome = deps.storage.decryptOutcome(job);
  const encrypted = await deps.files.get({ job: job.id, part: 'result' });
  const bytes = encrypted && deps.storage.decryptFile(job, 'result', encrypted);
  if (!outcome || !bytes) throw unknown();
  return { bytes, filename: outcome.filename, mediaType: outcome.mediaType };
}

function unknown(): GatewayError {
  return new GatewayError('not_found', 'Job not found, or its result has expired.');
}
