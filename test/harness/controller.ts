import { spawn } from 'node:child_process';
import { COMPILED } from './compile-cache.ts';

/** The controller as its own process. */
export interface ControllerProcess {
  readonly adminUrl: string;
  readonly pid: number;
  readonly log: readonly string[];
  /** SIGTERM, and its exit code. */
  stop(): Promise<number | null>;
  /** SIGKILL. */
  kill(): Promise<void>;
  signal(name: 'SIGSTOP' | 'SIGCONT'): void;
}

const MAIN = new URL('../../operators/main.ts', import.meta.url).pathname;

/** Starts `operators/main.ts` and waits until it listens. Rejects with its log when it ends before. */
export async function startControllerProcess(env: Readonly<Record<string, string>>): Promise<ControllerProcess> {
  const { PATH, HOME } = process.env;
  const child = spawn(process.execPath, [MAIN], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH, HOME, ...COMPILED, ADMIN_PORT: '0', GW_LEASE_SECONDS: '3', ...env },
  });
  const killChild = (): boolean => child.kill('SIGKILL');
  process.once('exit', killChild);
  const exited = new Promise<number | null>((resolve) =>
    child.once('exit', (code) => {
      process.removeListener('exit', killChild);
      resolve(code);
    }),
  );
  const log: string[] = [];
  const adminUrl = await new Promise<string>((resolve, reject) => {
    let rest = '';
    const read = (chunk: Buffer): void => {
      const lines = (rest + chunk.toString('utf8')).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) {
        log.push(line);
        if (line.includes('"controller.listening"')) resolve((JSON.parse(line) as { admin: string }).admin);
      }
    };
    child.stdout.on('data', read);
    child.stderr.on('data', read);
    void exited.then((code) => reject(new Error(`the controller ended with ${code}:\n${log.join('\n')}`)));
  });
  return {
    adminUrl,
    pid: child.pid!,
    log,
    stop() {
      child.kill('SIGTERM');
      return exited;
    },
    async kill() {
      child.kill('SIGKILL');
      await exited;
    },
    signal: (name) => void child.kill(name),
  };
}
