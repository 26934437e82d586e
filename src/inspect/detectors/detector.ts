import type { Category } from '#/values/entities.ts';
import type { Match } from '../match.ts';
import type { DigitContext } from './digit-context.ts';

/**
 * How sure a match is. `checked`: check digits agree. `shaped`: the shape alone gives it away. `weak`: digits that
 * need their surroundings to mean something; a checked match in the same place always wins over a weak one.
 */
type Evidence = 'checked' | 'shaped' | 'weak';

/**
 * Finds one category by looking around single characters that could give it away, so that one pass over the text serves all
 * detectors and prose without such characters costs next to nothing.
 */
export interface DetectorRule {
  /** A name of `src/values/entities.ts` in capitals; rules of one category share its evidence. */
  readonly category: Category;
  readonly evidence: Evidence;
  /** ASCII characters to look around. A digit counts only as the first of a run of digits. */
  readonly triggers: string;
  /**
   * Triggers that are frequent count only in these surroundings, each of single characters and classes of them: `lo>g[io]` is
   * a `g` behind `lo` and before `i` or `o`. Something has to follow. `detect` may be called elsewhere, too, and has to look for itself.
   */
  readonly near?: readonly string[];
  /**
   * Whether digits in this context could be any of it; asked once for each context, so it may depend on nothing else.
   * `detect` is not called for digits where it says no. Without it, for all.
   */
  prefilter?(context: DigitContext): boolean;
  /**
   * Looks around the trigger at `at`, appends its matches to `found` (in order, never overlapping an earlier match
   * of its own) and returns where it may be called again: the end of its match, or `floor` when it found nothing.
   * It reads a bounded range, or never behind `floor`: that is what keeps the whole search linear.
   * The text is already folded (see `fold.ts`): digits, spaces and hyphens are ASCII, invisible characters are gone.
   */
  detect(text: string, at: number, floor: number, found: Match[]): number;
  /** Whether the whole of a text is also read by `sweep`. */
  sweeps?(text: string): boolean;
  /** Looks at every word from `from` to `to`, for what no single character could give away. It may find what `detect` found. */
  sweep?(text: string, from: number, to: number, found: Match[]): void;
}

/** A detector: its rule, and all that there is to say about it. `docs/internals/adding-a-detector.md` tells how to add one. */
export interface Detector extends DetectorRule {
  /** What it finds, in one sentence of the reference of detectors. */
  readonly meaning: string;
  /** Texts with all expected matches marked: `Write to ‹ada@example.com›.` The reference shows them. */
  readonly examples: readonly string[];
  /** Texts that look similar, and in which it finds nothing. */
  readonly ignores: readonly string[];
  /** Ids of the kinds of numbers that it tells apart. */
  readonly kinds?: readonly string[];
}
