import { execFile } from 'node:child_process';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '../..');
const LOCAL = join(ROOT, 'tools/images/local.sh');

/** Whether this run is to build images and start containers, which takes minutes and root. */
export const WANTED = process.env['TEST_CONTAINERS'] === '1';

/** Runs `tools/images/local.sh`; resolves with what it printed, rejects with what it said. */
export function local(...args: readonly string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    execFile(LOCAL, args, { cwd: ROOT, maxBuffer: 64 * 1024 * 1024 }, (error, out, err) => {
      if (error) reject(new Error(`local.sh ${args.slice(0, 3).join(' ')} failed: ${err}${out}`));
      else resolve(out);
    });
  });
}

/** Runs podman on the images of this checkout. */
export function podman(...args: readonly string[]): Promise<string> {
  return local('run', 'podman', ...args);
}

/** A container that runs. */
export interface Running extends AsyncDisposable {
  readonly name: string;
  /** All that it printed. */
  log(): Promise<string>;
  /** SIGTERM, after so many seconds SIGKILL, as a kubelet does; resolves with the exit code. */
  stop(graceSeconds: number): Promise<number>;
  /** Resolves with the exit code once it has ended by itself. */
  ended(): Promise<number>;
}

/** Starts a container on the machine's own network: `options` of `podman run`, then the image and its command. */
export async function start(
  name: string,
  options: readonly string[],
  image: string,
  command: readonly string[],
): Promise<Running> {
  await podman(
    'run',
    '--detach',
    '--name',
    name,
    '--network',
    'host',
    '--pull',
    'never',
    ...options,
    image,
    ...command,
  );
  const ended = async (): Promise<number> => Number((await podman('wait', name)).trim());
  return {
    name,
    log: () => podman('logs', name),
    ended,
    async stop(graceSeconds) {
      await podman('stop', '--time', String(graceSeconds), name);
      return ended();
    },
    async [Symbol.asyncDispose]() {
      await podman('rm', '--force', '--time', '0', name);
    },
  };
}

/** Runs a command in a new container to its end; resolves with what it printed. */
export function once(image: string, command: readonly string[], ...options: readonly string[]): Promise<string> {
  return podman('run', '--rm', '--network', 'host', '--pull', 'never', ...options, image, ...command);
}
