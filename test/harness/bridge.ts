import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

const MAIN = join(import.meta.dirname, '../../bridge/main.ts');

/** A bridge in front of an MCP server over standard input. */
export interface BridgeProcess extends AsyncDisposable {
  readonly url: string;
  readonly token: string;
  readonly process: ChildProcess;
  /** What it wrote to standard output and error. */
  readonly log: () => string;
  readonly errors: () => string;
  /** Resolves with its status. */
  readonly ended: Promise<number | null>;
}

export interface BridgeOptions {
  readonly command: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

export const BRIDGE_TOKEN = 'bridge-token-0123456789';

/** Starts a bridge, and waits until its server has shaken hands. Rejects with what it said where it ends before. */
export async function startBridge({ command, env = {} }: BridgeOptions): Promise<BridgeProcess> {
  const child = spawn(process.execPath, [MAIN, ...command], {
    env: { PATH: process.env['PATH'], GW_BRIDGE_TOKEN: BRIDGE_TOKEN, GW_BRIDGE_PORT: '0', ...env },
  });
  let [log, errors] = ['', ''];
  const ended = once(child, 'exit').then(([code]) => code as number | null);
  const port = await new Promise<number>((resolve, reject) => {
    child.stdout.on('data', (bytes: Buffer) => {
      log += bytes.toString();
      const ready = /"event":"bridge.ready","host":"[^"]*","port":(\d+)/.exec(log);
      if (ready) resolve(Number(ready[1]));
    });
    child.stderr.on('data', (bytes: Buffer) => (errors += bytes.toString()));
    child.once('exit', (code) => reject(new Error(`the bridge ended with ${code}: ${log}${errors}`)));
  });
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    token: BRIDGE_TOKEN,
    process: child,
    log: () => log,
    errors: () => errors,
    ended,
    async [Symbol.asyncDispose]() {
      child.kill('SIGTERM');
      await ended;
    },
  };
}
