import { counter, gauge, Metrics } from '#/telemetry/metrics.ts';
import type { JobQueue } from './jobs/queue.ts';
import type { KillReason, Outcome } from './jobs/thread.ts';

/** Counts of jobs, never their content. */
export interface JobMetrics {
  ended(verb: string, outcome: Outcome, ms: number): void;
  turnedAway(): void;
  killed(reason: KillReason): void;
  /** In Prometheus' text format. */
  text(): string;
}

export const JOB_METRICS = {
  jobs: counter('gw_inference_jobs_total', 'Jobs, by verb and outcome.', 'verb', 'outcome'),
  seconds: counter('gw_inference_job_seconds_total', 'Time of jobs in their threads, by verb.', 'verb'),
  turnedAway: counter('gw_inference_turned_away_total', 'Requests that were refused because the queue was full.'),
  kills: counter('gw_inference_kills_total', 'Worker threads that were ended, or died, by reason.', 'reason'),
  running: gauge('gw_inference_jobs_running', 'Jobs in worker threads.'),
  waiting: gauge('gw_inference_jobs_waiting', 'Jobs that wait for a thread or for their body.'),
  resident: gauge('gw_inference_resident_bytes', 'Resident memory of the engine.'),
};

export function createJobMetrics(queue: JobQueue): JobMetrics {
  const metrics = new Metrics();
  const count = metrics.open(JOB_METRICS);
  count.running.from(() => queue.running);
  count.waiting.from(() => queue.waiting);
  count.resident.from(() => process.memoryUsage.rss());
  return {
    ended(verb, outcome, ms) {
      count.jobs.inc(verb, outcome.kind === 'done' ? 'done' : outcome.fault.kind);
      count.seconds.add(ms / 1000, verb);
    },
    turnedAway: () => count.turnedAway.inc(),
    killed: (reason) => count.kills.inc(reason),
    text: () => metrics.text(),
  };
}
