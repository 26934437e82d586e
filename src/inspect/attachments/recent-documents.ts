import { createHash, hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { DocumentEngine, DocumentFile } from '#/ports/documents.ts';

/** A conversation comes back within this time, or its provider has forgotten its prompt too. */
const KEPT_MS = 5 * 60_000;
const KEPT_BYTES = 32 * 1024 * 1024;

/**
 * What the document engine has said of the files of prompts a moment ago: a conversation sends its documents with every
 * turn, and must send the same bytes for a provider's prompt cache. In this process's memory only, at most 32 MiB, each
 * result for five minutes, by a digest of the question, apart for each organization: a restart forgets all of it.
 */
export class RecentDocuments {
  readonly #engine: DocumentEngine;
  readonly #results = new LRUCache<string, object>({
    maxSize: KEPT_BYTES,
    ttl: KEPT_MS,
    ttlAutopurge: true,
    sizeCalculation: (result, key) => sizeOf(result) + key.length,
  });

  constructor(engine: DocumentEngine) {
    this.#engine = engine;
  }

  /** The engine as the files of one organization are shown to it. `recognize` keeps nothing. */
  of(organization: string): DocumentEngine {
    const known = async <T extends object>(
      verb: string,
      file: DocumentFile,
      options: object,
      work: () => Promise<T>,
    ): Promise<T> => {
      const key = keyOf(organization, verb, file, options);
      const before = this.#results.get(key) as T | undefined;
      if (before) return before;
      const result = await work();
      this.#results.set(key, result);
      return result;
    };
    const engine = this.#engine;
    return {
      read: (file, told, signal, onPages) => known('read', file, told, () => engine.read(file, told, signal, onPages)),
      render: (file, told, signal) => known('render', file, told, () => engine.render(file, told, signal)),
      redact: (file, told, signal, onPages) =>
        known('redact', file, told, () => engine.redact(file, told, signal, onPages)),
      recognize: (file, told, signal) => engine.recognize(file, told, signal),
      ping: () => engine.ping(),
    };
  }
}

function keyOf(organization: string, verb: string, { name, mediaType, bytes }: DocumentFile, options: object): string {
  const about = JSON.stringify([organization, verb, name, mediaType, options]);
  return hash('sha256', about, 'hex') + createHash('sha256').update(bytes).digest('hex');
}

/** Bytes that a result takes at most, roughly. */
function sizeOf(value: unknown): number {
  if (typeof value === 'string') return value.length * 2;
  if (value instanceof Uint8Array) return value.length;
  if (typeof value !== 'object' || value === null) return 8;
  return Object.values(value).reduce<number>((sum, inner) => sum + sizeOf(inner), 32);
}
