import { Metrics } from '#/telemetry/metrics.ts';
import type { ModelHost, NoAnswer } from './model-host.ts';

/** What is counted of models: never what they were asked. */
export interface ModelMetrics {
  answered(name: string, ms: number): void;
  unanswered(name: string, why: NoAnswer): void;
  /** In Prometheus' text format. */
  text(): string;
}

export function createModelMetrics(hosts: readonly ModelHost[]): ModelMetrics {
  const metrics = new Metrics();
  const answers = metrics.counter(
    'gw_inference_answers_total',
    'Questions to local models, by model and outcome',
  );
  const seconds = metrics.counter('gw_inference_answer_seconds_total', 'Seconds until a local model answered, with time in the queue');
  metrics.gauges('gw_inference_model_ready', '1 for each local model that is available', () =>
    hosts.map(({ name, fault }) => [`model="${name}"`, fault === undefined ? 1 : 0]),
  );
  metrics.gauges('gw_inference_model_running', 'Questions that local models are working on', () =>
    hosts.map(({ name, running }) => [`model="${name}"`, running]),
  );
  metrics.gauges('gw_inference_model_waiting', 'Questions to local models in the queue', () =>
    hosts.map(({ name, waiting }) => [`model="${name}"`, waiting]),
  );
  return {
    answered(name, ms) {
      answers(`model="${name}",outcome="answered"`);
      seconds(`model="${name}"`, ms / 1000);
    },
    unanswered: (name, why) => answers(`model="${name}",outcome="${why}"`),
    text: () => metrics.text(),
  };
}
