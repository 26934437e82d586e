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
