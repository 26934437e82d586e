import type { ContextWords, WordKind } from './context-words.ts';

/** A kind of number that a state gives to people or firms. */
export interface NumberKind {
  /** Country and name: `PL_PESEL`. */
  readonly id: string;
  /** Numbers of letters and digits it may have, without separators. */
  readonly lengths: readonly number[];
  /** The layout of those, in capitals, anchored at both ends. */
  readonly shape: RegExp;
  /** How it is written in groups; a number with words around it may be grouped otherwise. */
  readonly groups?: RegExp;
  /** What tells it without a word near: its layout and check digits in any writing, its groups with them, or nothing. */
  readonly alone: 'always' | 'grouped' | 'never';
  /** Which words of `context-words.ts` tell it. */
  readonly words: WordKind;
  /** Whether check digits and dates in it agree; given only what fits `shape`. */
  isValid(compact: string): boolean;
}

/** A kind with the words that tell it: its own, and those of any number of its sort. */
export interface ToldKind extends NumberKind {
  readonly teller: ContextWords;
}

/**
 * `ddd-ddd-dd-dd` as a pattern: `d` is a digit, `A` a letter, `x` either, anything else itself. Several are parted by a
 * bar.
 */
export function grouping(masks: string): RegExp {
  const pattern = masks.split('|').map((mask) =>
    mask
      .replace(/[./+-]/g, '\\$&')
      .replaceAll('d', '\\d')
      .replaceAll('A', '[A-Za-z]')
      .replaceAll('x', '[A-Za-z0-9]'),
  );
  return new RegExp(`^(?:${pattern.join('|')})$`);
}
