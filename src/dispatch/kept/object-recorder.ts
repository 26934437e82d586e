import { Idle } from '#/runtime/idle.ts';
import type { KeptObject, KeptObjects } from '#/ports/kept-objects.ts';

export interface ObjectRecorderDeps {
  readonly store: Pick<KeptObjects, 'record'>;
  readonly onFault: (error: unknown) => void;
  /** Called with the number of records dropped because memory was full: no workload can use these objects. */
  readonly onDropped: (objects: number) => void;
}

const MAX_PENDING = 20_000;
const MAX_BATCH = 500;
/** How long an answer waits for its objects to be recorded. */
const PATIENCE_MS = 2000;
const RETRY_MS = [100, 500, 2000, 5000] as const;

/**
 * Records created objects, in batches, and again until the store accepts them. An answer waits until its objects are
 * recorded, so that its reader can use the ids at any gateway; while the store is away it does not wait, and until then
 * no workload can use the objects.
 */
export class ObjectRecorder {
  readonly #deps: ObjectRecorderDeps;
  readonly #idle = new Idle();
  readonly #queue: { readonly objects: readonly KeptObject[]; readonly done: () => void }[] = [];
  #pending = 0;
  #running = false;
  #failing = false;
  #stopped = false;

  constructor(deps: ObjectRecorderDeps) {
    this.#deps = deps;
  }

  get pending(): number {
    return this.#pending;
  }

  /** The store took what it was given last. */
  get well(): boolean {
    return !this.#failing;
  }

  /** Resolves when the objects are recorded, or when an answer need not wait for it any longer. */
  async record(objects: readonly KeptObject[]): Promise<void> {
    if (objects.length === 0) return;
    if (this.#stopped || this.#pending + objects.length > MAX_PENDING) return this.#deps.onDropped(objects.length);
    const recorded = Promise.withResolvers<void>();
    this.#queue.push({ objects, done: recorded.resolve });
    this.#pending += objects.length;
    if (!this.#running) void this.#run();
    if (this.#failing) return;
    const patience = setTimeout(recorded.resolve, PATIENCE_MS);
    await recorded.promise;
    clearTimeout(patience);
  }

  async drain(deadlineMs: number): Promise<void> {
    if (this.#pending > 0) await this.#idle.wait(deadlineMs);
  }

  stop(): void {
    this.#stopped = true;
  }

  async #run(): Promise<void> {
    this.#running = true;
    while (this.#queue.length > 0 && !this.#stopped) {
      let count = 0;
      for (let size = 0; count < this.#queue.length && (count === 0 || size < MAX_BATCH); count++)
        size += this.#queue[count]!.objects.length;
      const batch = this.#queue.splice(0, count);
      await this.#write(batch.flatMap(({ objects }) => objects));
      for (const { objects, done } of batch) {
        this.#pending -= objects.length;
        done();
      }
    }
    this.#running = false;
    this.#idle.rest();
  }

  async #write(objects: readonly KeptObject[]): Promise<void> {
    for (let attempt = 0; !this.#stopped; attempt++) {
      try {
        await this.#deps.store.record(objects);
        this.#failing = false;
        return;
      } catch (error) {
        this.#failing = true;
        this.#deps.onFault(error);
        // Callers have waited long enough.
        const wait = RETRY_MS[Math.min(attempt, RETRY_MS.length - 1)]!;
        await new Promise((resolve) => setTimeout(resolve, wait).unref());
      }
    }
  }
}
