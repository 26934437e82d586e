import { setTimeout as sleep } from 'node:timers/promises';
import { ClientHungUp, ServerRestarting } from '#/call/call.ts';
import { PassingSet } from '#/runtime/passing.ts';
import type { FastifyReply } from 'fastify';

/** How long aborted calls may take to end. */
const LATE_MS = 10_000;
/** After a call, its client may send the next one on the same connection: that one is still served. */
const LINGER_MS = 1500;

/** The calls in progress, so that a process that ends can wait for them, and end those that outstay its grace. */
export class OpenCalls {
  readonly #open = new PassingSet<AbortController>();
  #idle: (() => void)[] = [];
  #endedAt = Number.NEGATIVE_INFINITY;
  /** Calls of tools that are answered as a stream. */
  toolStreams = 0;
  /** The process is ending: clients being served are asked to connect elsewhere. */
  isLeaving = false;
  readonly #lasting = new Set<() => void>();
  /** No new client is served. */
  isClosed = false;

  get size(): number {
    return this.#open.size;
  }

  /** A stream that has no end of its own. `end` is called when the process is ending, which does not wait for it. */
  addLasting(end: () => void): Disposable {
    this.#lasting.add(end);
    return { [Symbol.dispose]: () => void this.#lasting.delete(end) };
  }

  /** The process begins to end. */
  leave(): void {
    this.isLeaving = true;
    for (const end of this.#lasting) end();
  }

  /** Registers a call; returns the place that `end` takes, once. */
  begin(call: AbortController): number {
    return this.#open.add(call);
  }

  /** The call at this place is over. */
  end(place: number): void {
    this.#open.delete(place);
    this.#endedAt = performance.now();
    if (this.#idle.length > 0 && this.#open.size === 0) for (const resolve of this.#idle.splice(0)) resolve();
  }

  /** Registers a call until it is disposed of. */
  add(call: AbortController): Disposable {
    return new OpenCall(this, this.begin(call));
  }

  /** Waits for all calls to end; at the deadline ends those left with `server_restarting`. // spec 6.1.5 */
  async finish(graceMs: number): Promise<void> {
    const abort = setTimeout(() => {
      this.isClosed = true;
      for (const call of this.#open.values()) call.abort(new ServerRestarting());
    }, graceMs);
    let giveUp: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => {
      giveUp = setTimeout(resolve, graceMs + LATE_MS);
    });
    await Promise.race([this.#quiet(), late]);
    this.isClosed = true;
    clearTimeout(abort);
    clearTimeout(giveUp);
  }

  /** Until no call is open, and none can follow on the last one's connection at once. */
  async #quiet(): Promise<void> {
    for (;;) {
      if (this.#open.size > 0) await new Promise<void>((resolve) => this.#idle.push(resolve));
      const restMs = this.isClosed ? 0 : this.#endedAt + LINGER_MS - performance.now();
      if (restMs <= 0 && this.#open.size === 0) return;
      await sleep(Math.max(0, restMs));
    }
  }
}

class OpenCall implements Disposable {
  readonly #calls: OpenCalls;
  /** Undefined once it is over: the place is another call's then. */
  #place: number | undefined;

  constructor(calls: OpenCalls, place: number) {
    this.#calls = calls;
    this.#place = place;
  }

  [Symbol.dispose](): void {
    if (this.#place === undefined) return;
    this.#calls.end(this.#place);
    this.#place = undefined;
  }
}

/** Aborted with `ClientHungUp` when the client leaves before its answer is complete. */
export function hangUpOf({ raw }: FastifyReply): AbortController {
  const hangUp = new AbortController();
  raw.once('close', () => {
    if (!raw.writableFinished) hangUp.abort(new ClientHungUp());
  });
  return hangUp;
}
