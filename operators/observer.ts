import type { Log } from '#/telemetry/log.ts';
import { Metrics } from '#/telemetry/metrics.ts';
import type { ControllerEvent } from './controller-options.ts';
import type { Controller } from './controller.ts';

/** Turns what happens into log lines and metrics. */
export interface Observer {
  readonly onEvent: (event: ControllerEvent) => void;
  readonly watch: (controller: Controller) => void;
  readonly scrape: () => string;
}

export function createObserver(log: Log): Observer {
  const metrics = new Metrics();
  const published = metrics.counter('gw_config_published_total', 'Publications of this controller.');
  const seconds = metrics.counter('gw_config_publish_seconds_total', 'Time that they took to be put in force.');
  const faults = metrics.counter('gw_controller_faults_total', 'Failed accesses, to the cluster or to the store.');
  return {
    onEvent(event) {
      switch (event.name) {
        case 'controller.leading':
          return log.info({ event: event.name, epoch: event.epoch });
        case 'controller.following':
          return log.warn({ event: event.name });
        case 'config.published':
          published('');
          seconds('', event.ms / 1000);
          return log.info({ event: event.name, epoch: event.epoch, seq: event.seq, ms: Math.round(event.ms) });
        case 'cluster.fault':
          faults('what="cluster"');
          return log.warn({ event: event.name, kind: event.kind, reason: messageOf(event.error), err: event.error });
        case 'store.fault':
          faults('what="store"');
          return log.error({ event: event.name, reason: messageOf(event.error), err: event.error });
      }
    },
    watch(controller) {
      const gauge = (name: string, help: string, read: (state: ReturnType<Controller['state']>) => number): void =>
        metrics.gauge(name, help, () => read(controller.state()));
      gauge(
        'gw_controller_epoch',
        'The term this controller leads in; 0 while it does not.',
        ({ epoch }) => epoch ?? 0,
      );
      gauge('gw_controller_synced', '1 once all that there is was listed.', ({ isSynced }) => Number(isSynced));
      gauge(
        'gw_controller_silent_seconds',
        'Time since some collection was heard of last.',
        ({ silentMs }) => silentMs / 1000,
      );
      gauge('gw_controller_lists_total', 'How often a collection was listed.', ({ lists }) => lists);
      gauge('gw_controller_keys', 'Keys that are known.', ({ keys }) => keys);
      gauge('gw_controller_resources', 'Resources that are published, keys apart.', ({ documents }) => documents);
      gauge('gw_controller_faulty_resources', 'Resources at fault, keys apart.', ({ faulty }) => faulty);
      gauge('gw_controller_gateways', 'Gateways that live.', ({ gateways }) => gateways);
      gauge('gw_controller_pending_resources', 'Resources that not every gateway has yet.', ({ pending }) => pending);
      gauge('gw_controller_waiting_writes', 'Writes to the cluster that wait.', ({ waitingWrites }) => waitingWrites);
      gauge('gw_config_published_bytes', 'Bytes of what is published.', ({ publishedBytes }) => publishedBytes);
      metrics.gauge('gw_resident_bytes', 'Resident memory.', () => process.memoryUsage.rss());
    },
    scrape: () => metrics.text(),
  };
}

/** Adapters of this process say in their messages what failed, never content. */
function messageOf(error: unknown): string {
  return error instanceof Error ? error.message.slice(0, 200) : typeof error;
}
