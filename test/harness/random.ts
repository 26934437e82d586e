/** Numbers that look random and are the same for the same seed. */
export interface Random {
  /** From 0 up to, not including, 1. */
  next(): number;
  /** A whole number from `least` to `most`. */
  whole(least: number, most: number): number;
  chance(probability: number): boolean;
  pick<T>(list: readonly [T, ...T[]]): T;
  /** One of `list`, as often as its weight says. */
  weighted<T extends { readonly weight: number }>(list: readonly T[]): T;
}

/** Randomness of its own for one purpose (`round 17`) of a run. */
export function randomFor(seed: number, purpose: string): Random {
  let state = seed >>> 0;
  for (const unit of purpose) state = Math.imul(state ^ unit.charCodeAt(0), 0x0100_0193) >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b_79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const whole = (least: number, most: number): number => least + Math.floor(next() * (most - least + 1));
  return {
    next,
    whole,
    chance: (probability) => next() < probability,
    pick: (list) => list[whole(0, list.length - 1)] ?? list[0],
    weighted(list) {
      let left = next() * list.reduce((sum, { weight }) => sum + weight, 0);
      for (const one of list) if ((left -= one.weight) < 0) return one;
      const last = list.at(-1);
      if (last === undefined) throw new RangeError('nothing to choose from');
      return last;
    },
  };
}
