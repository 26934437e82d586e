/** An entry that was found. */
interface CacheEntry {
  readonly name: string;
  /** The stored bytes. */
  readonly encrypted: Uint8Array;
  /** How much longer it is kept. */
  readonly ttlMs: number;
}

/** What a look-up says. */
export interface CacheLookup {
  /** The first of the entries that is there. */
  readonly entry: CacheEntry | undefined;
  /** The organization's epoch at that moment. */
  readonly epoch: string;
}

/**
 * Encrypted answers by organization and name, for a while. It may lose any of them at any time. Names and contents
 * reveal nothing to readers of the store: both come from the content cipher. Each organization has an epoch; erasing
 * its entries starts a new one (as may happen at any time): knowledge from an earlier epoch must not be used.
 */
export interface ResponseCache {
  /** The first of these entries that is there. */
  get(organization: string, names: readonly string[]): Promise<CacheLookup>;
  /**
   * Keeps an entry, unless `epoch` is over; one of that name is replaced. What an organization may keep is bounded: old
   * entries make room.
   */
  put(organization: string, name: string, encrypted: Uint8Array, ttlSeconds: number, epoch: string): Promise<void>;
  /** Removes all that an organization keeps, and ends its epoch; resolves with how many entries that were. */
  erase(organization: string): Promise<number>;
  /** The organization's epoch. */
  epoch(organization: string): Promise<string>;
}
