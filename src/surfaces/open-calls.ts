import { ServerRestarting } from '#pipeline/call.ts';

/** The calls in progress, so that a process that ends can wait for them, and end those that outstay its grace. */
export class OpenCalls {
  readonly #open = new Set<AbortController>();
  #idle: (() => void)[] = [];

  get size(): number {
    return this.#open.size;
  }

  /** Registers a call until it is disposed of. */
  add(call: AbortController): Disposable {
    this.#open.add(call);
    return {
      [Symbol.dispose]: () => {
        this.#open.delete(call);
        if (this.#open.size === 0) for (const resolve of this.#idle.splice(0)) resolve();
      },
    };
  }

  /** Waits for all calls to end; at the deadline ends those left with `server_restarting`. // spec 6.1.5 */
  async finish(graceMs: number): Promise<void> {
    if (this.#open.size === 0) return;
    const empty = new Promise<void>((resolve) => this.#idle.push(resolve));
    const timer = setTimeout(() => {
      for (const call of this.#open) call.abort(new ServerRestarting());
    }, graceMs);
    await empty;
    clearTimeout(timer);
  }
}
