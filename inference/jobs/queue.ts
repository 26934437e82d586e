import { DocumentFault } from '#/ports/documents.ts';

/** How long a client should wait when the queue is full. // spec 8 */
const RETRY_AFTER_MS = 2000;

/** A place among the jobs, taken before a request's body is read; given back by disposing. */
export interface Place extends Disposable {
  /** Resolves when the job may start; rejects with the signal's reason. */
  turn(signal: AbortSignal): Promise<void>;
}

/** Lets so many jobs run at a time and so many wait, first come first served; refuses the rest at once. */
export class JobQueue {
  readonly #slots: number;
  readonly #places: number;
  readonly #waiting: (() => void)[] = [];
  #taken = 0;
  #running = 0;

  constructor(options: { readonly slots: number; readonly length: number }) {
    this.#slots = options.slots;
    this.#places = options.slots + options.length;
  }

  get running(): number {
    return this.#running;
  }

  /** Those that wait for a thread, and those whose body is still being read. */
  get waiting(): number {
    return this.#taken - this.#running;
  }

  /** Takes a place. Throws `busy` when the queue is full. */
  enter(): Place {
    if (this.#taken >= this.#places)
      throw new DocumentFault('busy', 'too many documents at the same time', { retryAfterMs: RETRY_AFTER_MS });
    this.#taken++;
    let state: 'waiting' | 'running' | 'left' = 'waiting';
    return {
      turn: async (signal) => {
        signal.throwIfAborted();
        await this.#turn(signal);
        state = 'running';
      },
      [Symbol.dispose]: () => {
        if (state === 'left') return;
        this.#taken--;
        if (state === 'running') this.#pass();
        state = 'left';
      },
    };
  }

  async #turn(signal: AbortSignal): Promise<void> {
    if (this.#running < this.#slots) {
      this.#running++;
      return;
    }
    await new Promise<void>((resolve, reject) => {
      const start = (): void => {
        signal.removeEventListener('abort', give);
        resolve();
      };
      const give = (): void => {
        this.#waiting.splice(this.#waiting.indexOf(start), 1);
        reject(signal.reason as Error);
      };
      signal.addEventListener('abort', give, { once: true });
      this.#waiting.push(start);
    });
  }

  /** The next in line takes over the slot of one that ended. */
  #pass(): void {
    const next = this.#waiting.shift();
    if (next) next();
    else this.#running--;
  }
}
