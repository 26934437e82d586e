/** An entry that was found. */
export interface CacheEntry {
  readonly name: string;
  /** What was put, as it was put. */
  readonly sealed: Uint8Array;
}

/**
 * Sealed answers by organization and name, for a while. It may lose any of them at any time. Names and contents say
 * nothing to whoever reads the store: both come from the sealed box.
 */
export interface ResponseCache {
  /** The first of these entries that is there. */
  get(organization: string, names: readonly string[]): Promise<CacheEntry | undefined>;
  /** Keeps an entry; one of that name is replaced. What an organization may keep is bounded: old entries make room. */
  put(organization: string, name: string, sealed: Uint8Array, ttlSeconds: number): Promise<void>;
  /** Removes all that an organization keeps; resolves with how many entries that were. */
  erase(organization: string): Promise<number>;
}
