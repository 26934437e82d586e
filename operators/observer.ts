import type { Log } from '#/telemetry/log.ts';
import { counter, gauge, Metrics, total } from '#/telemetry/metrics.ts';
import type { ControllerEvent } from './controller-options.ts';
import type { Controller } from './controller.ts';

/** Turns what happens into log lines and metrics. */
export interface Observer {
  readonly onEvent: (event: ControllerEvent) => void;
  readonly watch: (controller: Controller) => void;
  readonly scrape: () => string;
}

export const CONTROLLER_METRICS = {
  published: counter('gw_config_published_total', 'Publications of this controller.'),
  seconds: counter('gw_config_publish_seconds_total', 'Time until publications were in force.'),
  faults: counter('gw_controller_faults_total', 'Failed accesses to the cluster or to Redis.', 'what'),
  epoch: gauge('gw_controller_epoch', 'Term in which this controller leads; 0 while it stands by.'),
  synced: gauge('gw_controller_synced', '1 once every collection was listed.'),
  silent: gauge('gw_controller_silent_seconds', 'Longest time since the API server said anything about a collection.'),
  lists: total('gw_controller_lists_total', 'Times that a collection was listed.'),
  keys: gauge('gw_controller_keys', 'Known keys.'),
  resources: gauge('gw_controller_resources', 'Published resources, without keys.'),
  faulty: gauge('gw_controller_faulty_resources', 'Resources with errors, without keys.'),
  gateways: gauge('gw_controller_gateways', 'Gateways that are alive.'),
  pending: gauge('gw_controller_pending_resources', 'Resources that some gateway does not have yet.'),
  waiting: gauge('gw_controller_waiting_writes', 'Writes to the cluster that wait.'),
  bytes: gauge('gw_config_published_bytes', 'Size of the published configuration.'),
  resident: gauge('gw_resident_bytes', 'Resident memory of the process.'),
};

export function createObserver(log: Log): Observer {
  const metrics = new Metrics();
  const count = metrics.open(CONTROLLER_METRICS);
  return {
    onEvent(event) {
      switch (event.name) {
        case 'controller.leading':
          return log.info({ event: event.name, epoch: event.epoch });
        case 'controller.following':
          return log.warn({ event: event.name });
        case 'config.published':
          count.published.inc();
          count.seconds.add(event.ms / 1000);
          return log.info({ event: event.name, epoch: event.epoch, seq: event.seq, ms: Math.round(event.ms) });
        case 'cluster.fault':
          count.faults.inc('cluster');
          return log.warn({ event: event.name, kind: event.kind, reason: messageOf(event.error), err: event.error });
        case 'store.fault':
          count.faults.inc('store');
          return log.error({ event: event.name, reason: messageOf(event.error), err: event.error });
      }
    },
    watch(controller) {
      count.epoch.from(() => controller.state().epoch ?? 0);
      count.synced.from(() => Number(controller.state().isSynced));
      count.silent.from(() => controller.state().silentMs / 1000);
      count.lists.from(() => controller.state().lists);
      count.keys.from(() => controller.state().keys);
      count.resources.from(() => controller.state().documents);
      count.faulty.from(() => controller.state().faulty);
      count.gateways.from(() => controller.state().gateways);
      count.pending.from(() => controller.state().pending);
      count.waiting.from(() => controller.state().waitingWrites);
      count.bytes.from(() => controller.state().publishedBytes);
      count.resident.from(() => process.memoryUsage.rss());
    },
    scrape: () => metrics.text(),
  };
}

/** Adapters of this process say in their messages what failed, never content. */
function messageOf(error: unknown): string {
  return error instanceof Error ? error.message.slice(0, 200) : typeof error;
}
