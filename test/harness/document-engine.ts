import { spawn, type ChildProcess } from 'node:child_process';
import { createInterface } from 'node:readline';
import { COMPILED } from './compile-cache.ts';

/** The document engine as its own process. */
export interface EngineProcess {
  /** `http://127.0.0.1:port`. */
  readonly url: string;
  readonly pid: number;
  /** Lines of its log so far. */
  readonly log: readonly string[];
  /** Resolves when it says that it is ready; rejects when it ended. */
  ready(): Promise<void>;
  /** Value of a metric, by name with labels; 0 when it is not there. */
  metric(name: string): Promise<number>;
  /** Closes its stdin. */
  hangUp(): void;
  /** SIGTERM, and its exit code. */
  stop(): Promise<number | null>;
  readonly exited: Promise<number | null>;
}

/** The models of this repository. */
export const MODELS = new URL('../../inference/models', import.meta.url).pathname;
const NO_MODELS = new URL('no-models', import.meta.url).pathname;
const MAIN = new URL('../../inference/main.ts', import.meta.url).pathname;
const running = new Set<ChildProcess>();
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

/**
 * Starts `inference/main.ts` on a free port and waits until it listens. Rejects with its log when it ends before. There are
 * no local models unless `GW_MODELS_DIR` names some: what they find is for tests of theirs.
 */
export async function startDocumentEngine(env: Readonly<Record<string, string>> = {}): Promise<EngineProcess> {
  const child = spawn(process.execPath, [MAIN], {
    stdio: ['pipe', 'pipe', 'pipe'],
    env: { ...COMPILED, MALLOC_ARENA_MAX: '2', PORT: '0', GW_INFERENCE_WORKERS: '1', GW_MODELS_DIR: NO_MODELS, ...env },
  });
  running.add(child);
  const log: string[] = [];
  const exited = new Promise<number | null>((resolve) => {
    child.once('exit', (code) => {
      running.delete(child);
      resolve(code);
    });
  });
  const url = await new Promise<string>((resolve, reject) => {
    const hear = (line: string): void => {
      log.push(line);
      if (line.includes('"inference.listening"')) resolve((JSON.parse(line) as { url: string }).url);
    };
    createInterface(child.stdout).on('line', hear);
    createInterface(child.stderr).on('line', hear);
    void exited.then((code) => reject(new Error(`the engine ended with ${code}:\n${log.join('\n')}`)));
  });
  return {
    url,
    pid: child.pid ?? 0,
    log,
    exited,
    async ready() {
      while ((await fetch(`${url}/readyz`)).status !== 200) await new Promise((resolve) => setTimeout(resolve, 100));
    },
    async metric(name) {
      const text = await (await fetch(`${url}/metrics`)).text();
      return Number(
        text
          .split('\n')
          .find((line) => line.startsWith(`${name} `))
          ?.split(' ')[1] ?? 0,
      );
    },
    hangUp: () => child.stdin.end(),
    stop() {
      child.kill('SIGTERM');
      return exited;
    },
  };
}
