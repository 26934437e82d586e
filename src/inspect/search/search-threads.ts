import { Worker } from 'node:worker_threads';
import { inSlices } from '#/runtime/loop-slices.ts';
import { threadEnvironment } from '#/runtime/thread-environment.ts';
import { finish, type Steps } from '#/wire/document/steps.ts';
import type { DetectionOptions } from '../detectors/list.ts';
import { FairPlaces, type Asker } from '#/runtime/fair-places.ts';
import { DetectionUnavailable, SearchTooLarge, type Matches, type Search } from '../detection.ts';
import { isHandedInPieces, piecesOf } from './text-pieces.ts';
import { MOST_MATCHES, unpackMatches, type PackedMatches } from './match-pack.ts';

/** What an installation may set about the threads. */
export interface ThreadOptions {
  /** Threads at most, started when first needed; default 2. All but one are for texts that are not very large. */
  readonly workers?: number;
  /** What one organization may have waiting at most: jobs, default 32, and code units, default 64 Mi. One job it may have. */
  readonly maxJobs?: number;
  readonly maxChars?: number;
  /** Code units that wait at most, over all organizations; default 256 Mi. */
  readonly maxTotalChars?: number;
  /** A job that is not done after so long is given up; default 60,000. */
  readonly deadlineMs?: number;
  /** A turn that lasts longer ends with its thread; default 20,000. */
  readonly longestTurnMs?: number;
  /** The module a thread runs; by default the one beside this file. */
  readonly threadModule?: URL;
}

/**
 * What a thread is told: to give a job a turn, with its search the first time, or to forget it. Many or long texts come
 * beforehand, and their search without them; `goesOn`: the first of these texts is more of the last one before.
 */
export type Order =
  | { readonly kind: 'turn'; readonly id: number; readonly search?: Search }
  | { readonly kind: 'texts'; readonly id: number; readonly texts: readonly string[]; readonly goesOn: boolean }
  | { readonly kind: 'drop'; readonly id: number };

/** What a thread answers to a turn; neither found nor failed: there is more to do. */
export interface Answer {
  readonly id: number;
  readonly found?: PackedMatches;
  readonly failed?: 'too many matches' | 'fault';
}

const MAX_ATTEMPTS = 2;
/** A longer text is very large: it is searched by the first thread only, so that others have one for themselves. */
const VERY_LARGE = 1024 * 1024;
/** A turn of a job that nobody waits for any more is over after so long, or its thread is ended. */
const LEFT_TURN_MS = 1000;
/** A job that has worked for this share of its time is too large itself: it did not wait for others. */
const OWN_SHARE = 0.5;
/** Matches are unpacked in turns where there are so many. */
const MANY_NUMBERS = 16_384;

interface Job {
  readonly id: number;
  readonly asker: Asker;
  readonly search: Search;
  readonly chars: number;
  readonly resolve: (found: Matches) => void;
  readonly reject: (error: unknown) => void;
  /** The thread that has begun it. */
  thread: Thread | undefined;
  /** Times that it was begun. */
  attempts: number;
  workedMs: number;
  settled: boolean;
}

interface Thread {
  readonly worker: Worker;
  /** The job whose turn it is. */
  turn: { readonly job: Job; readonly since: number } | undefined;
  watch: NodeJS.Timeout | undefined;
  /** A turn lasted too long. */
  cut: boolean;
}

/** Threads that give each job a turn of a moment, by organization and workload, until it is done. */
export class SearchThreads {
  readonly #rules: DetectionOptions;
  readonly #options: Required<ThreadOptions>;
  readonly #threads: (Thread | undefined)[];
  readonly #jobs = new FairPlaces<Job>();
  #chars = 0;
  #veryLarge = 0;
  #nextId = 1;
  #closed = false;

  constructor(rules: DetectionOptions, options: ThreadOptions) {
    this.#rules = rules;
    const { workers = 2, maxJobs = 32, maxChars = 64 * 1024 * 1024, maxTotalChars = 256 * 1024 * 1024 } = options;
    const { deadlineMs = 60_000, longestTurnMs = 20_000 } = options;
    const threadModule = options.threadModule ?? new URL('./detect-thread.ts', import.meta.url);
    this.#options = { workers, maxJobs, maxChars, maxTotalChars, deadlineMs, longestTurnMs, threadModule };
    this.#threads = Array.from({ length: workers }, () => undefined);
  }

  async run(search: Search, chars: number, signal: AbortSignal | undefined, asker: Asker): Promise<Matches> {
    if (this.#closed) throw new DetectionUnavailable('the detection pool is closed');
    this.#requireRoom(asker, chars);
    const { promise, resolve, reject } = Promise.withResolvers<Matches>();
    const state = { thread: undefined, attempts: 0, workedMs: 0, settled: false };
    const job: Job = { id: this.#nextId++, asker, search, chars, resolve, reject, ...state };
    const leave = (): void => this.#leave(job, signal?.reason);
    signal?.addEventListener('abort', leave, { once: true });
    const deadline = setTimeout(() => this.#leave(job, this.#late(job)), this.#options.deadlineMs);
    this.#jobs.add(job);
    this.#chars += chars;
    if (chars > VERY_LARGE) this.#veryLarge += 1;
    this.#dispatch();
    try {
      return await promise;
    } finally {
      clearTimeout(deadline);
      signal?.removeEventListener('abort', leave);
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    const workers = this.#threads.flatMap((thread) => thread?.worker ?? []);
    for (const thread of this.#threads) clearTimeout(thread?.watch);
    this.#threads.fill(undefined);
    for (const job of [...this.#jobs]) this.#fail(job, new DetectionUnavailable('the detection pool was closed'));
    await Promise.all(workers.map((worker) => worker.terminate()));
  }

  /** An organization that has nothing waiting is let in, whatever others have; memory has its own bound. */
  #requireRoom({ organization }: Asker, chars: number): void {
    const { maxJobs, maxChars, maxTotalChars } = this.#options;
    const own = [...this.#jobs.of(organization)];
    if (own.length === 0 && this.#chars <= maxTotalChars) return;
    const ownChars = own.reduce((sum, job) => sum + job.chars, chars);
    if (own.length >= maxJobs || ownChars > maxChars || this.#chars + chars > maxTotalChars)
      throw new DetectionUnavailable('too many large texts are waiting to be searched');
  }

  #late({ workedMs, thread, id }: Job): Error {
    const now = thread?.turn?.job.id === id ? performance.now() - thread.turn.since : 0;
    return workedMs + now > this.#options.deadlineMs * OWN_SHARE
      ? new SearchTooLarge('the texts take too long to search')
      : new DetectionUnavailable('the texts were not searched in time');
  }

  /** Nobody waits for a job any more: it has no more slices, and the one that it has may not last. */
  #leave(job: Job, reason: unknown): void {
    if (job.settled) return;
    this.#fail(job, reason);
    const { thread } = job;
    if (!thread) return;
    if (thread.turn?.job === job) this.#watch(thread, LEFT_TURN_MS);
    else tell(thread, { kind: 'drop', id: job.id });
  }

  #fail(job: Job, reason: unknown): void {
    this.#forget(job);
    job.reject(reason);
  }

  #forget(job: Job): void {
    job.settled = true;
    this.#jobs.delete(job);
    this.#chars -= job.chars;
    if (job.chars > VERY_LARGE) this.#veryLarge -= 1;
  }

  #dispatch(): void {
    // The first thread comes last: what others may do is theirs.
    for (let place = this.#threads.length - 1; place >= 0; place--) {
      const thread = this.#threads[place];
      if (thread?.turn) continue;
      const takes = (job: Job): boolean => this.#takes(place, job);
      const job = this.#jobs.next((one) => (one.thread ? one.thread === thread : takes(one)));
      if (job) this.#begin(thread ?? this.#start(place), job);
    }
  }

  /** Very large texts are the first thread's, which has no others meanwhile: a step of theirs may take long. */
  #takes(place: number, { chars }: Job): boolean {
    if (this.#threads.length === 1) return true;
    return place === 0 ? chars > VERY_LARGE || this.#veryLarge === 0 : chars <= VERY_LARGE;
  }

  #begin(thread: Thread, job: Job): void {
    const isNew = job.thread === undefined;
    if (isNew) job.attempts += 1;
    job.thread = thread;
    thread.turn = { job, since: performance.now() };
    thread.worker.ref();
    if (!isNew || !isHandedInPieces(job.search, job.chars)) {
      this.#watch(thread, this.#options.longestTurnMs);
      tell(thread, { kind: 'turn', id: job.id, ...(isNew && { search: job.search }) });
    } else void inSlices(job.asker, this.#handOver(thread, job));
  }

  /** A copy is made of what a thread is told: of much of it, one piece in a step. */
  *#handOver(thread: Thread, job: Job): Steps<void> {
    const { id, search } = job;
    for (const { texts, goesOn } of piecesOf(search.texts)) {
      // The thread is gone, and the job with it or begun anew.
      if (!this.#threads.includes(thread)) return;
      if (job.settled) break;
      tell(thread, { kind: 'texts', id, texts, goesOn });
      yield;
    }
    if (!this.#threads.includes(thread)) return;
    if (job.settled) {
      this.#release(thread);
      tell(thread, { kind: 'drop', id });
      return this.#dispatch();
    }
    thread.turn = { job, since: performance.now() };
    this.#watch(thread, this.#options.longestTurnMs);
    tell(thread, { kind: 'turn', id, search: { ...search, texts: [] } });
  }

  #watch(thread: Thread, ms: number): void {
    clearTimeout(thread.watch);
    thread.watch = setTimeout(() => {
      thread.cut = true;
      void thread.worker.terminate();
    }, ms);
  }

  /** A new thread. It sees nothing of the environment and none of the process's flags. */
  #start(place: number): Thread {
    const worker = new Worker(this.#options.threadModule, {
      workerData: this.#rules,
      env: threadEnvironment(),
      execArgv: [],
    });
    const thread: Thread = { worker, turn: undefined, watch: undefined, cut: false };
    this.#threads[place] = thread;
    worker.on('message', (answer: Answer) => this.#turned(thread, answer));
    worker.on('error', () => {});
    worker.on('exit', () => this.#replace(thread));
    return thread;
  }

  #release(thread: Thread): void {
    clearTimeout(thread.watch);
    thread.turn = undefined;
    thread.worker.unref();
  }

  /** A turn is over. */
  #turned(thread: Thread, { id, found, failed }: Answer): void {
    const { turn } = thread;
    if (turn?.job.id !== id) return;
    const { job, since } = turn;
    this.#release(thread);
    job.workedMs += performance.now() - since;
    if (job.settled) tell(thread, { kind: 'drop', id });
    else if (failed === 'fault') this.#fail(job, new DetectionUnavailable('the search failed'));
    else if (failed) this.#fail(job, new SearchTooLarge(`the texts have more than ${MOST_MATCHES} matches`));
    else if (found) {
      this.#forget(job);
      if (found.numbers.length < MANY_NUMBERS) job.resolve(finish(unpackMatches(found)));
      else inSlices(job.asker, unpackMatches(found)).then(job.resolve, job.reject);
    }
    this.#dispatch();
  }

  /** A thread is gone: what it had begun is begun anew; the job whose turn it was once, and then given up. */
  #replace(thread: Thread): void {
    const place = this.#threads.indexOf(thread);
    if (place < 0) return;
    clearTimeout(thread.watch);
    this.#threads[place] = undefined;
    const last = thread.turn?.job;
    for (const job of [...this.#jobs]) {
      if (job.thread !== thread) continue;
      job.thread = undefined;
      if (job !== last) job.attempts -= 1;
      else if (thread.cut) this.#fail(job, new SearchTooLarge('a step of the search took too long'));
      else if (job.attempts >= MAX_ATTEMPTS)
        this.#fail(job, new DetectionUnavailable('a detection thread failed twice on the same texts'));
    }
    this.#dispatch();
  }
}

function tell({ worker }: Thread, order: Order): void {
  worker.postMessage(order);
}
