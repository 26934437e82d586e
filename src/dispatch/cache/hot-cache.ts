import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { CallRequest } from '#/call/call.ts';
import type { ResponseCache } from '#/ports/response-cache.ts';
import type { CallContent } from '#/seal/content/content-writer.ts';
import type { CallFacts, StatedFacts } from '#/call/facts.ts';
import type { Stored } from './recalled.ts';
import { cacheControl, MOST_CACHED } from './answer-cache.ts';

/** What the row of a call that was answered from the cache says, and says again of the same call. */
export interface Recurring {
  /** Found while the call was read and routed. */
  readonly read: CallFacts & Pick<StatedFacts, 'asked'>;
  /** Of the answer. */
  readonly answered: CallFacts & Pick<StatedFacts, 'losses'>;
}

/** What holds for the next call with the same bytes, too; undefined unless this one was answered from the cache. */
export function recurringOf(stated: StatedFacts): Recurring | undefined {
  const { asked, scope, findings, detectors, unscanned, removed, route, shadow } = stated;
  const { cacheHit, isServed, target, losses, providerResponseId } = stated;
  if (cacheHit === 'none' || !isServed || !target) return undefined;
  return {
    read: { asked, scope, findings, detectors, unscanned, removed, route, shadow },
    answered: { cacheHit, target, losses, providerResponseId },
  };
}

/** All that a call was found to be, and what its client was sent, when it was answered from the cache. */
export interface Repeat {
  /** Row fields that are the same for every repeat. */
  readonly row: Recurring;
  /** Response headers. */
  readonly headers: Readonly<Record<string, string>>;
  /** The body of the answer, originals restored; of a stream, all its events. */
  readonly text: string;
  /** Retained content, if policy retains content. */
  readonly content: CallContent | undefined;
}

export interface HotCacheDeps {
  readonly store: Pick<ResponseCache, 'epoch'>;
  readonly onFault: (error: unknown) => void;
  /** Told of every call that is answered from here. */
  readonly onFound: () => void;
  /** Most bytes that are remembered of all organizations, about. */
  readonly maxBytes?: number;
}

interface Known extends Repeat {
  /** The configuration it was decided under. */
  readonly snapshot: CallRequest['snapshot'];
  readonly organization: string;
  readonly epoch: string;
  /** On the monotonic clock. */
  readonly until: number;
}

/** They hold original values, so they must not outlive expired or erased entries of the store by much. */
const TTL_MS = 60_000;
const SWEEP_MS = 10_000;
/** An erasure is noticed after this time at most. */
const EPOCH_MS = 1000;
const MAX_BYTES = 32 * 1024 * 1024;
const MAX_ENTRY_BYTES = 1024 * 1024;
/** Memory of an entry besides its texts. */
const OVERHEAD_BYTES = 4096;

/**
 * Recent answers from the cache, to be given again without reading the request: a request of the same key
 * with the same bytes, under the same configuration, is the same call. // spec 4.3.4
 * Kept by process, for a minute at most, never longer than the answer is kept in the store, and only while the
 * organization's epoch is known and goes on. Found by digest: the requests themselves are not kept.
 */
export class HotCache {
  readonly #deps: HotCacheDeps;
  readonly #known: LRUCache<string, Known>;
  readonly #epochs = new Map<string, KnownEpoch>();
  #sweeping = false;

  constructor(deps: HotCacheDeps) {
    this.#deps = deps;
    this.#known = new LRUCache<string, Known>({
      maxSize: deps.maxBytes ?? MAX_BYTES,
      maxEntrySize: MAX_ENTRY_BYTES,
      sizeCalculation: sizeOf,
    });
  }

  /** The entry of an identical earlier call; a promise if the store must confirm that it is still valid. */
  find(request: CallRequest, text: string): Repeat | undefined | Promise<Repeat | undefined> {
    const { key } = request;
    if (this.#known.size === 0 || !key.workload.policy.responseCache.enabled) return undefined;
    if (text.length > MOST_CACHED) return undefined;
    const control = cacheControl(request);
    // An entry that a fresh answer will replace is removed.
    if (control === 'no-cache') this.#known.delete(digestOf(request, text));
    if (control !== undefined) return undefined;
    const known = this.#known.get(digestOf(request, text));
    const now = performance.now();
    if (!known || known.snapshot !== request.snapshot || known.until <= now) return undefined;
    const epoch = this.#epochs.get(known.organization);
    if (epoch === undefined || epoch.until <= now) return this.#ask(known);
    return this.#in(epoch.value, known);
  }

  /** Remembers a call that was found in the store. */
  note(request: CallRequest, text: string, repeat: Repeat, { ttlMs, epoch }: Stored): void {
    const { snapshot, key } = request;
    const until = performance.now() + Math.min(ttlMs, TTL_MS);
    const organization = key.workload.organization.id;
    this.#known.set(digestOf(request, text), { ...repeat, snapshot, organization, epoch, until });
    this.#sweepLater();
  }

  async #ask(known: Known): Promise<Repeat | undefined> {
    const { organization } = known;
    let epoch = this.#epochs.get(organization);
    if (!epoch?.asking) {
      epoch = { value: epoch?.value, until: epoch?.until ?? 0, asking: this.#read(organization) };
      this.#epochs.set(organization, epoch);
    }
    return this.#in(await epoch.asking, known);
  }

  #in(epoch: string | undefined, known: Known): Repeat | undefined {
    if (epoch !== known.epoch) return undefined;
    this.#deps.onFound();
    return known;
  }

  /** The current epoch; undefined if it is unknown, which then holds for as long as an epoch would. */
  async #read(organization: string): Promise<string | undefined> {
    const until = performance.now() + EPOCH_MS;
    let value: string | undefined;
    try {
      value = await this.#deps.store.epoch(organization);
    } catch (error) {
      this.#deps.onFault(error);
    }
    this.#epochs.set(organization, { value, until, asking: undefined });
    for (const [digest, known] of this.#known.entries()) {
      if (value !== undefined && known.organization === organization && known.epoch !== value)
        this.#known.delete(digest);
    }
    return value;
  }

  #sweepLater(): void {
    if (this.#sweeping) return;
    this.#sweeping = true;
    setTimeout(() => {
      this.#sweeping = false;
      const now = performance.now();
      for (const [digest, { until }] of this.#known.entries()) if (until <= now) this.#known.delete(digest);
      if (this.#known.size > 0) this.#sweepLater();
      else this.#epochs.clear();
    }, SWEEP_MS).unref();
  }
}

interface KnownEpoch {
  /** Undefined when the store could not be asked. */
  readonly value: string | undefined;
  /** On the monotonic clock. */
  readonly until: number;
  readonly asking: Promise<string | undefined> | undefined;
}

/** Everything that the answer to a call depends on, besides the configuration. */
function digestOf({ key, surface, headers }: CallRequest, text: string): string {
  let heeded = '';
  for (const name in headers) {
    if (name.startsWith('x-gw-') || name.startsWith('anthropic-')) heeded += JSON.stringify([name, headers[name]]);
  }
  return hash('sha256', `${key.id}\n${surface}\n${heeded}\n${text}`, 'base64');
}

function sizeOf({ text, content }: Known): number {
  let characters = text.length;
  for (const tag in content?.tags) characters += tag.length + content.tags[tag]!.length;
  return OVERHEAD_BYTES + 2 * characters;
}
