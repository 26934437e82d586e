import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** Programs of others that tests run as they are: servers until the end of the test, clients until they have spoken. */

const ROOT = join(import.meta.dirname, '../..');
const NODE_PEERS = join(ROOT, 'tools/mcp');
const PYTHON_PEERS = join(import.meta.dirname, 'python');
const run = promisify(execFile);

/** A program with its first arguments. */
export type Program = readonly [file: string, ...args: string[]];

/** A script of `tools/mcp`, or of its packages. */
export function node(script: string): Program {
  return [process.execPath, join(NODE_PEERS, script)];
}

/** A script of `test/mcp/python` in one of the environments that `make mcp` makes. */
export function python(script: string, environment = 'mcp'): Program {
  return [join(ROOT, '.tools', environment, 'bin/python'), join(PYTHON_PEERS, script)];
}

export const EVERYTHING = 'node_modules/@modelcontextprotocol/server-everything/dist/index.js';

/** Servers that a test started; ends them when it is disposed. */
export class Peers implements Disposable {
  readonly #children: ChildProcess[] = [];

  /** Starts a server and waits until it says that it is ready. Resolves with those words. */
  start(
    [file, ...first]: Program,
    args: readonly string[],
    ready: RegExp,
    env: Readonly<Record<string, string>> = {},
  ): Promise<string> {
    const child = spawn(file, [...first, ...args], { env: { PATH: process.env['PATH'], ...env } });
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
      child.on('error', reject);
      child.on('exit', (code) => reject(new Error(`${first[0]} ended with ${code}: ${said}`)));
    });
  }

  [Symbol.dispose](): void {
    for (const child of this.#children) child.kill('SIGKILL');
  }
}

/** What a client says when it is done: one JSON document. */
export async function speak<T>([file, ...first]: Program, args: readonly string[]): Promise<T> {
  const { stdout } = await run(file, [...first, ...args], { timeout: 60_000, maxBuffer: 16 * 1024 * 1024 });
  return JSON.parse(stdout) as T;
}
