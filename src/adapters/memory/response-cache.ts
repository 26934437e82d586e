import { LRUCache } from 'lru-cache';
import type { ResponseCache } from '#/ports/response-cache.ts';

export interface MemoryCacheOptions {
  /** Most bytes kept for all organizations together. Default 64 MiB. */
  readonly maxBytes?: number;
}

const MAX_BYTES = 64 * 1024 * 1024;
/** Memory of an entry besides its content. */
const OVERHEAD_BYTES = 256;

/** A response cache of this process: for the embedded run. Entries go with the process, the oldest used first. */
export function openMemoryCache({ maxBytes = MAX_BYTES }: MemoryCacheOptions = {}): ResponseCache {
  const entries = new LRUCache<string, Uint8Array>({
    maxSize: maxBytes,
    maxEntrySize: maxBytes,
    sizeCalculation: (encrypted) => encrypted.length + OVERHEAD_BYTES,
  });
  /** How often each organization was erased; those that never were are not listed. */
  const erasures = new Map<string, number>();
  const idOf = (organization: string, name: string): string => `${organization}\n${name}`;
  const epochOf = (organization: string): string => String(erasures.get(organization) ?? 0);
  return {
    async get(organization, names) {
      const epoch = epochOf(organization);
      for (const name of names) {
        const id = idOf(organization, name);
        const encrypted = entries.get(id);
        if (encrypted) return { entry: { name, encrypted, ttlMs: entries.getRemainingTTL(id) }, epoch };
      }
      return { entry: undefined, epoch };
    },
    async put(organization, name, encrypted, ttlSeconds, epoch) {
      if (epoch !== epochOf(organization)) return;
      entries.set(idOf(organization, name), encrypted, { ttl: ttlSeconds * 1000 });
    },
    async erase(organization) {
      erasures.set(organization, (erasures.get(organization) ?? 0) + 1);
      let erased = 0;
      for (const id of [...entries.keys()]) {
        if (id.startsWith(`${organization}\n`) && entries.delete(id)) erased++;
      }
      return erased;
    },
    epoch: async (organization) => epochOf(organization),
  };
}
