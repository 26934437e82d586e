import cluster from 'node:cluster';
import { readSettings, type Settings } from '#/settings/gateway-settings.ts';
import { processEnvironment } from '#/settings/reader.ts';
import type { Log } from '#/telemetry/log.ts';
import { startFailure, startProgram } from '#/telemetry/start-program.ts';
import { createOwnHost } from './host.ts';

/** Reads the environment and starts the gateway, in one process or several; ends the process where that fails. */
export async function startGateway(): Promise<void> {
  await startProgram(readSettings(processEnvironment()), start, startFailure);
}

async function start(settings: Settings, log: Log): Promise<void> {
  if (settings.processes > 1 && cluster.isPrimary) {
    // It serves no call, and loads nothing that does.
    const { supervise } = await import('./supervisor.ts');
    return supervise(settings, log);
  }
  const { run } = await import('../main.ts');
  if (settings.processes === 1) return run(settings, log, createOwnHost(settings, log));
  const { createSharedHost, shareOf } = await import('./shared-host.ts');
  return run(shareOf(settings), log, createSharedHost());
}
