import { readSettings } from '#/settings/gateway-settings.ts';
import { processEnvironment } from '#/settings/reader.ts';
import { startFailure, startProgram } from '#/telemetry/start-program.ts';
import { run } from '../main.ts';

/** Reads the environment and starts the gateway; ends the process where that fails. */
export async function startGateway(): Promise<void> {
  await startProgram(readSettings(processEnvironment()), run, startFailure);
}
