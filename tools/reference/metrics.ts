import { MODEL_METRICS } from '../../inference/decide/model-metrics.ts';
import { JOB_METRICS } from '../../inference/job-metrics.ts';
import { CONTROLLER_METRICS } from '../../operators/observer.ts';
import { typeOf, type Metric, type MetricGroup } from '../../src/telemetry/metrics.ts';
import { CALL_METRICS } from '../../src/telemetry/observe/calls.ts';
import { CONFIG_METRICS } from '../../src/telemetry/observe/config.ts';
import { DOCUMENT_METRICS } from '../../src/telemetry/observe/documents.ts';
import { MONEY_METRICS } from '../../src/telemetry/observe/money.ts';
import { PROCESS_METRICS } from '../../src/telemetry/observe/process.ts';
import { STORE_METRICS } from '../../src/telemetry/observe/stores.ts';
import { TOOL_METRICS } from '../../src/telemetry/observe/tools.ts';
import { UPSTREAM_METRICS } from '../../src/telemetry/observe/upstreams.ts';
import { page, table } from './page.ts';

interface ListedGroup {
  /** The file that declares and counts them, from the repository's root. */
  readonly file: string;
  readonly metrics: MetricGroup;
}

/** Every group of metrics, by the program and the part of it that counts them. */
export const METRIC_GROUPS: Readonly<Record<string, Readonly<Record<string, ListedGroup>>>> = {
  Gateway: {
    Calls: { file: 'src/telemetry/observe/calls.ts', metrics: CALL_METRICS },
    Money: { file: 'src/telemetry/observe/money.ts', metrics: MONEY_METRICS },
    'Stores and the journal': { file: 'src/telemetry/observe/stores.ts', metrics: STORE_METRICS },
    'Tools of MCP servers': { file: 'src/telemetry/observe/tools.ts', metrics: TOOL_METRICS },
    Upstreams: { file: 'src/telemetry/observe/upstreams.ts', metrics: UPSTREAM_METRICS },
    'Configuration and prices': { file: 'src/telemetry/observe/config.ts', metrics: CONFIG_METRICS },
    'Documents and local models': { file: 'src/telemetry/observe/documents.ts', metrics: DOCUMENT_METRICS },
    Process: { file: 'src/telemetry/observe/process.ts', metrics: PROCESS_METRICS },
  },
  Controller: {
    Controller: { file: 'operators/observer.ts', metrics: CONTROLLER_METRICS },
  },
  'Document engine': {
    Jobs: { file: 'inference/job-metrics.ts', metrics: JOB_METRICS },
    'Local models': { file: 'inference/decide/model-metrics.ts', metrics: MODEL_METRICS },
  },
};

/** Every metric of every program. */
export function metricsPage(): string {
  const parts = Object.entries(METRIC_GROUPS).flatMap(([program, groups]) => [
    `## ${program}`,
    ...Object.entries(groups).flatMap(([part, { metrics }]) => [
      ...(part === program ? [] : [`### ${part}`]),
      table(['metric', 'type', 'labels', 'meaning'], Object.values(metrics).map(rowOf)),
    ]),
  ]);
  return page(
    'Metrics',
    'tools/reference/metrics.ts',
    'Each program serves its metrics as text of Prometheus at `/metrics`: the gateway and the controller on `ADMIN_PORT`, the ' +
      'document engine on `PORT`. Counters begin at 0 with the process. A gauge without a value is not there. With `GW_PROCESSES` ' +
      'above 1, each series of the gateway has one more label: `process`, the number of its process.',
    ...parts,
  );
}

function rowOf({ name, kind, labels, help }: Metric): readonly string[] {
  return [`\`${name}\``, typeOf(kind), labels.map((label) => `\`${label}\``).join(', '), help];
}
