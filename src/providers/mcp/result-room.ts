import { NoRoomForResults } from '#/ports/mcp-servers.ts';

/** Room for the answers of all servers that a process reads at once. */
export class ResultRoom {
  #left: number;

  constructor(bytes: number) {
    this.#left = bytes;
  }

  /** A place that takes nothing yet. */
  enter(): ResultPlace {
    return new ResultPlace((bytes) => this.#take(bytes));
  }

  #take(bytes: number): void {
    if (bytes > this.#left) throw new NoRoomForResults('too many results are in progress');
    this.#left -= bytes;
  }
}

/** What one answer takes of the room, until it is disposed of. */
export class ResultPlace implements Disposable {
  readonly #take: (bytes: number) => void;
  #taken = 0;

  constructor(take: (bytes: number) => void) {
    this.#take = take;
  }

  get bytes(): number {
    return this.#taken;
  }

  /** Throws `NoRoomForResults`. */
  add(bytes: number): void {
    this.#take(bytes);
    this.#taken += bytes;
  }

  [Symbol.dispose](): void {
    this.#take(-this.#taken);
    this.#taken = 0;
  }
}
