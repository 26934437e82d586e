import { randomUUID } from 'node:crypto';
import type { JobBook } from '#/ports/document-jobs.ts';
import { LEASE_MS, MOST_TAKES, runJob, type JobRunDeps } from './job-run.ts';

export interface JobRunnerDeps extends JobRunDeps {
  readonly book: Pick<JobBook, 'waiting'>;
  /** Jobs at a time. */
  readonly atOnce: number;
  /** Counts a job among the calls that a process that ends waits for. */
  readonly open: (stop: AbortController) => Disposable;
  readonly onFault: (error: unknown) => void;
}

/** Works on jobs in this process, as many at once as it may. */
export interface JobRunner {
  /** Jobs that this process works on. */
  readonly running: number;
  /** Jobs that wait, over all processes, when this one last looked. */
  readonly waiting: number;
  start(): void;
  /** There may be a job. */
  poke(): void;
  /** Removes files that are no longer needed, as soon as possible. */
  tidy(): void;
  /** Takes up no more jobs; those that run go on. */
  stop(): void;
}

/** Between two looks for jobs that other processes were handed, or left. */
const LOOK_MS = 1000;
const TIDY_MS = 60_000;
const COUNT_MS = 10_000;

export function createJobRunner(deps: JobRunnerDeps): JobRunner {
  return new Runner(deps);
}

class Runner implements JobRunner {
  readonly #deps: JobRunnerDeps;
  #running = 0;
  #waiting = 0;
  #timers: NodeJS.Timeout[] = [];
  #stopped = true;
  #looking = false;
  #lookAgain = false;
  #tidying = false;
  #tidyAgain = false;

  constructor(deps: JobRunnerDeps) {
    this.#deps = deps;
  }

  get running(): number {
    return this.#running;
  }

  get waiting(): number {
    return this.#waiting;
  }

  start(): void {
    this.#stopped = false;
    this.#timers = [
      setInterval(() => this.poke(), LOOK_MS),
      setInterval(() => this.tidy(), TIDY_MS),
      setInterval(() => void this.#count(), COUNT_MS),
    ];
    for (const timer of this.#timers) timer.unref();
    this.tidy();
    this.poke();
    void this.#count();
  }

  poke(): void {
    this.#lookAgain = true;
    if (!this.#looking) void this.#look();
  }

  tidy(): void {
    this.#tidyAgain = true;
    if (!this.#tidying) void this.#tidy();
  }

  stop(): void {
    this.#stopped = true;
    for (const timer of this.#timers) clearInterval(timer);
  }

  async #look(): Promise<void> {
    const { queue, atOnce, onFault } = this.#deps;
    this.#looking = true;
    while (this.#lookAgain && !this.#stopped && this.#running < atOnce) {
      this.#lookAgain = false;
      try {
        const job = await queue.take(randomUUID(), LEASE_MS, MOST_TAKES);
        // Where there was one, there may be more.
        if (job) this.#lookAgain = true;
        if (job) void this.#run(job);
      } catch (error) {
        onFault(error);
      }
    }
    this.#looking = false;
  }

  async #run(job: Parameters<typeof runJob>[0]): Promise<void> {
    this.#running++;
    const stop = new AbortController();
    try {
      using _open = this.#deps.open(stop);
      await runJob(job, stop, this.#deps);
    } catch (error) {
      this.#deps.onFault(error);
    } finally {
      this.#running--;
      this.tidy();
      this.poke();
    }
  }

  async #count(): Promise<void> {
    try {
      this.#waiting = await this.#deps.book.waiting();
    } catch (error) {
      this.#deps.onFault(error);
    }
  }

  async #tidy(): Promise<void> {
    const { queue, files, onFault } = this.#deps;
    this.#tidying = true;
    while (this.#tidyAgain) {
      this.#tidyAgain = false;
      try {
        const left = await queue.leftovers();
        for (const file of left) await files.remove(file);
        await queue.cleared(left);
        if (left.length > 0) this.#tidyAgain = true;
      } catch (error) {
        onFault(error);
      }
    }
    this.#tidying = false;
  }
}
