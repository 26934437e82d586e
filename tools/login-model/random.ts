/** Numbers drawn from a seed. */
export interface Random {
  /** From 0 up to 1. */
  next(): number;
  below(most: number): number;
  pick<T>(list: readonly T[]): T;
  weighted<T>(list: readonly (readonly [number, T])[]): T;
  digits(count: number): string;
  letters(count: number): string;
  /** So many characters of these, with a digit among them. */
  strong(count: number, characters: string): string;
}

/** The same numbers for the same seed. */
export function randomOf(seed: number): Random {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mix = Math.imul(state ^ (state >>> 15), state | 1);
    mix ^= mix + Math.imul(mix ^ (mix >>> 7), mix | 61);
    return ((mix ^ (mix >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (most: number): number => Math.floor(next() * most);
  const several = (count: number, characters: string): string =>
    Array.from({ length: count }, () => characters[below(characters.length)]).join('');
  return {
    next,
    below,
    pick: (list) => list[below(list.length)] as (typeof list)[number],
    weighted(list) {
      let left = next() * list.reduce((sum, [weight]) => sum + weight, 0);
      for (const [weight, value] of list) if ((left -= weight) < 0) return value;
      return (list.at(-1) as (typeof list)[number])[1];
    },
    digits: (count) => several(count, '0123456789'),
    letters: (count) => several(count, 'abcdefghijklmnopqrstuvwxyz'),
    strong(count, characters) {
      const text = several(count, characters);
      const at = below(count);
      return /\d/.test(text) ? text : text.slice(0, at) + several(1, '0123456789') + text.slice(at + 1);
    },
  };
}
