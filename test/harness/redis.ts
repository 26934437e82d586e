import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, rmSync, statSync, truncateSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from './free-port.ts';
import { hasEnded } from './has-ended.ts';

/** A real Redis server for tests, on loopback. */
export interface RedisServer {
  readonly url: string;
  readonly port: number;
  /** Ends the server and removes its data. Of a server that the environment lent, nothing. */
  stop(): Promise<void>;
  /**
   * Ends the server if it still runs, and starts it again on the same port; `empty` removes its data first, `keep`
   * all but so many bytes of its append-only file, as a machine that crashed or a replica that was behind would.
   */
  restart(options: { readonly empty: boolean; readonly keep?: number }): Promise<void>;
  /** Bytes of its append-only file. */
  written(): number;
  /** Stops the process where it stands (SIGSTOP): connections stay open, nothing is answered. */
  pause(): void;
  resume(): void;
  /** Ends the process without warning (SIGKILL). */
  kill(): Promise<void>;
}

export interface RedisServerOptions {
  /** The test stops, kills or empties it: never the server that TEST_REDIS_URL names. */
  readonly control?: boolean;
  /** Keeps data over restarts (append-only file, written through on every command). */
  readonly appendOnly?: boolean;
  /** One node of Redis Cluster serving every slot: refuses scripts whose keys are in several slots. */
  readonly cluster?: boolean;
}

/** Installs Debian's Redis when there is none; needs root and `apt-get`. Its system service is not started. */
export function installRedis(): void {
  if (hasRedis()) return;
  const environment = { ...process.env, DEBIAN_FRONTEND: 'noninteractive', RUNLEVEL: '1' };
  const apt = (...args: string[]): void => {
    execFileSync('apt-get', args, { env: environment, stdio: ['ignore', 'ignore', 'inherit'] });
  };
  apt('update', '-qq');
  apt('install', '-y', '-qq', '--no-install-recommends', 'redis-server');
}

/** Whether `redis-server` is on the PATH. */
export function hasRedis(): boolean {
  return (process.env['PATH'] ?? '').split(':').some((folder) => existsSync(join(folder, 'redis-server')));
}

/** Starts a Redis server, or takes the one that TEST_REDIS_URL names. Without persistence unless asked. */
export async function startRedis(options: RedisServerOptions = {}): Promise<RedisServer> {
  const lent = process.env['TEST_REDIS_URL'];
  if (lent && !options.control && !options.appendOnly && !options.cluster) return lentServer(lent);
  installRedis();
  const folder = mkdtempSync(join(tmpdir(), 'gatewarden-redis-'));
  for (let attempt = 1; ; attempt++) {
    const port = await freePort();
    const busPort = options.cluster ? await freePort() : undefined;
    const start = (): Promise<ChildProcess> => launch(serverArguments(folder, port, busPort, options), port);
    try {
      const child = await start();
      if (options.cluster) await formCluster(port);
      return ownServer(folder, port, child, start);
    } catch (error) {
      if (attempt < 5) continue; // somebody else took the port
      rmSync(folder, { recursive: true, force: true });
      throw error;
    }
  }
}

function serverArguments(folder: string, port: number, busPort: number | undefined, options: RedisServerOptions) {
  return [
    '--bind',
    '127.0.0.1',
    '--port',
    String(port),
    '--dir',
    folder,
    '--save',
    '',
    '--loglevel',
    'warning',
    ...(options.appendOnly ? ['--appendonly', 'yes', '--appendfsync', 'always'] : []),
    ...(busPort === undefined
      ? []
      : ['--cluster-enabled', 'yes', '--cluster-port', String(busPort), '--cluster-announce-ip', '127.0.0.1']),
  ];
}

/** Starts the process and waits until it answers. It dies with this one, however that ends. */
async function launch(args: readonly string[], port: number): Promise<ChildProcess> {
  const setpriv = '/usr/bin/setpriv';
  const child = existsSync(setpriv)
    ? spawn(setpriv, ['--pdeathsig', 'KILL', 'redis-server', ...args], { stdio: 'ignore' })
    : spawn('redis-server', args, { stdio: 'ignore' });
  child.on('error', () => {});
  const killChild = (): boolean => child.kill('SIGKILL');
  process.once('exit', killChild);
  child.once('exit', () => process.removeListener('exit', killChild));
  for (let waited = 0; waited < 10_000 && !hasEnded(child); waited += 20) {
    if ((await ask(port, 'PING').catch(() => '')).startsWith('+PONG')) return child;
    await sleep(20);
  }
  child.kill('SIGKILL');
  throw new Error(`redis-server does not answer on port ${port}`);
}

async function formCluster(port: number): Promise<void> {
  await ask(port, 'CLUSTER ADDSLOTSRANGE 0 16383');
  for (let waited = 0; waited < 10_000; waited += 50) {
    if ((await ask(port, 'CLUSTER INFO')).includes('cluster_state:ok')) return;
    await sleep(50);
  }
  throw new Error('the cluster does not form');
}

function ownServer(folder: string, port: number, first: ChildProcess, start: () => Promise<ChildProcess>): RedisServer {
  let child = first;
  const kill = async (): Promise<void> => {
    if (hasEnded(child)) return;
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGKILL');
    await ended;
  };
  const written = (): number => statSync(appendOnlyFile(folder)).size;
  return {
    url: `redis://127.0.0.1:${port}`,
    port,
    kill,
    written,
    pause: () => void child.kill('SIGSTOP'),
    resume: () => void child.kill('SIGCONT'),
    stop: async () => {
      await kill();
      rmSync(folder, { recursive: true, force: true });
    },
    restart: async ({ empty, keep }) => {
      await kill();
      if (keep !== undefined) truncateSync(appendOnlyFile(folder), Math.min(keep, written()));
      if (empty) for (const file of readdirSync(folder)) rmSync(join(folder, file), { recursive: true });
      child = await start();
    },
  };
}

/** The part of the append-only file that is written to. */
function appendOnlyFile(folder: string): string {
  const parts = join(folder, 'appendonlydir');
  const newest = readdirSync(parts)
    .filter((name) => name.endsWith('.incr.aof'))
    .sort()
    .at(-1);
  if (newest === undefined) throw new Error('the server keeps no append-only file');
  return join(parts, newest);
}

function lentServer(url: string): RedisServer {
  const impossible = (): never => {
    throw new Error('a server named by TEST_REDIS_URL is not ours to stop: start one with { control: true }');
  };
  const port = Number(new URL(url).port || 6379);
  return {
    url,
    port,
    stop: async () => {},
    written: impossible,
    restart: impossible,
    pause: impossible,
    resume: impossible,
    kill: impossible,
  };
}

/** One inline command on a connection of its own; resolves with what the server answered first. */
function ask(port: number, command: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: '127.0.0.1', port, timeout: 1_000 });
    socket.once('connect', () => socket.write(`${command}\r\n`));
    socket.once('data', (data) => resolve(data.toString()));
    for (const fault of ['error', 'timeout', 'close'])
      socket.once(fault, () => reject(new Error(`no answer: ${fault}`)));
    socket.once('data', () => socket.destroy());
  });
}
