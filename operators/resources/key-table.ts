import { keySegmentOf, type KeyRow } from '#/config/published/contents.ts';

/** A key as its resource says, and what decides between two of the same hash. */
export interface KeyRecord {
  readonly hash: string;
  readonly id: string;
  readonly workload: string;
  readonly revoked: boolean;
  readonly expiresAt?: number;
  readonly createdAt: number;
}

/** Faults of a key that lie outside it. */
export type KeyTrouble =
  | { readonly reason: 'TargetNotFound' }
  | { readonly reason: 'Conflicted'; readonly holder: string };

/**
 * All keys, filed by the segment they are published in, so that the change of one key touches one segment, however many
 * there are.
 */
export class KeyTable {
  readonly #byId = new Map<string, KeyRecord>();
  readonly #byHash = new Map<string, Set<string>>();
  readonly #byWorkload = new Map<string, Set<string>>();
  readonly #segments = new Map<string, Set<string>>();
  readonly #dirty = new Set<string>();

  get size(): number {
    return this.#byId.size;
  }

  put(key: KeyRecord): void {
    this.remove(key.id);
    this.#byId.set(key.id, key);
    file(this.#byHash, key.hash, key.id);
    file(this.#byWorkload, key.workload, key.id);
    const segment = keySegmentOf(key.hash);
    file(this.#segments, segment, key.id);
    this.#dirty.add(segment);
  }

  remove(id: string): void {
    const key = this.#byId.get(id);
    if (!key) return;
    this.#byId.delete(id);
    unfile(this.#byHash, key.hash, id);
    unfile(this.#byWorkload, key.workload, id);
    const segment = keySegmentOf(key.hash);
    unfile(this.#segments, segment, id);
    this.#dirty.add(segment);
  }

  /** A workload appeared or disappeared, so its keys are published or withdrawn. Returns their ids. */
  touchWorkload(workload: string): readonly string[] {
    const ids = [...(this.#byWorkload.get(workload) ?? [])];
    for (const id of ids) this.#dirty.add(keySegmentOf(this.#byId.get(id)?.hash ?? ''));
    return ids;
  }

  hashOf(id: string): string | undefined {
    return this.#byId.get(id)?.hash;
  }

  /** Ids of all keys with this hash. */
  sharing(hash: string): readonly string[] {
    return [...(this.#byHash.get(hash) ?? [])];
  }

  /** Of two keys with one hash the older holds, then the one whose id sorts first. */
  troubleOf(id: string, hasWorkload: (workload: string) => boolean): KeyTrouble | undefined {
    const key = this.#byId.get(id);
    if (!key) return undefined;
    if (!hasWorkload(key.workload)) return { reason: 'TargetNotFound' };
    for (const other of this.#byHash.get(key.hash) ?? []) {
      const rival = this.#byId.get(other);
      if (rival && rival !== key && isBefore(rival, key)) return { reason: 'Conflicted', holder: rival.id };
    }
    return undefined;
  }

  /** The segments that may have changed since this was last asked, with their rows. None: the segment is to go. */
  takeDirty(hasWorkload: (workload: string) => boolean): ReadonlyMap<string, readonly KeyRow[]> {
    const changed = new Map<string, readonly KeyRow[]>();
    for (const segment of this.#dirty) {
      const rows: KeyRow[] = [];
      for (const id of this.#segments.get(segment) ?? []) {
        const key = this.#byId.get(id);
        if (key && !this.troubleOf(id, hasWorkload)) rows.push(toRow(key));
      }
      changed.set(segment, rows);
    }
    this.#dirty.clear();
    return changed;
  }
}

function toRow({ hash, id, workload, revoked, expiresAt }: KeyRecord): KeyRow {
  const flag = revoked ? 1 : 0;
  return expiresAt === undefined ? [hash, id, workload, flag] : [hash, id, workload, flag, expiresAt];
}

function isBefore(one: KeyRecord, other: KeyRecord): boolean {
  return one.createdAt === other.createdAt ? one.id < other.id : one.createdAt < other.createdAt;
}

function file(index: Map<string, Set<string>>, name: string, id: string): void {
  const ids = index.get(name);
  if (ids) ids.add(id);
  else index.set(name, new Set([id]));
}

function unfile(index: Map<string, Set<string>>, name: string, id: string): void {
  const ids = index.get(name);
  ids?.delete(id);
  if (ids?.size === 0) index.delete(name);
}
