/** Lets others wait until some work has come to rest. */
export class Idle {
  #waiting: (() => void)[] = [];

  /** Resolves at the next rest, or at the deadline. */
  async wait(deadlineMs: number): Promise<void> {
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
    for (const resolve of this.#waiting.splice(0)) resolve();
  }
}
