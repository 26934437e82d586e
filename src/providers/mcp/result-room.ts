import { NoRoomForResults } from '#/ports/mcp-servers.ts';

/**
 * Room for the answers of all servers that a process reads at once. The servers of one namespace get at most half of it,
 * so that slow or large answers to one tenant leave room for those to others.
 */
export class ResultRoom {
  readonly #most: number;
  #taken = 0;
  readonly #byNamespace = new Map<string, number>();

  constructor(bytes: number) {
    this.#most = bytes;
  }

  /** A place that takes nothing yet, for an answer of the server `<namespace>/<name>`. */
  enter(server: string): ResultPlace {
    const [namespace = ''] = server.split('/', 1);
    return new ResultPlace((bytes) => this.#take(namespace, bytes));
  }

  /** Negative: gives back. */
  #take(namespace: string, bytes: number): void {
    const taken = (this.#byNamespace.get(namespace) ?? 0) + bytes;
    if (bytes > 0 && (taken > this.#most / 2 || this.#taken + bytes > this.#most))
      throw new NoRoomForResults('too many results are in progress');
    this.#taken += bytes;
    if (taken > 0) this.#byNamespace.set(namespace, taken);
    else this.#byNamespace.delete(namespace);
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
