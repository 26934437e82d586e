/** Who something is done for. */
export interface Asker {
  readonly organization: string;
  readonly workload: string;
}

/** Items that wait for a place: organizations in rotation, within each its workloads, within each by arrival. */
export class FairPlaces<T extends { readonly asker: Asker }> {
  /** By organization and workload; one that had a place moves to the end. */
  readonly #waiting = new Map<string, Map<string, Set<T>>>();

  add(one: T): void {
    const { organization, workload } = one.asker;
    let workloads = this.#waiting.get(organization);
    if (!workloads) this.#waiting.set(organization, (workloads = new Map<string, Set<T>>()));
    const own = workloads.get(workload);
    if (own) own.add(one);
    else workloads.set(workload, new Set([one]));
  }

  delete(one: T): void {
    const { organization, workload } = one.asker;
    const workloads = this.#waiting.get(organization);
    const own = workloads?.get(workload);
    own?.delete(one);
    if (own?.size === 0) workloads?.delete(workload);
    if (workloads?.size === 0) this.#waiting.delete(organization);
  }

  /** Whose turn it is among those that may take one now. It stays, behind all others. */
  next(may: (one: T) => boolean): T | undefined {
    for (const workloads of this.#waiting.values()) {
      for (const own of workloads.values()) {
        for (const one of own) {
          if (!may(one)) continue;
          this.#goLast(one, own, workloads);
          return one;
        }
      }
    }
    return undefined;
  }

  /** What waits for an organization. */
  *of(organization: string): Generator<T> {
    for (const own of this.#waiting.get(organization)?.values() ?? []) yield* own;
  }

  *[Symbol.iterator](): Generator<T> {
    for (const organization of this.#waiting.keys()) yield* this.of(organization);
  }

  #goLast(one: T, own: Set<T>, workloads: Map<string, Set<T>>): void {
    const { organization, workload } = one.asker;
    own.delete(one);
    own.add(one);
    workloads.delete(workload);
    workloads.set(workload, own);
    this.#waiting.delete(organization);
    this.#waiting.set(organization, workloads);
  }
}
