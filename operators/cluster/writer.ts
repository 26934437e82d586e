import { setTimeout as pause } from 'node:timers/promises';
import { ClusterFault } from '#/ports/cluster.ts';

export interface WriterOptions {
  /** Asked before each write, so that outdated states are not written. */
  readonly mayWrite: () => boolean;
  readonly onFault?: (error: unknown) => void;
  readonly atOnce?: number;
  readonly backoffMs?: readonly [least: number, most: number];
}

/** Writes to the cluster, a few at a time. */
export interface Writer {
  /** Does it soon; a task of the same name that has not begun is done no more. */
  put(name: string, task: () => Promise<void>): void;
  /** Tasks that wait or run. */
  readonly waiting: number;
  /** Writes that were done. */
  readonly done: number;
  clear(): void;
}

interface Task {
  readonly run: () => Promise<void>;
  readonly failures: number;
}

const GONE_OR_CHANGED = new Set([404, 409]);

/**
 * A queue of writes by name. One that fails is tried again, later each time; one that comes too late (the object is gone,
 * or was changed by others) is dropped: the watch reports that change.
 */
export function createWriter(options: WriterOptions): Writer {
  const { mayWrite, onFault, atOnce = 16, backoffMs: [least, most] = [250, 60_000] } = options;
  const tasks = new Map<string, Task>();
  let running = 0;
  let done = 0;

  const attempt = async (name: string, task: Task): Promise<void> => {
    tasks.delete(name);
    if (!mayWrite()) return;
    try {
      await task.run();
      done++;
    } catch (error) {
      const fault = error instanceof ClusterFault ? error : undefined;
      if (fault?.status !== undefined && GONE_OR_CHANGED.has(fault.status)) return;
      onFault?.(error);
      const wait = Math.min(most, least * 2 ** Math.min(task.failures, 12));
      // A server that asks for time is given it by this worker as well.
      if (fault?.retryAfterMs !== undefined) await pause(fault.retryAfterMs);
      setTimeout(() => {
        if (!tasks.has(name)) tasks.set(name, { run: task.run, failures: task.failures + 1 });
        wake();
      }, wait).unref();
    }
  };
  const work = async (): Promise<void> => {
    running++;
    try {
      for (let [first] = tasks; first; [first] = tasks) await attempt(...first);
    } finally {
      running--;
    }
  };
  // A worker that starts takes a task at once. Those that hang, or were asked to wait, do not count.
  const wake = (): void => {
    while (running < atOnce && tasks.size > 0) void work();
  };
  return {
    put(name, task) {
      tasks.delete(name);
      tasks.set(name, { run: task, failures: 0 });
      wake();
    },
    get waiting() {
      return tasks.size + running;
    },
    get done() {
      return done;
    },
    clear: () => tasks.clear(),
  };
}
