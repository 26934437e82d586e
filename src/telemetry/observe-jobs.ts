import type { JobEnded } from '#/pipeline/jobs/job-run.ts';
import type { Metrics } from '#/telemetry/metrics.ts';

/** Counts jobs that are let go of, their pages and their time. */
export function observeJobs(metrics: Metrics): (ended: JobEnded) => void {
  const jobsEnded = metrics.counter(
    'gw_document_jobs_total',
    'Jobs let go of, by state and error code; queued: again.',
  );
  const jobPages = metrics.counter('gw_document_job_pages_total', 'Pages and pictures of jobs that succeeded.');
  const jobSeconds = metrics.counter(
    'gw_document_job_seconds_total',
    'Time of jobs that ended: until they were taken up last, and worked on since.',
  );
  return ({ state, code, pages, waitedMs, workedMs }) => {
    jobsEnded(`state="${state}",code="${code ?? ''}"`);
    if (state === 'queued') return;
    jobPages('', pages);
    jobSeconds('phase="waiting"', waitedMs / 1000);
    jobSeconds('phase="working"', workedMs / 1000);
  };
}
