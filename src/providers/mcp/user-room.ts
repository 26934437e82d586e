import { LRUCache } from 'lru-cache';

/**
 * Places of users of servers; the longest unused user is forgotten, and each who does nothing for a while. One namespace
 * has at most half of the places: beyond them it loses its own longest unused, and no other's.
 */
export class UserRoom<T extends object> {
  readonly #all: LRUCache<string, T>;
  readonly #mostOfOne: number;
  /** The names of each namespace, the longest unused first. */
  readonly #names = new Map<string, Set<string>>();

  constructor(most: number, keptMs: number) {
    this.#mostOfOne = Math.floor(most / 2);
    this.#all = new LRUCache({
      max: most,
      ttl: keptMs,
      ttlAutopurge: true,
      updateAgeOnGet: true,
      dispose: (_value, place) => this.#left(place),
    });
  }

  /** The one of this name, or a new one. `server`: `<namespace>/<name>`. */
  of(server: string, name: string, make: () => T): T {
    const [namespace = ''] = server.split('/', 1);
    const place = `${namespace} ${name}`;
    const known = this.#all.get(place);
    const names = this.#names.get(namespace) ?? new Set();
    names.delete(place);
    const [oldest] = names;
    if (!known && oldest !== undefined && names.size >= this.#mostOfOne) this.#all.delete(oldest);
    const value = known ?? make();
    if (!known) this.#all.set(place, value);
    names.add(place);
    this.#names.set(namespace, names);
    return value;
  }

  #left(place: string): void {
    const [namespace = ''] = place.split(' ', 1);
    const names = this.#names.get(namespace);
    names?.delete(place);
    if (names?.size === 0) this.#names.delete(namespace);
  }
}
