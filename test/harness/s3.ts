import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from './free-port.ts';

const SERVER = join(import.meta.dirname, '../../.tools/s3/bin/moto_server');

/** Whether there is a stand-in for S3; installed by `tools/setup.sh s3`. */
export const hasS3 = existsSync(SERVER);

/** An S3 server for tests, on loopback, that keeps everything in memory and takes any credentials. */
export interface S3Server {
  readonly url: string;
  stop(): void;
}

/** Starts one; it dies with this process, however that ends. */
export async function startS3(): Promise<S3Server> {
  for (let attempt = 1; ; attempt++) {
    const port = await freePort();
    const url = `http://127.0.0.1:${port}`;
    const child = launch(port);
    if (await answers(url, child)) return { url, stop: () => void child.kill('SIGKILL') };
    child.kill('SIGKILL');
    if (attempt === 3) throw new Error('the stand-in for S3 does not answer');
  }
}

function launch(port: number): ChildProcess {
  const setpriv = '/usr/bin/setpriv';
  const command = [SERVER, '-H', '127.0.0.1', '-p', String(port)];
  const options = { stdio: 'ignore', cwd: tmpdir() } as const;
  const child = existsSync(setpriv)
    ? spawn(setpriv, ['--pdeathsig', 'KILL', ...command], options)
    : spawn(command[0]!, command.slice(1), options);
  child.on('error', () => {});
  const killChild = (): boolean => child.kill('SIGKILL');
  process.once('exit', killChild);
  child.once('exit', () => process.removeListener('exit', killChild));
  return child;
}

async function answers(url: string, child: ChildProcess): Promise<boolean> {
  for (let waited = 0; waited < 60_000 && child.exitCode === null; waited += 100) {
    const answer = await fetch(url).catch(() => undefined);
    if (answer?.ok) return true;
    await sleep(100);
  }
  return false;
}
