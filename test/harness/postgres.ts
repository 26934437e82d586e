import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chownSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { freePort } from './free-port.ts';
import { hasEnded } from './has-ended.ts';

/** A real PostgreSQL server for tests, on loopback. */
export interface PostgresServer {
  /** Its database `postgres`, as a superuser. */
  readonly url: string;
  /** A new, empty database on this server. */
  createDatabase(): Promise<string>;
  /** Ends the server and removes its data. Of a server that the environment lent, nothing. */
  stop(): Promise<void>;
  /** Ends every process of the server at once, without a checkpoint, as a crash would. */
  kill(): Promise<void>;
  /** Starts it again on the same port with the same data. */
  restart(): Promise<void>;
}

export interface PostgresServerOptions {
  /** The test kills or restarts it: never the server that TEST_DATABASE_URL names. */
  readonly control?: boolean;
  /** Waits for the disk on every commit, as production does. Off by default, for speed. */
  readonly fsync?: boolean;
}

/** Installs Debian's PostgreSQL when there is none; needs root and `apt-get`. Its system service is not started. */
export function installPostgres(): void {
  if (binaries() !== undefined) return;
  const environment = { ...process.env, DEBIAN_FRONTEND: 'noninteractive', RUNLEVEL: '1' };
  const apt = (...args: string[]): void => {
    execFileSync('apt-get', args, { env: environment, stdio: ['ignore', 'ignore', 'inherit'] });
  };
  apt('update', '-qq');
  apt('install', '-y', '-qq', '--no-install-recommends', 'postgresql');
}

/** Starts a PostgreSQL server in a temporary folder, or takes the one that TEST_DATABASE_URL names. */
export async function startPostgres(options: PostgresServerOptions = {}): Promise<PostgresServer> {
  const lent = process.env['TEST_DATABASE_URL'];
  if (lent && !options.control && !options.fsync) return lentServer(lent);
  installPostgres();
  const folder = mkdtempSync(join(tmpdir(), 'gatewarden-postgres-'));
  const user = unprivilegedUser();
  if (user) chownSync(folder, user.uid, user.gid);
  try {
    execFileSync(join(binaries()!, 'initdb'), initArguments(folder), { ...user, cwd: folder, stdio: 'pipe' });
    for (let attempt = 1; ; attempt++) {
      const port = await freePort();
      const start = (): Promise<ChildProcess> => launch(folder, port, options.fsync ?? false);
      try {
        return ownServer(folder, port, await start(), start);
      } catch (error) {
        if (attempt === 5) throw error; // else somebody else took the port
      }
    }
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    throw error;
  }
}

/** Makes a new database, with a name of its own, on the server that `url` names; resolves with its address. */
export async function createDatabase(url: string): Promise<string> {
  const name = `gw_${randomBytes(6).toString('hex')}`;
  await run(url, `CREATE DATABASE ${name}`);
  const created = new URL(url);
  created.pathname = `/${name}`;
  return created.href;
}

/** Removes a database that `createDatabase` made on the server that `serverUrl` names, connected clients or not. */
export async function dropDatabase(serverUrl: string, url: string): Promise<void> {
  await run(serverUrl, `DROP DATABASE IF EXISTS ${new URL(url).pathname.slice(1)} WITH (FORCE)`);
}

async function run(url: string, sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}

/** Where the server's programs are; Debian keeps them off the PATH. */
function binaries(): string | undefined {
  const debian = '/usr/lib/postgresql';
  const versions = existsSync(debian) ? readdirSync(debian).sort((a, b) => Number(b) - Number(a)) : [];
  const folders = [
    ...versions.map((version) => join(debian, version, 'bin')),
    ...(process.env['PATH'] ?? '').split(':'),
  ];
  return folders.find((folder) => existsSync(join(folder, 'initdb')) && existsSync(join(folder, 'postgres')));
}

/** PostgreSQL refuses to run as root. */
function unprivilegedUser(): { readonly uid: number; readonly gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const lines = readFileSync('/etc/passwd', 'utf8').split('\n');
  const line = ['postgres', 'nobody'].map((name) => lines.find((each) => each.startsWith(`${name}:`))).find(Boolean);
  if (line === undefined) throw new Error('no user "postgres" or "nobody" to run PostgreSQL as');
  const [, , uid, gid] = line.split(':');
  return { uid: Number(uid), gid: Number(gid) };
}

function initArguments(folder: string): readonly string[] {
  const locale = ['--encoding=UTF8', '--locale=C.UTF-8'];
  return ['-D', join(folder, 'data'), '-U', 'postgres', '--auth=trust', '--no-sync', '--no-instructions', ...locale];
}

/** Starts the server and waits until it answers. It dies with this process, however that ends. */
async function launch(folder: string, port: number, fsync: boolean): Promise<ChildProcess> {
  const settings = [
    'max_connections=300',
    `fsync=${fsync ? 'on' : 'off'}`,
    'listen_addresses=127.0.0.1',
    'unix_socket_directories=',
    'jit=off',
  ];
  const server = [join(binaries()!, 'postgres'), '-D', join(folder, 'data'), '-p', String(port)];
  const command = [...server, ...settings.flatMap((setting) => ['-c', setting])];
  const user = unprivilegedUser();
  const setpriv = '/usr/bin/setpriv';
  // SIGQUIT is PostgreSQL's immediate shutdown. A parent's death signal has to be set after the user has changed.
  const identity = user ? [`--reuid=${user.uid}`, `--regid=${user.gid}`, '--clear-groups'] : [];
  const child = existsSync(setpriv)
    ? spawn(setpriv, ['--pdeathsig', 'QUIT', ...identity, ...command], { cwd: folder, stdio: 'ignore' })
    : spawn(command[0]!, command.slice(1), { ...user, cwd: folder, stdio: 'ignore' });
  child.on('error', () => {});
  const killChild = (): boolean => child.kill('SIGQUIT');
  process.once('exit', killChild);
  child.once('exit', () => process.removeListener('exit', killChild));
  for (let waited = 0; waited < 30_000 && !hasEnded(child); waited += 50) {
    if (await answers(port, join(folder, 'data'))) return child;
    await sleep(50);
  }
  child.kill('SIGQUIT');
  throw new Error(`PostgreSQL does not answer on port ${port}`);
}

/** Whether the server that keeps its data in `folder`, and no other, answers on the port. */
async function answers(port: number, folder: string): Promise<boolean> {
  const client = new pg.Client({ connectionString: urlOf(port), connectionTimeoutMillis: 1_000 });
  client.on('error', () => {});
  try {
    await client.connect();
    const { rows } = await client.query<{ folder: string }>("SELECT current_setting('data_directory') AS folder");
    return rows[0]?.folder === folder;
  } catch {
    return false;
  } finally {
    await client.end().catch(() => {});
  }
}

function ownServer(
  folder: string,
  port: number,
  first: ChildProcess,
  start: () => Promise<ChildProcess>,
): PostgresServer {
  let child = first;
  const url = urlOf(port);
  const kill = async (): Promise<void> => {
    if (hasEnded(child)) return;
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGQUIT');
    await ended;
  };
  return {
    url,
    createDatabase: () => createDatabase(url),
    kill,
    restart: async () => {
      await kill();
      child = await start();
    },
    stop: async () => {
      await kill();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function lentServer(url: string): PostgresServer {
  const impossible = (): never => {
    throw new Error('a server named by TEST_DATABASE_URL is not ours to stop: start one with { control: true }');
  };
  return {
    url,
    createDatabase: () => createDatabase(url),
    stop: async () => {},
    kill: impossible,
    restart: impossible,
  };
}

function urlOf(port: number): string {
  return `postgres://postgres@127.0.0.1:${port}/postgres`;
}
