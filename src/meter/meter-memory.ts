import type { OpenHold } from '#/ports/limit-counters.ts';
import { Arrivals, RecentRefusals } from './turn-away.ts';
import { LikelyOutput } from './likely-output.ts';

/** State of one process across calls, in addition to the counters. */
export interface MeterMemory {
  readonly refusals: RecentRefusals;
  readonly arrivals: Arrivals;
  readonly likely: LikelyOutput;
  /** Open holds for which a limit is near. */
  readonly near: WeakSet<OpenHold>;
}

export function meterMemory(): MeterMemory {
  return {
    refusals: new RecentRefusals(),
    arrivals: new Arrivals(),
    likely: new LikelyOutput(),
    near: new WeakSet(),
  };
}
