import { spawn, type ChildProcess } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

/** The document engine as a child process, started again whenever it dies. */
export interface EngineChild {
  /** Where it listens; undefined until it does, and from its death until its successor does. */
  url(): string | undefined;
  /** Of the process that runs now. */
  pid(): number | undefined;
  /** Ends it for good: what it is working on may be finished within ten seconds. */
  stop(): Promise<void>;
}

export interface EngineChildOptions {
  /** Its whole environment, but for what says that it is a child. */
  readonly env: Readonly<Record<string, string>>;
  /** Takes a line of its log. */
  readonly onLine: (line: string) => void;
  /** Called when the engine ends without being asked to. */
  readonly onDeath: (exit: { readonly code: number | null; readonly signal: string | null }) => void;
}

const MAIN = fileURLToPath(new URL('../../inference/main.ts', import.meta.url));
const BACKOFF_MS = { first: 250, most: 10_000 };
/** One that ran so long was well: its successor starts as soon as the first did. */
const WELL_MS = 30_000;
const STOP_MS = 10_000;

/**
 * Starts the engine on a free port of loopback. It holds the other end of a pipe from this process and ends when that
 * closes, so that it does not outlive us however we end.
 */
export function startEngineChild(options: EngineChildOptions): EngineChild {
  let child: ChildProcess;
  let url: string | undefined;
  let stopped = false;
  let wait = BACKOFF_MS.first;
  let timer: NodeJS.Timeout | undefined;
  const start = (): void => {
    const began = performance.now();
    child = spawn(process.execPath, [MAIN], {
      stdio: ['pipe', 'pipe', 'inherit'],
      // As in its image: what ended threads have freed stays in the arenas of malloc.
      env: { ...options.env, HOST: '127.0.0.1', PORT: '0', GW_INFERENCE_CHILD: 'true', MALLOC_ARENA_MAX: '2' },
    });
    // Nothing is written to it: the pipe only exists to be closed.
    child.stdin?.on('error', () => {});
    child.once('error', () => {});
    if (child.stdout) {
      createInterface(child.stdout).on('line', (line) => {
        const told = listeningUrl(line);
        if (told === undefined) options.onLine(line);
        else url = told;
      });
    }
    child.once('close', (code, signal) => {
      url = undefined;
      if (stopped) return;
      options.onDeath({ code, signal });
      if (performance.now() - began > WELL_MS) wait = BACKOFF_MS.first;
      timer = setTimeout(start, wait);
      wait = Math.min(wait * 2, BACKOFF_MS.most);
    });
  };
  start();
  return {
    url: () => url,
    pid: () => child.pid,
    async stop() {
      stopped = true;
      clearTimeout(timer);
      if (child.exitCode !== null || child.signalCode !== null) return;
      const closed = new Promise((resolve) => child.once('close', resolve));
      child.kill('SIGTERM');
      const late = setTimeout(() => child.kill('SIGKILL'), STOP_MS);
      await closed;
      clearTimeout(late);
    },
  };
}

/** The address in the line that the engine prints first, or undefined for any other line. */
function listeningUrl(line: string): string | undefined {
  if (!line.startsWith('{"event":"inference.listening"')) return undefined;
  const { url } = JSON.parse(line) as { readonly url: string };
  return url;
}
