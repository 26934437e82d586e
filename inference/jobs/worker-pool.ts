import type { OnPages } from '#/ports/documents.ts';
import type { Task } from './messages.ts';
import { Thread, type KillReason, type Outcome, type ThreadLimits } from './thread.ts';

export interface PoolOptions {
  readonly workers: number;
  readonly limits: ThreadLimits;
  /** Tasks after which a thread is replaced. */
  readonly tasksPerThread: number;
  /** Memory of the process at which threads are replaced, or their tasks ended. */
  readonly maxRssBytes: number;
  readonly onKill: (reason: KillReason) => void;
}

/** Runs tasks in threads, as many at a time as there are threads. */
export interface WorkerPool {
  /** Never called more often at a time than there are workers: the queue sees to that. */
  run(task: Task, signal: AbortSignal, onPages?: OnPages): Promise<Outcome>;
  close(): Promise<void>;
}

const WATCH_MS = 500;
/** A thread that dies between tasks, before it did any, may do so for ever: its successor waits. */
const RESPAWN_MS = 1000;
/** Of the most the process may have: a thread that ends a task above it makes room for a new one. */
const HIGH = 0.8;

/**
 * Opens the pool. A thread that was killed, has done its share or has grown is replaced by a new one. When the process has
 * more memory than it may, the task that began last is ended: wasm memory is in no other bound.
 */
export function openWorkerPool(options: PoolOptions): WorkerPool {
  const threads = new Set<Thread>();
  let closed = false;
  const spawn = (): Thread => {
    const thread: Thread = new Thread(options.limits, (reason) => {
      threads.delete(thread);
      options.onKill(reason);
      if (!closed) setTimeout(fill, thread.tasks === 0 && reason === 'crash' ? RESPAWN_MS : 0).unref();
    });
    threads.add(thread);
    return thread;
  };
  const fill = (): void => {
    while (!closed && threads.size < options.workers) spawn();
  };
  const retire = (thread: Thread): void => {
    threads.delete(thread);
    void thread.close();
    fill();
  };
  const watch = setInterval(() => {
    if (process.memoryUsage.rss() <= options.maxRssBytes) return;
    const busy = [...threads].filter((thread) => thread.busy);
    busy.reduce((last, thread) => (last && last.since > thread.since ? last : thread), busy[0])?.killForMemory();
  }, WATCH_MS).unref();
  fill();
  return {
    async run(task, signal, onPages) {
      const thread = [...threads].find((one) => one.alive && !one.busy) ?? spawn();
      const outcome = await thread.run(task, signal, onPages);
      const grown =
        thread.heapBytes > options.limits.heapMib * 1024 * 1024 * HIGH ||
        process.memoryUsage.rss() > options.maxRssBytes * HIGH;
      if (thread.alive && (grown || thread.tasks >= options.tasksPerThread)) retire(thread);
      return outcome;
    },
    async close() {
      closed = true;
      clearInterval(watch);
      await Promise.all([...threads].map((thread) => thread.close()));
    },
  };
}
