import { Worker } from 'node:worker_threads';
import type { ModelKind } from './manifest.ts';
import type { Question, ThreadStart, ThreadWord } from './model-thread.ts';

/** Why a model gives no answer: all of its places are taken, or it is not there. */
export type NoAnswer = 'busy' | 'unavailable';

/** A question that was not answered. The message tells of the model, never of the question. */
export class Unanswered extends Error {
  override readonly name = 'Unanswered';
  readonly why: NoAnswer;

  constructor(why: NoAnswer, message: string) {
    super(message);
    this.why = why;
  }
}

export interface HostOptions extends ThreadStart {
  /** Questions in hand beside the one that runs. */
  readonly queueLength: number;
  /** Milliseconds of one question. */
  readonly answerMs: number;
}

/** A model in a thread of its own, which is ended when a question takes too long. */
export interface ModelHost {
  readonly kind: ModelKind;
  /** SHA-256 of its weights; undefined until it is loaded. */
  readonly revision: string | undefined;
  /** Why it cannot be asked, or undefined when it can. */
  readonly fault: string | undefined;
  /** Rejects with `Unanswered`, or with the signal's reason. */
  ask(input: unknown, signal: AbortSignal): Promise<unknown>;
  /** Resolves once it is loaded, or known not to be there. */
  settled(): Promise<void>;
  close(): Promise<void>;
}

const RESTART_MS = 1000;
const ENTRY = new URL('./model-thread.ts', import.meta.url);

/** Starts loading a model. One whose files are not as its manifest says stays unavailable: they are not tried again. */
export function openModelHost(options: HostOptions): ModelHost {
  return new Host(options);
}

interface Waiting {
  readonly input: unknown;
  readonly settle: (outcome: { readonly output: unknown } | { readonly fault: Unanswered }) => void;
}

class Host implements ModelHost {
  revision: string | undefined;
  fault: string | undefined = 'loading';
  readonly #options: HostOptions;
  readonly #loaded = Promise.withResolvers<void>();
  #thread: Worker | undefined;
  #queue: Waiting[] = [];
  #running: { readonly id: number; readonly waiting: Waiting; readonly timer: NodeJS.Timeout } | undefined;
  #asked = 0;
  #closed = false;

  constructor(options: HostOptions) {
    this.#options = options;
    this.#start();
  }

  get kind(): ModelKind {
    return this.#options.kind;
  }

  settled(): Promise<void> {
    return this.#loaded.promise;
  }

  ask(input: unknown, signal: AbortSignal): Promise<unknown> {
    signal.throwIfAborted();
    const { kind, queueLength } = this.#options;
    if (this.fault !== undefined && this.fault !== 'loading') return Promise.reject(this.#gone());
    const taken = this.#queue.length + (this.#running ? 1 : 0);
    if (taken > queueLength) return Promise.reject(new Unanswered('busy', `the model of ${kind} has no place left`));
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    const waiting: Waiting = {
      input,
      settle: (outcome) => {
        signal.removeEventListener('abort', leave);
        if ('output' in outcome) resolve(outcome.output);
        else reject(outcome.fault);
      },
    };
    const leave = (): void => {
      this.#queue = this.#queue.filter((each) => each !== waiting);
      reject(signal.reason as Error);
    };
    signal.addEventListener('abort', leave, { once: true });
    this.#queue.push(waiting);
    this.#next();
    return promise;
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#thread?.terminate();
  }

  #start(): void {
    const { kind, folder } = this.#options;
    const thread = new Worker(ENTRY, {
      workerData: { kind, folder } satisfies ThreadStart,
      // What libraries print may quote the text: it is read and dropped.
      stdout: true,
      stderr: true,
      env: {},
    });
    thread.stdout.resume();
    thread.stderr.resume();
    thread.on('message', (word: ThreadWord) => this.#hear(word));
    thread.on('error', () => this.#lost(thread));
    thread.on('exit', () => this.#lost(thread));
    this.#thread = thread;
  }

  #hear(word: ThreadWord): void {
    if (word.kind === 'ready') {
      this.revision = word.revision;
      this.fault = undefined;
      this.#loaded.resolve();
      this.#next();
    } else if (word.kind === 'failed') this.#fail(word.reason);
    else if (this.#running?.id === word.id) {
      const { waiting, timer } = this.#running;
      clearTimeout(timer);
      this.#running = undefined;
      waiting.settle(word.kind === 'answer' ? { output: word.output } : { fault: this.#gone() });
      this.#next();
    }
  }

  #next(): void {
    if (this.#running || this.fault !== undefined || !this.#thread) return;
    const waiting = this.#queue.shift();
    if (!waiting) return;
    const id = ++this.#asked;
    const timer = setTimeout(() => void this.#thread?.terminate(), this.#options.answerMs);
    this.#running = { id, waiting, timer };
    this.#thread.postMessage({ id, input: waiting.input } satisfies Question);
  }

  /** A thread that ended takes its question along; the others wait for its successor. */
  #lost(thread: Worker): void {
    if (this.#thread !== thread) return;
    this.#thread = undefined;
    const running = this.#running;
    this.#running = undefined;
    clearTimeout(running?.timer);
    running?.waiting.settle({ fault: this.#gone() });
    if (this.#closed) return this.#fail('closed');
    if (this.fault !== undefined && this.fault !== 'loading') return;
    this.fault = 'loading';
    setTimeout(() => {
      if (!this.#closed) this.#start();
    }, RESTART_MS).unref();
  }

  #fail(reason: string): void {
    this.fault = reason;
    this.#loaded.resolve();
    for (const waiting of this.#queue.splice(0)) waiting.settle({ fault: this.#gone() });
  }

  #gone(): Unanswered {
    return new Unanswered('unavailable', `the model of ${this.#options.kind} gives no answer`);
  }
}
