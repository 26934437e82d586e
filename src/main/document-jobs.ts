import type { Pool } from 'pg';
import { openDiskJobFiles } from '#/adapters/disk/job-files.ts';
import { openPostgresJobs } from '#/adapters/postgres/document-jobs.ts';
import { openS3JobFiles } from '#/adapters/s3/job-files.ts';
import type { ConfigSource } from '#/config/config-source.ts';
import type { Pipeline } from '#/pipeline/pipeline.ts';
import { createJobService, type JobService } from '#/pipeline/jobs/job-service.ts';
import { JobStorage } from '#/pipeline/jobs/job-storage.ts';
import type { JobEnded } from '#/pipeline/jobs/job-run.ts';
import { createJobRunner, type JobRunner } from '#/pipeline/jobs/job-runner.ts';
import type { JobFiles } from '#/ports/document-jobs.ts';
import type { Ledger } from '#/ports/ledger.ts';
import { createContentCipher } from '#/seal/content/content-cipher.ts';
import type { MasterKey } from '#/config/master-keys.ts';
import { createAddressSigner } from '#/seal/content/signed-address.ts';
import type { OpenCalls } from '#/surfaces/endpoint/open-calls.ts';
import type { Settings } from '#/settings/gateway-settings.ts';

export interface DocumentJobsDeps {
  readonly settings: Settings;
  readonly database: Pool;
  readonly contentKeys: readonly MasterKey[];
  readonly pipeline: Pipeline;
  readonly ledger: Ledger;
  readonly config: Pick<ConfigSource, 'current' | 'readable'>;
  readonly calls: OpenCalls;
  readonly findable: () => ReadonlySet<string>;
  readonly onEnded: (ended: JobEnded) => void;
  readonly onFault: (error: unknown) => void;
}

/** Jobs on documents, as this process takes part in them. */
export interface DocumentJobs {
  readonly service: JobService;
  /** Works on jobs; where documents are not processed it is not started. */
  readonly runner: JobRunner;
  close(): Promise<void>;
}

const HOUR_MS = 3_600_000;

/** Opens the stores of jobs. Rejects when the database cannot be reached. */
export async function openDocumentJobs(deps: DocumentJobsDeps): Promise<DocumentJobs> {
  const { pipeline, ledger, config, calls, findable, onEnded, onFault } = deps;
  const { jobs, inference } = deps.settings;
  const store = await openPostgresJobs({ shared: deps.database });
  const elsewhere = await openFiles(jobs.files);
  const files = elsewhere ?? store.files;
  const storage = new JobStorage(createContentCipher(deps.contentKeys));
  const runner = createJobRunner({
    book: store.book,
    queue: store.queue,
    files,
    storage,
    pipeline,
    ledger,
    snapshot: () => config.current(),
    readable: () => config.readable(),
    keptMs: jobs.resultHours * HOUR_MS,
    atOnce: jobs.atOnce,
    open: (stop) => calls.add(stop),
    onEnded,
    onFault,
  });
  const service = createJobService({
    book: store.book,
    files,
    storage,
    signer: createAddressSigner(deps.contentKeys, 'job result'),
    accepts: inference !== 'off',
    findable,
    bounds: jobs,
    addressMs: jobs.addressSeconds * 1000,
    onQueued: () => runner.poke(),
    onGivenUp: () => runner.tidy(),
  });
  return {
    service,
    runner,
    async close() {
      await elsewhere?.close();
      await store.close();
    },
  };
}

async function openFiles(
  place: Settings['jobs']['files'],
): Promise<(JobFiles & { close(): Promise<void> | void }) | undefined> {
  if (place === 'database') return undefined;
  if ('bucket' in place) return openS3JobFiles(place.bucket);
  return { ...(await openDiskJobFiles(place.folder)), close: () => {} };
}
