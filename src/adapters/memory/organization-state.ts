import type { OpenHold } from '#/ports/limit-counters.ts';
import { recentIds, type RecentIds } from './recent-ids.ts';
import type { SlidingWindow } from './sliding-window.ts';
import type { Spend } from './spend.ts';

/** What is kept for one organization. */
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
