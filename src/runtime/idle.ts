/** Lets others wait until some work has come to rest. */
export class Idle {
  /** Whether `wait` waits for `rest`. */
  isAwaited = false;
  #waiting: (() => void)[] = [];

  /** Resolves at the next rest, or at the deadline. */
  async wait(deadlineMs: number): Promise<void> {
    this.isAwaited = true;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, deadlineMs);
      this.#waiting.push(() => {
        clearTimeout(timer);
        resolve();
      });
    });
  }

  /** The work has come to rest. */
  rest(): void {
    this.isAwaited = false;
    for (const resolve of this.#waiting.splice(0)) resolve();
  }
}
