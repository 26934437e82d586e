/** Holds something back until a test lets it go on: steps instead of delays. */
export interface Gate {
  /** Lets the next `steps` passes through, those already waiting first. */
  open(steps?: number): void;
  /** Lets everything through from now on. */
  release(): void;
  /** Resolves once something waits at the closed gate. */
  waiting(): Promise<void>;
  /** Lets one pass through and resolves once something waits again: the step has been taken. */
  step(): Promise<void>;
  /** Waits to be let through: true. False when `signal` is aborted first. */
  pass(signal?: AbortSignal): Promise<boolean>;
}

/** A closed gate. */
export function gate(): Gate {
  let tickets = 0;
  const queue: (() => void)[] = [];
  const watchers: (() => void)[] = [];
  const open = (steps = 1): void => {
    tickets += steps;
    while (tickets > 0 && queue.length > 0) {
      tickets -= 1;
      queue.shift()?.();
    }
  };
  const waiting = (): Promise<void> =>
    queue.length > 0 ? Promise.resolve() : new Promise((resolve) => watchers.push(resolve));
  return {
    open,
    waiting,
    release: () => open(Infinity),
    step: () => {
      open();
      return waiting();
    },
    pass(signal) {
      if (signal?.aborted) return Promise.resolve(false);
      if (tickets > 0) {
        tickets -= 1;
        return Promise.resolve(true);
      }
      return new Promise((resolve) => {
        const letThrough = (): void => {
          signal?.removeEventListener('abort', giveUp);
          resolve(true);
        };
        const giveUp = (): void => {
          queue.splice(queue.indexOf(letThrough), 1);
          resolve(false);
        };
        signal?.addEventListener('abort', giveUp, { once: true });
        queue.push(letThrough);
        for (const watcher of watchers.splice(0)) watcher();
      });
    },
  };
}
