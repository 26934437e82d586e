/** A user of the database, which serves one at a time. */
export interface Player {
  /** Called when it is its turn, after it has been refused one. */
  proceed(): void;
}

/** Whose turn it is: first come, first served. */
export class Turns {
  #holder: Player | undefined;
  readonly #waiting = new Set<Player>();

  /** True when it is this player's turn; else it waits, and is called when it is. */
  take(player: Player): boolean {
    this.#holder ??= player;
    if (this.#holder === player) return true;
    this.#waiting.add(player);
    return false;
  }

  /** Ends a player's turn, or its waiting for one. */
  pass(player: Player): void {
    this.#waiting.delete(player);
    if (this.#holder !== player) return;
    const [next] = this.#waiting;
    this.#holder = next;
    if (!next) return;
    this.#waiting.delete(next);
    // In between, answers are sent and new requests are read.
    setImmediate(() => next.proceed());
  }
}
