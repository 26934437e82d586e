import { counter, gauge, Metrics } from '#/telemetry/metrics.ts';
import type { ModelHost, NoAnswer } from './model-host.ts';

/** Counts of model questions: never their content. */
export interface ModelMetrics {
  answered(name: string, ms: number): void;
  unanswered(name: string, why: NoAnswer): void;
  /** In Prometheus' text format. */
  text(): string;
}

export const MODEL_METRICS = {
  answers: counter(
    'gw_inference_answers_total',
    'Questions to local models, by model and outcome.',
    'model',
    'outcome',
  ),
  seconds: counter('gw_inference_answer_seconds_total', 'Time of answers, including the wait, by model.', 'model'),
  ready: gauge('gw_inference_model_ready', '1 for each local model that can be asked.', 'model'),
  running: gauge('gw_inference_model_running', 'Questions that local models work on, by model.', 'model'),
  waiting: gauge('gw_inference_model_waiting', 'Questions that wait for a local model, by model.', 'model'),
};

export function createModelMetrics(hosts: readonly ModelHost[]): ModelMetrics {
  const metrics = new Metrics();
  const count = metrics.open(MODEL_METRICS);
  count.ready.from(() => hosts.map(({ name, fault }) => [name, fault === undefined ? 1 : 0] as const));
  count.running.from(() => hosts.map(({ name, running }) => [name, running] as const));
  count.waiting.from(() => hosts.map(({ name, waiting }) => [name, waiting] as const));
  return {
    answered(name, ms) {
      count.answers.inc(name, 'answered');
      count.seconds.add(ms / 1000, name);
    },
    unanswered: (name, why) => count.answers.inc(name, why),
    text: () => metrics.text(),
  };
}
