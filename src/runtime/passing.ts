/**
 * Items that come and go in any order, as calls do. A `Set` moves to a new table after many changes, and once V8 has
 * promoted the old table, it keeps all its young items from being collected. This set leaves no old table behind.
 */
export class PassingSet<T> {
  readonly #items: (T | undefined)[] = [];
  readonly #free: number[] = [];

  get size(): number {
    return this.#items.length - this.#free.length;
  }

  /** The place of `item`, to delete it by, once. */
  add(item: T): number {
    const place = this.#free.pop() ?? this.#items.length;
    this.#items[place] = item;
    return place;
  }

  at(place: number): T | undefined {
    return this.#items[place];
  }

  replace(place: number, item: T): void {
    this.#items[place] = item;
  }

  delete(place: number): void {
    this.#items[place] = undefined;
    this.#free.push(place);
  }

  values(): readonly T[] {
    return this.#items.filter((item) => item !== undefined);
  }
}

/** The used part of a `Map`. */
export interface ByName<T> {
  get(name: string): T | undefined;
  has(name: string): boolean;
  set(name: string, item: T): unknown;
  delete(name: string): boolean;
  values(): Iterable<T>;
}

/** A `PassingSet` by name; of names alone something is left behind. */
export class PassingMap<T> implements ByName<T> {
  readonly #places = new Map<string, number>();
  readonly #items = new PassingSet<T>();

  get size(): number {
    return this.#items.size;
  }

  get(name: string): T | undefined {
    const place = this.#places.get(name);
    return place === undefined ? undefined : this.#items.at(place);
  }

  has(name: string): boolean {
    return this.#places.has(name);
  }

  set(name: string, item: T): this {
    const place = this.#places.get(name);
    if (place === undefined) this.#places.set(name, this.#items.add(item));
    else this.#items.replace(place, item);
    return this;
  }

  delete(name: string): boolean {
    const place = this.#places.get(name);
    if (place === undefined) return false;
    this.#places.delete(name);
    this.#items.delete(place);
    return true;
  }

  values(): readonly T[] {
    return this.#items.values();
  }
}
