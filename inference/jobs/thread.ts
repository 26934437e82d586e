import { Worker } from 'node:worker_threads';
import { DocumentFault, type OnPages } from '#/ports/documents.ts';
import type { Task, TaskMessage, ThreadMessage } from './messages.ts';

/** Bounds of a thread and of its tasks. */
export interface ThreadLimits {
  readonly jobMs: number;
  readonly stepMs: number;
  readonly heapMib: number;
  /** How long a cancelled task may take to notice. */
  readonly graceMs: number;
}

/** How a task ended: its result as JSON, or its fault. `cause`: name of an error that no format foresaw. */
export type Outcome =
  | { readonly kind: 'done'; readonly json: Uint8Array }
  | { readonly kind: 'fault'; readonly fault: DocumentFault; readonly cause?: string };

/** Why a thread was ended in the middle of a task. */
export type KillReason = 'time' | 'memory' | 'crash' | 'given_up';

interface Running {
  readonly finish: (outcome: Outcome) => void;
  readonly onPages: OnPages | undefined;
  readonly givenUp: Int32Array;
  readonly timers: { job: NodeJS.Timeout; step: NodeJS.Timeout };
}

const ENTRY = new URL('./worker.ts', import.meta.url);
const OUTLIVED = 'the document takes too long: split or simplify it';
const OUTGROWN = 'the document needs too much memory: split or simplify it';

/**
 * One thread and its task. Whatever happens in there, be it a loop without end, a heap that is full or an exit, ends in
 * an outcome; after a kill the thread is dead.
 */
export class Thread {
  readonly #limits: ThreadLimits;
  readonly #worker: Worker;
  readonly #onKill: (reason: KillReason) => void;
  #running: Running | undefined;
  #alive = true;
  /** Tasks that it has ended. */
  tasks = 0;
  /** What it held after its last task. */
  heapBytes = 0;
  /** When its task began, by `performance.now()`. */
  since = 0;

  constructor(limits: ThreadLimits, onKill: (reason: KillReason) => void) {
    this.#limits = limits;
    this.#onKill = onKill;
    this.#worker = new Worker(ENTRY, {
      // What libraries print may quote the document: it is read and dropped.
      stdout: true,
      stderr: true,
      env: {},
      resourceLimits: { maxOldGenerationSizeMb: limits.heapMib },
    });
    this.#worker.stdout.resume();
    this.#worker.stderr.resume();
    this.#worker.on('message', (message: ThreadMessage) => this.#hear(message));
    this.#worker.on('error', (error: Error & { code?: unknown }) => {
      const memory = error.code === 'ERR_WORKER_OUT_OF_MEMORY';
      this.#die(memory ? 'memory' : 'crash', memory ? OUTGROWN : undefined);
    });
    this.#worker.on('exit', () => this.#die('crash'));
  }

  get alive(): boolean {
    return this.#alive;
  }

  get busy(): boolean {
    return this.#running !== undefined;
  }

  /** Runs one task. The outcome is there when the thread is free again, or dead. */
  run(task: Task, signal: AbortSignal, onPages?: OnPages): Promise<Outcome> {
    const givenUp = new SharedArrayBuffer(4);
    const { promise, resolve } = Promise.withResolvers<Outcome>();
    const giveUp = (): void => this.#giveUp();
    this.since = performance.now();
    this.#running = {
      givenUp: new Int32Array(givenUp),
      onPages,
      timers: {
        job: setTimeout(() => this.#die('time', OUTLIVED), this.#limits.jobMs),
        step: setTimeout(() => this.#die('time', OUTLIVED), this.#limits.stepMs),
      },
      finish: (outcome) => {
        signal.removeEventListener('abort', giveUp);
        resolve(outcome);
      },
    };
    signal.addEventListener('abort', giveUp, { once: true });
    const message: TaskMessage = { task, givenUp };
    this.#worker.postMessage(message, task.verb === 'check' ? [] : [task.file.bytes.buffer as ArrayBuffer]);
    return promise;
  }

  /** Ends it and its task, which took too much memory. */
  killForMemory(): void {
    this.#die('memory', OUTGROWN);
  }

  async close(): Promise<void> {
    this.#alive = false;
    await this.#worker.terminate();
  }

  #hear(message: ThreadMessage): void {
    if (!this.#running) return;
    if (message.kind === 'step') {
      this.#running.timers.step.refresh();
      if (message.pages) this.#running.onPages?.(...message.pages);
      return;
    }
    this.tasks++;
    this.heapBytes = message.heapBytes;
    if (message.kind === 'done') return this.#finish({ kind: 'done', json: message.json });
    const fault = new DocumentFault(message.fault, message.message);
    this.#finish({ kind: 'fault', fault, ...(message.cause !== undefined && { cause: message.cause }) });
  }

  /** The task may end by itself at its next page; else it is ended. */
  #giveUp(): void {
    const running = this.#running;
    if (!running) return;
    Atomics.store(running.givenUp, 0, 1);
    clearTimeout(running.timers.step);
    running.timers.step = setTimeout(() => this.#die('given_up'), this.#limits.graceMs);
  }

  /** A thread that ended by itself in a task was brought down by the document. */
  #die(reason: KillReason, message?: string): void {
    if (!this.#alive) return this.#finish(crashed());
    this.#alive = false;
    this.#onKill(reason);
    void this.#worker.terminate();
    this.#finish(message === undefined ? crashed() : { kind: 'fault', fault: new DocumentFault('too_large', message) });
  }

  #finish(outcome: Outcome): void {
    const running = this.#running;
    if (!running) return;
    this.#running = undefined;
    clearTimeout(running.timers.job);
    clearTimeout(running.timers.step);
    running.finish(outcome);
  }
}

function crashed(): Outcome {
  return {
    kind: 'fault',
    fault: new DocumentFault('unreadable', 'the document could not be processed'),
    cause: 'crash',
  };
}
