/** Lets calls wait for what another one is fetching. */
export class Flights<T> {
  readonly #open = new Map<string, Flight<T>>();

  /** The flight to somewhere, if one is under way. */
  find(name: string): Flight<T> | undefined {
    return this.#open.get(name);
  }

  /** Begins one; it is found until it has landed. */
  begin(name: string): Flight<T> {
    const flight = new Flight<T>(() => {
      if (this.#open.get(name) === flight) this.#open.delete(name);
    });
    this.#open.set(name, flight);
    return flight;
  }
}

/**
 * What became of a flight: it brought something; or `nothing` for anybody to share; or it `crashed`, and another may fare
 * better.
 */
export type Landing<T> = { readonly brought: T } | 'nothing' | 'crashed';

/** Something that is being fetched, for others to wait for. */
export class Flight<T> {
  readonly #landed = Promise.withResolvers<Landing<T>>();
  readonly #onLanded: () => void;

  constructor(onLanded: () => void) {
    this.#onLanded = onLanded;
  }

  /** It is over. Only the first word counts. */
  land(landing: Landing<T>): void {
    this.#onLanded();
    this.#landed.resolve(landing);
  }

  /** What became of it; `nothing` when it is not over in time, or nobody waits any more. */
  wait(timeoutMs: number, signal: AbortSignal): Promise<Landing<T>> {
    const waited = Promise.withResolvers<Landing<T>>();
    const giveUp = (): void => waited.resolve('nothing');
    const timer = setTimeout(giveUp, timeoutMs);
    signal.addEventListener('abort', giveUp, { once: true });
    if (signal.aborted) giveUp();
    void this.#landed.promise.then(waited.resolve);
    return waited.promise.finally(() => {
      clearTimeout(timer);
      signal.removeEventListener('abort', giveUp);
    });
  }
}
