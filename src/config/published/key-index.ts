import type { KeyIndex, VirtualKeyConfig, WorkloadConfig } from '../snapshot.ts';
import { keySegmentOf, type KeyRow } from './contents.ts';

/** Keys of one segment. Shared by all snapshots in which it did not change. */
export interface KeyShard {
  readonly size: number;
  byHash(hash: string): KeyRow | undefined;
  byId(id: string): KeyRow | undefined;
}

/** Keys of a snapshot. What a key leads to is made when it is first asked for: 100,000 keys cost a change nothing. */
export interface PublishedKeys {
  readonly keys: KeyIndex;
  readonly keysById: KeyIndex;
  /** Whether there is such a key, but its workload is withheld: its resources are at fault. */
  withheld(hash: string): boolean;
  /** The same of a key by its id. */
  withheldId(id: string): boolean;
}

/** Files rows by hash, and by id on the first lookup by id. */
export function createShard(rows: readonly KeyRow[]): KeyShard {
  const byHash = new Map(rows.map((row) => [row[0], row]));
  let byId: ReadonlyMap<string, KeyRow> | undefined;
  return {
    size: rows.length,
    byHash: (hash) => byHash.get(hash),
    byId: (id) => (byId ??= new Map(rows.map((row) => [row[1], row]))).get(id),
  };
}

/** Finds keys in shards, by segment name, and leads them to their workloads. */
export function indexKeys(
  shards: ReadonlyMap<string, KeyShard>,
  workloads: ReadonlyMap<string, WorkloadConfig>,
): PublishedKeys {
  const made = new Map<string, VirtualKeyConfig>();
  const toKey = (row: KeyRow | undefined): VirtualKeyConfig | undefined => {
    if (!row) return undefined;
    const [hash, id, workloadId, revoked, expiresAt] = row;
    const known = made.get(hash);
    if (known) return known;
    const workload = workloads.get(workloadId);
    if (!workload) return undefined;
    const key = Object.freeze({ id, revoked: revoked === 1, ...(expiresAt !== undefined && { expiresAt }), workload });
    made.set(hash, key);
    return key;
  };
  const find = (hash: string): KeyRow | undefined => shards.get(keySegmentOf(hash))?.byHash(hash);
  const findById = (id: string): KeyRow | undefined => {
    for (const shard of shards.values()) {
      const row = shard.byId(id);
      if (row) return row;
    }
    return undefined;
  };
  const isWithheld = (row: KeyRow | undefined): boolean => row !== undefined && !workloads.has(row[2]);
  return {
    keys: { get: (hash) => toKey(find(hash)) },
    keysById: { get: (id) => toKey(findById(id)) },
    withheld: (hash) => isWithheld(find(hash)),
    withheldId: (id) => isWithheld(findById(id)),
  };
}
