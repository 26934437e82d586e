import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Agent } from 'undici';
import { send, type Target } from '../load.ts';

/** What a peer is started with. */
interface Place {
  /** Of the upstream: `http://127.0.0.1:port`. */
  readonly upstream: string;
  readonly port: number;
  readonly redisUrl: string;
  /** A database of its own, empty. */
  readonly databaseUrl: string;
}

/** A program in front of the upstream, as it runs. */
export interface RunningPeer {
  readonly target: Target;
  /** Model that it sends to the upstream. */
  readonly model: string;
  readonly pid: number;
  stop(): Promise<void>;
}

/** A program that stands in front of a provider, as Gatewarden does. */
export interface Peer {
  readonly name: string;
  readonly version: string;
  /** What it does with each call in this run. */
  readonly on: string;
  start(place: Place): Promise<RunningPeer>;
}

export interface Command {
  readonly program: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

/** Starts a program in a folder of its own that holds these files; `{folder}` in arguments stands for it. */
export async function startCommand(
  { program, args, env }: Command,
  files: Readonly<Record<string, string>> = {},
): Promise<{ readonly pid: number; stop(): Promise<void> }> {
  const folder = mkdtempSync(join(tmpdir(), 'gatewarden-peer-'));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  const child = spawn(
    program,
    args.map((arg) => arg.replaceAll('{folder}', folder)),
    { cwd: folder, stdio: 'ignore', env: { PATH: process.env['PATH'], HOME: folder, ...env } },
  );
  const kill = (): boolean => child.kill('SIGKILL');
  process.once('exit', kill);
  await new Promise((resolve, reject) => {
    child.once('spawn', resolve);
    child.once('error', reject);
  });
  return {
    pid: child.pid!,
    stop: async () => {
      const ended = new Promise((resolve) => child.once('exit', resolve));
      if (child.exitCode === null) {
        child.kill('SIGTERM');
        await Promise.race([ended, sleep(5000)]);
        kill();
      }
      process.removeListener('exit', kill);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

const START_SECONDS = 180;

/** Resolves when the peer has answered a call; rejects when it has not for a long time. */
export async function whenServing(client: Agent, { target, model }: RunningPeer): Promise<void> {
  const body = JSON.stringify({ model, messages: [{ role: 'user', content: 'hello' }], max_tokens: 16 });
  for (let waited = 0; waited < START_SECONDS; waited++) {
    if (await send(client, target, body)) return;
    await sleep(1000);
  }
  throw new Error(`${target.origin} did not answer a call within ${START_SECONDS} s`);
}
