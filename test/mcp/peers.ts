import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';

const PEERS = join(import.meta.dirname, '../../tools/mcp');
const run = promisify(execFile);

/** Programs of `tools/mcp` that run until this is disposed of. */
export class Peers implements Disposable {
  readonly #children: ChildProcess[] = [];

  /** Starts a program and waits for what it says when it is ready. */
  start(
    path: string,
    args: readonly string[],
    ready: RegExp,
    env: Readonly<Record<string, string>> = {},
  ): Promise<string> {
    const child = spawn(process.execPath, [join(PEERS, path), ...args], { env: { PATH: process.env['PATH'], ...env } });
    this.#children.push(child);
    return new Promise((resolve, reject) => {
      let said = '';
      const hear = (bytes: Buffer): void => {
        said += bytes.toString();
        const found = ready.exec(said);
        if (found) resolve(found[0]);
      };
      child.stdout.on('data', hear);
      child.stderr.on('data', hear);
      child.on('exit', (code) => reject(new Error(`${path} ended with ${code}: ${said}`)));
    });
  }

  [Symbol.dispose](): void {
    for (const child of this.#children) child.kill('SIGKILL');
  }
}

export interface ReadsReport {
  readonly capabilities: Readonly<Record<string, object>>;
  readonly instructions?: string;
  readonly answers: readonly {
    readonly failed?: number;
    readonly message?: string;
    readonly [member: string]: unknown;
  }[];
}

/** What a client of a library (`v1`, `v2`, `auto`) learns by its requests. */
export async function asClient(
  library: string,
  url: string,
  key: string,
  requests: readonly (readonly [method: string, params: object])[],
): Promise<ReadsReport> {
  const args = [join(PEERS, 'reads-client.js'), library, url, key, JSON.stringify(requests)];
  const { stdout } = await run(process.execPath, args, { timeout: 40_000 });
  return JSON.parse(stdout) as ReadsReport;
}
