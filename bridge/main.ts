import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { processEnvironment } from '#/settings/reader.ts';
import type { Log } from '#/telemetry/log.ts';
import { startProgram } from '#/telemetry/start-program.ts';
import { createSessions } from './answer.ts';
import type { ChildEnd } from './child-process.ts';
import { createBridgeServer } from './http-server.ts';
import { readSettings, type Settings } from './settings.ts';
import { StdioServer, type Opened } from './stdio-server.ts';

/** Entry point of the bridge: `main.ts COMMAND ARGUMENT…` runs an MCP server over standard input and offers it over HTTP. */

const POLL_MS = 20;

await startProgram(readSettings(processEnvironment(), process.argv.slice(2)), run);

async function run(settings: Settings, log: Log): Promise<void> {
  const { command, args, childEnv: env, maxBytes, startMs, token, calls } = settings;
  const server = new StdioServer({ command, args, env, maxBytes, startMs }, log);
  let opened: Opened | undefined;
  let isDraining = false;
  const http = createBridgeServer({
    ...{ server, token, calls, log },
    sessions: createSessions(),
    cancels: new Map(),
    opened: () => opened,
    isDraining: () => isDraining,
  });
  /** Requests that wait are answered, then the process ends: its container is started again, with another server. */
  const leave = async (status: number): Promise<void> => {
    isDraining = true;
    http.close();
    await Promise.race([new Promise((resolve) => http.once('close', resolve)), sleep(1000)]);
    process.exit(status);
  };
  server.ended.then(
    ({ code, signal }: ChildEnd) => {
      if (isDraining) return;
      log.error({ event: 'bridge.server_ended', code, signal });
      void leave(1);
    },
    (error: unknown) => {
      log.fatal({ event: 'bridge.server_ended', err: error });
      void leave(1);
    },
  );
  const shutDown = async (): Promise<void> => {
    if (isDraining) return;
    isDraining = true;
    const until = performance.now() + settings.drainMs;
    while (server.isAwaited && performance.now() < until) await sleep(POLL_MS);
    await server.end();
    await leave(0);
  };
  process.on('SIGTERM', () => void shutDown()).on('SIGINT', () => void shutDown());
  await new Promise<void>((resolve, reject) => {
    http.once('error', reject).listen(settings.port, settings.host, resolve);
  });
  try {
    opened = await server.open();
  } catch (error) {
    log.fatal({ event: 'bridge.not_opened', err: error });
    await server.end();
    return leave(1);
  }
  const { address, port } = http.address() as AddressInfo;
  log.info({ event: 'bridge.ready', host: address, port, version: opened.version });
}
