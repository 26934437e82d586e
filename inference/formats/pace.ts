import { DocumentFault } from '#/ports/documents.ts';

/** A running mean: what took long last counts most. */
class Pace {
  #ms: number;

  constructor(guess: number) {
    this.#ms = guess;
  }

  get ms(): number {
    return this.#ms;
  }

  note(ms: number): void {
    this.#ms += (ms - this.#ms) / 4;
  }
}

/** Milliseconds to read a page that says its text, and to recognize one; first guesses are those of a quick processor. */
export const SAID = new Pace(25);
export const RECOGNIZED = new Pace(1200);

/** After it is read, a page is rewritten, drawn twice, and read again by two readers. */
const TIMES_SAID = 4.5;
/** A recognized page is covered and recognized again, and once more by who looks at the result. */
const TIMES_RECOGNIZED = 3;
/** Estimates are not to refuse what would just be done. */
const SPARE = 1.25;

/** Pages that are still to be done. */
export interface Left {
  readonly said: number;
  readonly recognized: number;
}

/** When the client stops waiting. */
export class Deadline {
  readonly #began = performance.now();
  readonly #withinMs: number | undefined;

  constructor(withinMs: number | undefined) {
    this.#withinMs = withinMs;
  }

  /** Whether there is a deadline. */
  get isSet(): boolean {
    return this.#withinMs !== undefined;
  }

  /**
   * Throws `too_slow` if reading and rewriting these pages would miss the deadline, by the recent speed of such pages.
   */
  refuseToRead({ said, recognized }: Left): void {
    this.#refuse(said * SAID.ms * TIMES_SAID + recognized * RECOGNIZED.ms * TIMES_RECOGNIZED);
  }

  /** The same of pages that become pictures, each of which is recognized at least once. */
  refuseToDraw(pages: number): void {
    this.#refuse(pages * RECOGNIZED.ms);
  }

  #refuse(leftMs: number): void {
    if (this.#withinMs === undefined) return;
    const neededMs = performance.now() - this.#began + leftMs;
    if (neededMs <= this.#withinMs * SPARE) return;
    const [needed, given] = [neededMs, this.#withinMs].map((ms) => Math.max(1, Math.round(ms / 1000)));
    throw new DocumentFault('too_slow', `the document needs about ${needed} s, but only ${given} s are left`);
  }
}
