import type { OpenHold } from '#/ports/limit-counters.ts';
import type { SlidingWindow } from './sliding-window.ts';
import type { Spend } from './spend.ts';

/** State of one organization. */
export interface OrganizationState {
  readonly holds: Map<string, KeptHold>;
  readonly spend: Spend;
  /** By workload. */
  readonly requests: Map<string, SlidingWindow>;
  readonly tokens: Map<string, SlidingWindow>;
  /** Ids that were settled a minute or two ago: a restore must not put them back. */
  readonly closed: RecentIds;
  /** Whether a restore is under way; with its name, whether it is that one. */
  isPaused(name?: symbol): boolean;
  /** Begins a pause and names it. */
  pause(ms: number): symbol;
  /** Ends the pause of that name, if it still lasts. */
  resume(name: symbol): void;
}

interface KeptHold {
  hold: OpenHold;
  /** The second in which its tokens were reserved; 0: none are counted. */
  readonly reservedIn: number;
}

export function openOrganization(): OrganizationState {
  let paused: { readonly name: symbol; readonly until: number } | undefined;
  return {
    holds: new Map(),
    spend: new Map(),
    requests: new Map(),
    tokens: new Map(),
    closed: recentIds(60_000),
    isPaused(name) {
      if (paused && paused.until <= performance.now()) paused = undefined;
      return paused !== undefined && (name === undefined || paused.name === name);
    },
    pause(ms) {
      paused = { name: Symbol('pause'), until: performance.now() + ms };
      return paused.name;
    },
    resume(name) {
      if (paused?.name === name) paused = undefined;
    },
  };
}

/** Remembers ids for one to two periods. Times are milliseconds of any one clock. */
export interface RecentIds {
  add(id: string, now: number): void;
  has(id: string, now: number): boolean;
  /** Those added since the beginning of the period of `instant`, which was this one or the one before. */
  since(instant: number, now: number): readonly string[];
}

/** Opens an empty memory of ids; a clock set back forgets. */
export function recentIds(periodMs: number): RecentIds {
  let period = 0;
  let current = new Set<string>();
  let previous = new Set<string>();
  const turn = (now: number): void => {
    const next = Math.floor(now / periodMs);
    if (next === period) return;
    previous = next === period + 1 ? current : new Set();
    current = new Set();
    period = next;
  };
  return {
    add(id, now) {
      turn(now);
      current.add(id);
    },
    has(id, now) {
      turn(now);
      return current.has(id) || previous.has(id);
    },
    since(instant, now) {
      turn(now);
      return Math.floor(instant / periodMs) < period ? [...previous, ...current] : [...current];
    },
  };
}
