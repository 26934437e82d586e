import type { Category } from '#/config/entities.ts';
import type { Span } from './detector.ts';
import type { Look } from './look.ts';

/**
 * How sure a find is. `checked`: check digits agree. `shaped`: the shape alone gives it away. `weak`: digits that
 * need their surroundings to mean something; a checked find in the same place always wins over a weak one.
 */
type Evidence = 'checked' | 'shaped' | 'weak';

/** All ten digits, for examiners that start from any number. */
export const ANY_DIGIT = '0123456789';

/**
 * Finds one category by looking around single characters that could give it away, so that one pass over the text
 * serves all of them and prose without such characters costs next to nothing.
 */
export interface Examiner {
  /** Upper-case category; examiners of one category share its evidence. */
  readonly category: Category;
  readonly evidence: Evidence;
  /** ASCII characters to look around. A digit counts only as the first of a run of digits. */
  readonly triggers: string;
  /**
   * Triggers that are frequent count only in these surroundings, each of single characters and classes of them: `lo>g[io]` is
   * a `g` behind `lo` and before `i` or `o`. Something has to follow. `examine` may be called elsewhere, too, and has to look for itself.
   */
  readonly near?: readonly string[];
  /**
   * Whether digits that look like this could be any of it; asked once for each look, so it may only depend on that.
   * `examine` is not called for digits where it says no. Without it, for all.
   */
  wants?(look: Look): boolean;
  /**
   * Looks around the trigger at `at`, appends what it finds to `found` (in order, never overlapping an earlier find
   * of its own) and answers where it may be called again: the end of its find, or `floor` when it found nothing.
   * It reads a bounded stretch, or never behind `floor`: that is what keeps the whole search linear.
   * The text is already folded (see `fold.ts`): digits, spaces and hyphens are ASCII, invisible characters are gone.
   */
  examine(text: string, at: number, floor: number, found: Span[]): number;
}

/** What the reference of detectors says about an examiner. */
export interface About {
  /** What it finds, in a sentence. */
  readonly finds: string;
  /** Texts in each of which it finds something: the reference marks it, and a test fails where it finds nothing. */
  readonly examples: readonly string[];
  /** Ids of the kinds of numbers that it tells apart. */
  readonly kinds?: readonly string[];
}

/** An examiner as the list has it. */
export interface ListedExaminer extends Examiner {
  readonly about: About;
}
