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
  const published = metrics.counter('gw_config_published_total', 'Configurations that this controller published.');
  const seconds = metrics.counter('gw_config_publish_seconds_total', 'Seconds until published configurations were in force.');
  const faults = metrics.counter('gw_controller_faults_total', 'Failed requests to the cluster or to the store.');
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
        'The leader term of this controller; 0 while it does not lead.',
        ({ epoch }) => epoch ?? 0,
      );
      gauge('gw_controller_synced', '1 once all resources are listed.', ({ isSynced }) => Number(isSynced));
      gauge(
        'gw_controller_silent_seconds',
        'Seconds since the least recently updated watch received an event.',
        ({ silentMs }) => silentMs / 1000,
      );
      gauge('gw_controller_lists_total', 'Full lists of a collection that were requested.', ({ lists }) => lists);
      gauge('gw_controller_keys', 'Virtual keys.', ({ keys }) => keys);
      gauge('gw_controller_resources', 'Published resources, without virtual keys.', ({ documents }) => documents);
      gauge('gw_controller_faulty_resources', 'Resources with faults, without virtual keys.', ({ faulty }) => faulty);
      gauge('gw_controller_gateways', 'Gateways that report.', ({ gateways }) => gateways);
      gauge('gw_controller_pending_resources', 'Resources that some gateways do not use yet.', ({ pending }) => pending);
      gauge('gw_controller_waiting_writes', 'Writes to the cluster in the queue.', ({ waitingWrites }) => waitingWrites);
      gauge('gw_config_published_bytes', 'Bytes of the published configuration.', ({ publishedBytes }) => publishedBytes);
      metrics.gauge('gw_resident_bytes', 'Resident memory.', () => process.memoryUsage.rss());
    },
    scrape: () => metrics.text(),
  };
}

/** Adapters of this process say in their messages what failed, never content. */
function messageOf(error: unknown): string {
  return error instanceof Error ? error.message.slice(0, 200) : typeof error;
}
