import type { RateStatus } from '#/ports/limit-counters.ts';

/** Uses in a sliding minute, counted in buckets of one second. `first` and `last` are the seconds in use. */
export interface SlidingWindow {
  sum: number;
  first: number | undefined;
  last: number | undefined;
  readonly uses: Map<number, number>;
}

/** A second is counted for 61 s from its start, so that its latest use counts for at least 60. */
const SPAN = 61;

export function emptyWindow(): SlidingWindow {
  return { sum: 0, first: undefined, last: undefined, uses: new Map() };
}

/** Lets uses that are older than the window go. A clock set back by more than the window empties it. */
export function advance(window: SlidingWindow, second: number): void {
  if (window.first === undefined || window.last === undefined) return;
  if (window.last <= second - SPAN || window.last > second + SPAN) clear(window);
  else if (window.first <= second - SPAN) drop(window, second - SPAN);
}

/** Counts uses now, or in the window's last second when the clock was set back a little. Returns the second. */
export function use(window: SlidingWindow, second: number, uses: number): number {
  const counted = Math.max(second, window.last ?? second);
  if (uses > 0) count(window, counted, uses);
  return counted;
}

/** Adds `difference` to the count of `second`, if that second is still in the window. */
export function correct(window: SlidingWindow, now: number, second: number, difference: number): void {
  if (second <= now - SPAN || second > now + SPAN) return;
  advance(window, now);
  const was = window.uses.get(second) ?? 0;
  const change = Math.max(difference, -was);
  if (change === 0) return;
  count(window, second, change);
  if (window.first === second && was + change === 0) drop(window, now - SPAN);
}

/** Milliseconds until `uses` more fit, or undefined when they never will: they are more than the limit. */
export function waitFor(window: SlidingWindow, nowMs: number, uses: number, limit: number): number | undefined {
  if (uses > limit || window.first === undefined || window.last === undefined) return undefined;
  let excess = window.sum + uses - limit;
  for (let second = window.first; second <= window.last; second++) {
    excess -= window.uses.get(second) ?? 0;
    if (excess <= 0) return (second + SPAN) * 1000 - nowMs;
  }
  return undefined;
}

/** How far a limit is used. */
export function statusOf(window: SlidingWindow, nowMs: number, limit: number): RateStatus {
  const { first, sum } = window;
  const resetMs = first === undefined ? 0 : (first + SPAN) * 1000 - nowMs;
  return { limit, remaining: Math.max(0, limit - sum), resetMs };
}

function count(window: SlidingWindow, second: number, difference: number): void {
  window.sum += difference;
  window.uses.set(second, (window.uses.get(second) ?? 0) + difference);
  window.first = Math.min(window.first ?? second, second);
  window.last = Math.max(window.last ?? second, second);
}

/** Drops seconds up to `stale`; moves `first` to the oldest second with uses. */
function drop(window: SlidingWindow, stale: number): void {
  for (let second = window.first!; second <= window.last!; second++) {
    const uses = window.uses.get(second) ?? 0;
    if (second > stale && uses > 0) {
      window.first = second;
      return;
    }
    window.sum -= uses;
    window.uses.delete(second);
  }
  clear(window);
}

function clear(window: SlidingWindow): void {
  window.sum = 0;
  window.first = undefined;
  window.last = undefined;
  window.uses.clear();
}

/** Remembers ids for one to two periods. Times are milliseconds of any one clock; a clock set back forgets. */
export class RecentIds {
  readonly #periodMs: number;
  #period = 0;
  #current = new Set<string>();
  #previous = new Set<string>();

  constructor(periodMs: number) {
    this.#periodMs = periodMs;
  }

  add(id: string, now: number): void {
    this.#advance(now);
    this.#current.add(id);
  }

  has(id: string, now: number): boolean {
    this.#advance(now);
    return this.#current.has(id) || this.#previous.has(id);
  }

  /** Those added since the beginning of the period of `instant`, which was this one or the one before. */
  since(instant: number, now: number): readonly string[] {
    this.#advance(now);
    const isEarlier = Math.floor(instant / this.#periodMs) < this.#period;
    return isEarlier ? [...this.#previous, ...this.#current] : [...this.#current];
  }

  #advance(now: number): void {
    const next = Math.floor(now / this.#periodMs);
    if (next === this.#period) return;
    this.#previous = next === this.#period + 1 ? this.#current : new Set();
    this.#current = new Set();
    this.#period = next;
  }
}
