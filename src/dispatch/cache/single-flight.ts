/** Lets calls wait for what another one is fetching. */
export class SingleFlight<T> {
  readonly #open = new Map<string, Flight<T>>();

  /** The flight to somewhere, if one is under way. */
  find(name: string): Flight<T> | undefined {
    return this.#open.get(name);
  }

  /** Begins one; it is found until it is over. */
  begin(name: string): Flight<T> {
    const flight = new Flight<T>(() => {
      if (this.#open.get(name) === flight) this.#open.delete(name);
    });
    this.#open.set(name, flight);
    return flight;
  }
}

/**
 * How a flight ended: with an answer; with `nothing` to share; or it `failed`, and another attempt may do
 * better.
 */
export type FlightResult<T> = { readonly brought: T } | 'nothing' | 'failed';

/** Something that is being fetched, for others to wait for. */
export class Flight<T> {
  readonly #result = Promise.withResolvers<FlightResult<T>>();
  readonly #onOver: () => void;

  constructor(onOver: () => void) {
    this.#onOver = onOver;
  }

  /** It is over. Only the first word counts. */
  resolve(result: FlightResult<T>): void {
    this.#onOver();
    this.#result.resolve(result);
  }

  /** Waits for the end; `nothing` on a timeout, or once no caller waits. */
  wait(timeoutMs: number, signal: AbortSignal): Promise<FlightResult<T>> {
    const waited = Promise.withResolvers<FlightResult<T>>();
    const giveUp = (): void => waited.resolve('nothing');
    const timer = setTimeout(giveUp, timeoutMs);
    signal.addEventListener('abort', giveUp, { once: true });
    if (signal.aborted) giveUp();
    void this.#result.promise.then(waited.resolve);
    return waited.promise.finally(() => {
      clearTimeout(timer);
      signal.removeEventListener('abort', giveUp);
    });
  }
}
