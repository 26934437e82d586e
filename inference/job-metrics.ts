import { Metrics } from '#/telemetry/metrics.ts';
import type { JobQueue } from './queue.ts';
import type { KillReason, Outcome } from './thread.ts';

/** What is counted of jobs: never what was in them. */
export interface JobMetrics {
  ended(verb: string, outcome: Outcome, ms: number): void;
  turnedAway(): void;
  killed(reason: KillReason): void;
  /** In Prometheus' text format. */
  text(): string;
}

export function createJobMetrics(queue: JobQueue): JobMetrics {
  const metrics = new Metrics();
  const jobs = metrics.counter('gw_inference_jobs_total', 'Jobs, by verb and outcome');
  const seconds = metrics.counter('gw_inference_job_seconds_total', 'Seconds that jobs ran, by verb');
  const busy = metrics.counter('gw_inference_turned_away_total', 'Requests refused because the queue was full');
  const kills = metrics.counter('gw_inference_kills_total', 'Threads that were stopped or crashed');
  metrics.gauge('gw_inference_jobs_running', 'Jobs that are running', () => queue.running);
  metrics.gauge('gw_inference_jobs_waiting', 'Jobs that wait for a thread or for the rest of their request', () => queue.waiting);
  metrics.gauge('gw_inference_resident_bytes', 'Resident memory of the process', () => process.memoryUsage.rss());
  return {
    ended(verb, outcome, ms) {
      jobs(`verb="${verb}",outcome="${outcome.kind === 'done' ? 'done' : outcome.fault.kind}"`);
      seconds(`verb="${verb}"`, ms / 1000);
    },
    turnedAway: () => busy(''),
    killed: (reason) => kills(`reason="${reason}"`),
    text: () => metrics.text(),
  };
}
