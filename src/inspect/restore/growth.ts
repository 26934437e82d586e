import { AnswerOutOfBounds } from '#/wire/answer/answer-bounds.ts';

/** Most characters that restoring may add to one answer: a tag of ten characters may stand for a thousand. */
const MAX_GROWTH = 4 * 1024 * 1024;

/** By how much restoring has made an answer longer, over all its texts. */
export class Growth {
  #added = 0;

  /** A tag of so many characters became a text of so many. Throws `AnswerOutOfBounds`. */
  add(tag: number, original: number): void {
    this.#added += Math.max(0, original - tag);
    if (this.#added <= MAX_GROWTH) return;
    throw new AnswerOutOfBounds(`restoring its tags would make the answer more than ${MAX_GROWTH} characters longer`);
  }
}
