import { execFile } from 'node:child_process';
import { COMPILED } from './compile-cache.ts';

/** What a run of `gwctl` said, and how it ended. */
export interface GwctlRun {
  /** Its exit code; -1 where a signal ended it. */
  readonly status: number;
  readonly out: string;
  readonly err: string;
}

export interface GwctlOptions {
  /** All of its environment: nothing of ours comes along. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly cwd?: string;
}

const MAIN = new URL('../../src/cli/gwctl.ts', import.meta.url).pathname;
const MOST_OUTPUT_BYTES = 2 ** 24;

/** Runs `src/cli/gwctl.ts` as a process of its own until it ends. */
export function runGwctl(args: readonly string[], { env, cwd }: GwctlOptions = {}): Promise<GwctlRun> {
  const options = { env: { ...COMPILED, ...env }, cwd, maxBuffer: MOST_OUTPUT_BYTES };
  return new Promise((resolve) => {
    execFile(process.execPath, [MAIN, ...args], options, (error, out, err) => {
      resolve({ status: typeof error?.code === 'number' ? error.code : error ? -1 : 0, out, err });
    });
  });
}
