import { existsSync } from 'node:fs';
import { Worker } from 'node:worker_threads';
import type { ModelKind } from './manifest.ts';
import type { Question, ThreadStart, ThreadWord } from './model-thread.ts';

/** Why a model gives no answer: its queue is full, it is not available, or the input is too long. */
export type NoAnswer = 'busy' | 'unavailable' | 'too_long';

/** A question that was not answered. The message tells of the model, never of the question. */
export class Unanswered extends Error {
  override readonly name = 'Unanswered';
  readonly why: NoAnswer;
  /** Which of the questions is too long, from 0; undefined: all of them together. */
  readonly question: number | undefined;

  constructor(why: NoAnswer, message: string, question?: number) {
    super(message);
    this.why = why;
    this.question = question;
  }
}

export interface HostOptions extends ThreadStart {
  /** What it is called where several answer with one model; by default its kind. */
  readonly name?: string;
  /** Whether its thread is started by the first question. */
  readonly isLate?: boolean;
  /** Questions that may wait, in addition to the running one. */
  readonly queueLength: number;
  /** Milliseconds from a question to its answer, waiting included. */
  readonly answerMs: number;
  /** Told when it can be asked (undefined), or why it cannot. */
  readonly onState: (fault: string | undefined) => void;
}

/** A model in a thread of its own, which is ended when a question takes too long. */
export interface ModelHost {
  readonly name: string;
  readonly kind: ModelKind;
  /** Whether it has a folder at all; one that cannot be loaded from there is missed. */
  readonly installed: boolean;
  /** SHA-256 of its weights; undefined until it is loaded. */
  readonly revision: string | undefined;
  /** Why it cannot be asked, or undefined when it can. */
  readonly fault: string | undefined;
  /** Questions in its thread: 0 or 1. */
  readonly running: number;
  readonly waiting: number;
  /** Rejects with `Unanswered`, or with the signal's reason. */
  ask(input: object, signal: AbortSignal): Promise<object>;
  close(): Promise<void>;
}

const RESTART_MS = 1000;
const LOADING = 'loading';
/** How long a thread may take to return from native code after its caller left. */
const END_MS = 60_000;
const ENTRY = new URL('./model-thread.ts', import.meta.url);

/** Starts loading a model. One whose files are not as its manifest says stays unavailable: they are not tried again. */
export function openModelHost(options: HostOptions): ModelHost {
  return new Host(options);
}

interface Waiting {
  readonly input: object;
  readonly settle: (outcome: { readonly output: object } | { readonly fault: Unanswered }) => void;
}

class Host implements ModelHost {
  revision: string | undefined;
  fault: string | undefined = LOADING;
  readonly installed: boolean;
  readonly #options: HostOptions;
  #thread: Worker | undefined;
  #queue: Waiting[] = [];
  #running: { readonly id: number; readonly waiting: Waiting } | undefined;
  #asked = 0;
  #began = false;
  #closed = false;

  constructor(options: HostOptions) {
    this.#options = options;
    this.installed = existsSync(options.folder);
    if (options.isLate === true) this.fault = undefined;
    else this.#start();
  }

  get name(): string {
    return this.#options.name ?? this.kind;
  }

  get kind(): ModelKind {
    return this.#options.kind;
  }

  get running(): number {
    return this.#running ? 1 : 0;
  }

  get waiting(): number {
    return this.#queue.length;
  }

  ask(input: object, signal: AbortSignal): Promise<object> {
    signal.throwIfAborted();
    const { kind, queueLength, answerMs } = this.#options;
    if (this.fault !== undefined && this.fault !== LOADING) return Promise.reject(this.#gone());
    if (this.waiting + this.running > queueLength)
      return Promise.reject(new Unanswered('busy', `the queue of the ${kind} model is full`));
    const { promise, resolve, reject } = Promise.withResolvers<object>();
    const waiting: Waiting = {
      input,
      settle: (outcome) => {
        clearTimeout(timer);
        signal.removeEventListener('abort', leave);
        if ('output' in outcome) resolve(outcome.output);
        else reject(outcome.fault);
      },
    };
    const leave = (): void => {
      // A running question continues without its caller, and still has to end in time.
      if (this.#running?.waiting !== waiting) clearTimeout(timer);
      this.#queue = this.#queue.filter((each) => each !== waiting);
      reject(signal.reason as Error);
    };
    const timer = setTimeout(() => this.#late(waiting), answerMs);
    signal.addEventListener('abort', leave, { once: true });
    this.#queue.push(waiting);
    if (this.#options.isLate === true && !this.#began) this.#start();
    this.#next();
    return promise;
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#thread?.terminate();
  }

  #start(): void {
    this.#began = true;
    this.fault = LOADING;
    const { kind, folder, device } = this.#options;
    const thread = new Worker(ENTRY, {
      workerData: { kind, folder, device } satisfies ThreadStart,
      // What libraries print may quote the text: it is read and dropped.
      stdout: true,
      stderr: true,
      env: {},
    });
    thread.stdout.resume();
    thread.stderr.resume();
    thread.on('message', (word: ThreadWord) => {
      if (this.#thread === thread) this.#hear(word);
    });
    thread.on('error', () => this.#lost(thread));
    thread.on('exit', () => this.#lost(thread));
    this.#thread = thread;
  }

  #hear(word: ThreadWord): void {
    if (word.kind === 'ready') {
      this.revision = word.revision;
      this.#become(undefined);
      this.#next();
    } else if (word.kind === 'failed') this.#fail(word.reason);
    else if (this.#running?.id === word.id) {
      const { waiting } = this.#running;
      this.#running = undefined;
      waiting.settle(word.kind === 'answer' ? { output: word.output } : { fault: this.#refusal(word) });
      this.#next();
    }
  }

  #next(): void {
    if (this.#running || this.fault !== undefined || !this.#thread) return;
    const waiting = this.#queue.shift();
    if (!waiting) return;
    const id = ++this.#asked;
    this.#running = { id, waiting };
    this.#thread.postMessage({ id, input: waiting.input } satisfies Question);
  }

  /** Out of time: what runs takes its thread along, which native code may keep for a while yet. */
  #late(waiting: Waiting): void {
    if (this.#running?.waiting === waiting) {
      const thread = this.#thread;
      if (thread) this.#lost(thread);
      if (thread) end(thread);
    } else if (this.#queue.includes(waiting)) {
      this.#queue = this.#queue.filter((each) => each !== waiting);
      const { kind } = this.#options;
      waiting.settle({ fault: new Unanswered('busy', `the ${kind} model did not answer in time`) });
    }
  }

  /** A thread that ended takes its question along; the others wait for its successor. */
  #lost(thread: Worker): void {
    if (this.#thread !== thread) return;
    this.#thread = undefined;
    const running = this.#running;
    this.#running = undefined;
    running?.waiting.settle({ fault: this.#gone() });
    if (this.#closed) return this.#fail('closed');
    if (this.fault !== undefined && this.fault !== LOADING) return;
    this.#become(LOADING);
    setTimeout(() => {
      if (!this.#closed) this.#start();
    }, RESTART_MS).unref();
  }

  #fail(reason: string): void {
    this.#become(reason);
    for (const waiting of this.#queue.splice(0)) waiting.settle({ fault: this.#gone() });
  }

  #become(fault: string | undefined): void {
    this.fault = fault;
    this.#options.onState(fault);
  }

  #refusal(word: Exclude<ThreadWord, { readonly kind: 'answer' }>): Unanswered {
    if (word.kind !== 'too_long') return this.#gone();
    const what = word.question === undefined ? 'the questions are' : `question ${word.question} is`;
    return new Unanswered('too_long', `${what} longer than the ${this.kind} model can read`, word.question);
  }

  #gone(): Unanswered {
    return new Unanswered('unavailable', `the ${this.#options.kind} model does not answer`);
  }
}

/** Ended in the middle of a native run, a thread would take the process along: it ends itself as soon as it can. */
function end(thread: Worker): void {
  thread.unref();
  thread.postMessage('end');
  const timer = setTimeout(() => void thread.terminate(), END_MS).unref();
  thread.once('exit', () => clearTimeout(timer));
}
