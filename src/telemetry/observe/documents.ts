import type { JobEnded } from '#/pipeline/jobs/job-run.ts';
import type { JobRunner } from '#/pipeline/jobs/job-runner.ts';
import type { DocumentEngine, DocumentFaultKind } from '#/ports/documents.ts';
import type { ModelFaultKind, ModelKind } from '#/ports/local-models.ts';
import type { Log } from '#/telemetry/log.ts';
import { counter, gauge, type Metrics } from '#/telemetry/metrics.ts';

/** What the document engine can be asked. */
export type DocumentVerb = Exclude<keyof DocumentEngine, 'ping'>;

/** Facts of the document engine; never content. */
export type DocumentsEvent =
  | { readonly kind: 'documents.asked'; readonly verb: DocumentVerb }
  | { readonly kind: 'documents.fault'; readonly verb: DocumentVerb; readonly fault: DocumentFaultKind }
  | { readonly kind: 'documents.engine_died'; readonly code: number | null; readonly signal: string | null };

/** Facts of local models; never content. */
export interface ModelsEvent {
  readonly kind: 'models.fault';
  /** `guard`: the model of typed decisions, as the scope guard asks it. */
  readonly model: ModelKind | 'guard';
  readonly fault: ModelFaultKind;
}

export const DOCUMENT_METRICS = {
  asked: counter('gw_document_requests_total', 'Requests to the document engine, by verb.', 'verb'),
  faults: counter(
    'gw_document_faults_total',
    'Documents that could not be processed, by verb and fault.',
    'verb',
    'fault',
  ),
  deaths: counter('gw_document_engine_deaths_total', 'Unexpected ends of the document engine.'),
  modelFaults: counter(
    'gw_model_faults_total',
    'Questions to local models that were not answered, by model and fault.',
    'model',
    'fault',
  ),
  jobs: counter(
    'gw_document_jobs_total',
    'Jobs that this gateway stopped working on, by state and error code. `queued`: the job will be tried again.',
    'state',
    'code',
  ),
  jobPages: counter('gw_document_job_pages_total', 'Pages and pictures of jobs that succeeded.'),
  jobSeconds: counter(
    'gw_document_job_seconds_total',
    'Time of jobs that ended, by phase: waiting until the last start, and working since.',
    'phase',
  ),
  jobsRunning: gauge('gw_document_jobs_running', 'Jobs that this gateway works on.'),
  jobsWaiting: gauge('gw_document_jobs_waiting', 'Jobs that wait, over all gateways.'),
};

/** Counts and logs the results of documents, of jobs, and of questions to local models. */
export function observeDocuments(log: Log, metrics: Metrics) {
  const count = metrics.open(DOCUMENT_METRICS);
  return {
    onInference: (event: DocumentsEvent | ModelsEvent): void => {
      switch (event.kind) {
        case 'documents.asked':
          return count.asked.inc(event.verb);
        case 'documents.fault':
          return count.faults.inc(event.verb, event.fault);
        case 'models.fault':
          return count.modelFaults.inc(event.model, event.fault);
        case 'documents.engine_died':
          count.deaths.inc();
          return log.warn({ event: event.kind, code: event.code, signal: event.signal });
      }
    },
    onJob: ({ state, code, pages, waitedMs, workedMs }: JobEnded): void => {
      count.jobs.inc(state, code ?? '');
      if (state === 'queued') return;
      count.jobPages.add(pages);
      count.jobSeconds.add(waitedMs / 1000, 'waiting');
      count.jobSeconds.add(workedMs / 1000, 'working');
    },
    watchJobs(jobs: Pick<JobRunner, 'running' | 'waiting'>): void {
      count.jobsRunning.from(() => jobs.running);
      count.jobsWaiting.from(() => jobs.waiting);
    },
  };
}
