import { ServerRestarting } from '#pipeline/call.ts';

/** How long calls that were told to end may take to do so. */
const LATE_MS = 10_000;

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
    const abort = setTimeout(() => {
      for (const call of this.#open) call.abort(new ServerRestarting());
    }, graceMs);
    let giveUp: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => {
      giveUp = setTimeout(resolve, graceMs + LATE_MS);
    });
    await Promise.race([empty, late]);
    clearTimeout(abort);
    clearTimeout(giveUp);
  }
}
