/** Checking a value takes more steps than there are. */
export class TooMuchWork extends Error {
  override readonly name = 'TooMuchWork';
}

/** Steps of checking that are left: one for each schema that is asked about a value, each state of a pattern, each member. */
export class Work {
  #left: number;

  constructor(steps: number) {
    this.#left = steps;
  }

  /** Throws `TooMuchWork`. */
  spend(steps: number): void {
    this.#left -= steps;
    if (this.#left < 0) throw new TooMuchWork('checking takes too many steps');
  }
}
