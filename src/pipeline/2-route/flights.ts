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

/** Something that is being fetched, for others to wait for. */
export class Flight<T> {
  readonly #landed = Promise.withResolvers<T | undefined>();
  readonly #onLanded: () => void;

  constructor(onLanded: () => void) {
    this.#onLanded = onLanded;
  }

  /** It is here, or (undefined) will not come. Only the first word counts. */
  land(value: T | undefined): void {
    this.#onLanded();
    this.#landed.resolve(value);
  }

  /** What it brought; undefined when that is nothing, is not here in time, or nobody waits any more. */
  wait(timeoutMs: number, signal: AbortSignal): Promise<T | undefined> {
    const waited = Promise.withResolvers<T | undefined>();
    const giveUp = (): void => waited.resolve(undefined);
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
