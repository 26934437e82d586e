import { Metrics } from '#telemetry/metrics.ts';
import type { ModelHost, NoAnswer } from './model-host.ts';

/** What is counted of models: never what they were asked. */
export interface ModelMetrics {
  answered(kind: string, ms: number): void;
  unanswered(kind: string, why: NoAnswer): void;
  /** In Prometheus' text format. */
  text(): string;
}

export function createModelMetrics(hosts: readonly ModelHost[]): ModelMetrics {
  const metrics = new Metrics();
  const answers = metrics.counter(
    'gw_inference_answers_total',
    'Questions to local models by model and how they ended',
  );
  const seconds = metrics.counter('gw_inference_answer_seconds_total', 'Seconds that answers took, waiting included');
  metrics.gauges('gw_inference_model_ready', '1 for each local model that can be asked', () =>
    hosts.map(({ kind, fault }) => [`model="${kind}"`, fault === undefined ? 1 : 0]),
  );
  metrics.gauges('gw_inference_model_running', 'Questions to local models in their threads', () =>
    hosts.map(({ kind, running }) => [`model="${kind}"`, running]),
  );
  metrics.gauges('gw_inference_model_waiting', 'Questions to local models that wait', () =>
    hosts.map(({ kind, waiting }) => [`model="${kind}"`, waiting]),
  );
  return {
    answered(kind, ms) {
      answers(`model="${kind}",outcome="answered"`);
      seconds(`model="${kind}"`, ms / 1000);
    },
    unanswered: (kind, why) => answers(`model="${kind}",outcome="${why}"`),
    text: () => metrics.text(),
  };
}
