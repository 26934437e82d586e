import type { IncomingMessage } from 'node:http';
import { GatewayError } from '#/errors/gateway-error.ts';
import { PassingSet } from '#/runtime/passing.ts';

/** How slowly a body may come. */
export interface Pace {
  readonly windowMs: number;
  /** Bytes within each window. */
  readonly leastBytes: number;
  /** To the end of the body. */
  readonly totalMs: number;
}

/** 2 KiB a second, and two minutes less what the server needs to notice. */
export const PACE: Pace = { windowMs: 10_000, leastBytes: 20 * 1024, totalMs: 110_000 };

/**
 * Calls `drop` once when a body comes too slowly: in the first or second window, or later. Time in which the reader is
 * paused came does not count.
 */
export class SlowBody implements Disposable {
  readonly #request: IncomingMessage;
  readonly #pace: Pace;
  readonly #drop: (error: GatewayError) => void;
  readonly #watch: Watch;
  /** Where it is watched, while it is. */
  #place: number | undefined;
  /** Bytes of its connection at the beginning of the window; undefined before its first one. */
  #seen: number | undefined;
  #elapsedMs = 0;

  constructor(request: IncomingMessage, pace: Pace, drop: (error: GatewayError) => void) {
    this.#request = request;
    this.#pace = pace;
    this.#drop = drop;
    this.#watch = watchOf(pace);
    this.#place = this.#watch.add(this);
  }

  [Symbol.dispose](): void {
    if (this.#place === undefined) return;
    this.#watch.delete(this.#place);
    this.#place = undefined;
  }

  /** A window has ended. */
  look(): void {
    // Another's end may have been its own, in the same round.
    if (this.#place === undefined) return;
    const { complete, readableFlowing, socket } = this.#request;
    if (complete) return this[Symbol.dispose]();
    const { bytesRead } = socket;
    const came = this.#seen === undefined ? undefined : bytesRead - this.#seen;
    this.#seen = bytesRead;
    if (readableFlowing !== true || came === undefined) return;
    const { windowMs, leastBytes, totalMs } = this.#pace;
    this.#elapsedMs += windowMs;
    if (came >= leastBytes && this.#elapsedMs < totalMs) return;
    this[Symbol.dispose]();
    this.#drop(tooSlow(leastBytes, windowMs, totalMs));
  }
}

/** One timer for all bodies of a pace: to start and stop one for each costs more than all else that is done about it. */
class Watch {
  readonly #bodies = new PassingSet<SlowBody>();
  readonly #windowMs: number;
  #timer: NodeJS.Timeout | undefined;

  constructor(windowMs: number) {
    this.#windowMs = windowMs;
  }

  /** Its place, to delete it by. */
  add(body: SlowBody): number {
    this.#timer ??= setInterval(() => this.#look(), this.#windowMs).unref();
    return this.#bodies.add(body);
  }

  delete(place: number): void {
    this.#bodies.delete(place);
  }

  #look(): void {
    if (this.#bodies.size === 0) {
      clearInterval(this.#timer);
      this.#timer = undefined;
    }
    for (const body of this.#bodies.values()) body.look();
  }
}

const watches = new WeakMap<Pace, Watch>();

function watchOf(pace: Pace): Watch {
  let watch = watches.get(pace);
  if (watch === undefined) watches.set(pace, (watch = new Watch(pace.windowMs)));
  return watch;
}

function tooSlow(bytes: number, windowMs: number, totalMs: number): GatewayError {
  return new GatewayError(
    'invalid_request',
    `The request body arrived too slowly: it needs at least ${bytes} bytes every ${windowMs / 1000} seconds, and all of it within ${totalMs / 1000} seconds.`,
    { status: 408, shouldRetry: false },
  );
}
