import cluster from 'node:cluster';
import { bodyMemory } from './body-memory.ts';
import type { Host } from './host.ts';
import type { Settings } from '#/settings/gateway-settings.ts';
import type { Question, Told } from './process-messages.ts';

/** One of several processes: it tells the supervisor its state, who serves it. Ends at once when the supervisor is gone. */
export function createSharedHost(): Host {
  return {
    async show(state) {
      process.on('message', ({ asked }: Question) => {
        if (typeof asked !== 'number') return;
        tell({ answers: asked, notReady: state.notReady() ?? null, metrics: state.metrics() });
      });
    },
    announce: (url) => tell({ listens: url }),
    // Nothing keeps it: the process ends by itself.
    close: () => {},
  };
}

/** The settings of this process: a name of its own, and its share of the memory for bodies. */
export function shareOf(settings: Settings): Settings {
  const { published, processes } = settings;
  const number = Number(process.argv[2]);
  return {
    ...settings,
    bodyMemoryBytes: Math.floor((settings.bodyMemoryBytes ?? bodyMemory()) / processes),
    published: published && { ...published, gateway: `${published.gateway}-${number}` },
  };
}

function tell(told: Told): void {
  // A supervisor that is gone: this process is about to end.
  if (process.connected) cluster.worker?.send(told, () => {});
}
