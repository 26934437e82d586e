import { LRUCache } from 'lru-cache';
import type { ResponseCache } from '#ports/response-cache.ts';

export interface MemoryCacheOptions {
  /** Most bytes kept for all organizations together. Default 64 MiB. */
  readonly maxBytes?: number;
}

const MAX_BYTES = 64 * 1024 * 1024;
/** What an entry takes beside its content. */
const OVERHEAD_BYTES = 256;

/** A response cache of this process: for the embedded run. Entries go with the process, the oldest used first. */
export function openMemoryCache({ maxBytes = MAX_BYTES }: MemoryCacheOptions = {}): ResponseCache {
  const entries = new LRUCache<string, Uint8Array>({
    maxSize: maxBytes,
    maxEntrySize: maxBytes,
    sizeCalculation: (sealed) => sealed.length + OVERHEAD_BYTES,
  });
  const idOf = (organization: string, name: string): string => `${organization}\n${name}`;
  return {
    async get(organization, names) {
      for (const name of names) {
        const sealed = entries.get(idOf(organization, name));
        if (sealed) return { name, sealed };
      }
      return undefined;
    },
    async put(organization, name, sealed, ttlSeconds) {
      entries.set(idOf(organization, name), sealed, { ttl: ttlSeconds * 1000 });
    },
    async erase(organization) {
      let erased = 0;
      for (const id of [...entries.keys()]) {
        if (id.startsWith(`${organization}\n`) && entries.delete(id)) erased++;
      }
      return erased;
    },
  };
}
