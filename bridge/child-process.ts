import { spawn, type ChildProcessByStdio } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { Lines, type LongLine } from './lines.ts';

export interface ChildOptions {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Bytes of a line that are kept. */
  readonly maxBytes: number;
  readonly onLine: (line: string) => void;
  readonly onLong: (line: LongLine) => void;
  /** Lines of standard error that were dropped, because there were too many. */
  readonly onDropped: (lines: number) => void;
}

/** How a program ended. */
export interface ChildEnd {
  readonly code: number | undefined;
  readonly signal: string | undefined;
}

/** Bytes that wait to be read by the program, beyond which it gets no more requests. */
const MOST_WAITING = 16 * 1024 * 1024;
/** How long it may take to end by itself, and then to be ended. */
const END_MS = 2000;
/** How long the rest of its output may take once it has ended. */
const REST_MS = 500;
/** Lines of standard error that are passed on in a second, and characters of each. */
const MOST_LINES = 100;
const MOST_LETTERS = 2000;

/** A program that is run without a shell, in a group of its own, so that what it starts ends with it. */
export class ChildProgram {
  /** Resolves when it has ended. Rejects where it cannot be started. */
  readonly ended: Promise<ChildEnd>;
  readonly #child: ChildProcessByStdio<Writable, Readable, Readable>;
  #hasEnded = false;

  constructor(options: ChildOptions) {
    const { command, args, env, maxBytes, onLine, onLong } = options;
    const child = spawn(command, [...args], { env, stdio: ['pipe', 'pipe', 'pipe'], detached: true, shell: false });
    this.#child = child;
    this.ended = new Promise((resolve, reject) => {
      child.once('error', reject);
      child.once('exit', (code, signal) => {
        this.#hasEnded = true;
        this.#kill('SIGKILL');
        const settle = (): void => resolve({ code: code ?? undefined, signal: signal ?? undefined });
        // All that it wrote has then been read. What left its group may hold its output open for as long as it likes.
        child.once('close', settle);
        setTimeout(() => {
          for (const output of [child.stdout, child.stderr]) output.destroy();
          settle();
        }, REST_MS).unref();
      });
    });
    const lines = new Lines(maxBytes, onLine, onLong);
    child.stdout.on('data', (chunk: Buffer) => lines.push(chunk)).on('error', () => undefined);
    // It may end before it has read all.
    child.stdin.on('error', () => undefined);
    passOn(child.stderr, options.onDropped);
  }

  /** Whether it reads what it is sent. */
  get isReading(): boolean {
    return this.#child.stdin.writableLength < MOST_WAITING;
  }

  /** Sends one line. */
  write(line: string): void {
    if (!this.#hasEnded && this.#child.stdin.writable) this.#child.stdin.write(`${line}\n`);
  }

  /** Ends it: first its input, then by signals. // MCP 2025-11-25, stdio shutdown */
  async end(): Promise<void> {
    this.#child.stdin.end();
    for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
      await Promise.race([this.ended.catch(() => undefined), sleep(END_MS)]);
      if (this.#hasEnded) return;
      this.#kill(signal);
    }
    await this.ended.catch(() => undefined);
  }

  #kill(signal: NodeJS.Signals): void {
    const { pid } = this.#child;
    if (pid === undefined) return;
    try {
      process.kill(-pid, signal);
    } catch {
      // There is no one left in its group.
    }
  }
}

/** Standard error is for the operator of the server: it goes on to ours, line by line, within a bound. */
function passOn(stderr: Readable, onDropped: (lines: number) => void): void {
  let [second, passed, dropped] = [0, 0, 0];
  const pass = (line: string): void => {
    const now = Math.floor(performance.now() / 1000);
    if (now !== second) {
      if (dropped > 0) onDropped(dropped);
      [second, passed, dropped] = [now, 0, 0];
    }
    if (passed >= MOST_LINES) return void (dropped += 1);
    passed += 1;
    process.stderr.write(`${line.slice(0, MOST_LETTERS)}\n`);
  };
  const lines = new Lines(64 * 1024, pass, ({ head }) => pass(`${head}…`));
  stderr.on('data', (chunk: Buffer) => lines.push(chunk)).on('error', () => undefined);
  stderr.on('end', () => {
    if (dropped > 0) onDropped(dropped);
  });
}
