import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { ResolvedPolicy } from '#config/snapshot.ts';
import type { Call } from '#pipeline/call.ts';
import type { Inspection } from './inspect.ts';

const MOST = 2000;
/** Inspections hold originals: they are not kept for long. */
const TTL_MS = 600_000;

/**
 * Inspections of texts that may come again, to the byte, under the same policy: for workloads whose answers are cached,
 * so that finding one costs less than asking for it. Refusals are not remembered.
 */
export class InspectedBefore {
  readonly #byPolicy = new WeakMap<ResolvedPolicy, LRUCache<string, Inspection>>();

  /** The inspection of a call's text, which depends on nothing but the text, its family and the policy. */
  async find({ key, codec, text }: Call, inspect: () => Promise<Inspection>): Promise<Inspection> {
    const { policy } = key.workload;
    let known = this.#byPolicy.get(policy);
    if (!known) this.#byPolicy.set(policy, (known = new LRUCache({ max: MOST, ttl: TTL_MS })));
    const digest = hash('sha256', `${codec.family}\n${text}`, 'base64');
    const before = known.get(digest);
    if (before) return before;
    const inspection = await inspect();
    known.set(digest, inspection);
    return inspection;
  }
}
