import cluster from 'node:cluster';
import { bodyMemory } from './body-memory.ts';
import type { Host } from './host.ts';
import type { Settings } from '#/settings/gateway-settings.ts';
import type { Question, Told } from './process-messages.ts';

/** One of several processes: it tells the supervisor its state, who serves it. Ends at once when the supervisor is gone. */
export function createSharedHost(): Host {
  return {
    sharesPort: process.platform === 'linux',
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

/** The settings of this process: a name of its own, the port that the supervisor found, its share of the memory for bodies. */
export function shareOf(settings: Settings): Settings {
  const { published, processes } = settings;
  const [number, port] = process.argv.slice(2).map(Number);
  return {
    ...settings,
    port: port ?? settings.port,
    bodyMemoryBytes: Math.floor((settings.bodyMemoryBytes ?? bodyMemory()) / processes),
    published: published && { ...published, gateway: `${published.gateway}-${number}` },
  };
}

function tell(told: Told): void {
  // A supervisor that is gone: this process is about to end.
  if (process.connected) cluster.worker?.send(told, () => {});
}
