import { LRUCache } from 'lru-cache';
import type { GatewayError } from '#/errors/gateway-error.ts';
import type { Opening } from '#/call/call.ts';
import type { RateStatus } from '#/ports/limit-counters.ts';
import { limitRefusal } from './limit-refusal.ts';

type Caller = Pick<Opening, 'id' | 'key' | 'snapshot'>;

/** What is no larger is read, and the counters are asked: they say most. */
const SMALL_BYTES = 64 * 1024;

/** What the counters said last of the requests per minute of a workload. */
interface Told {
  readonly remaining: number;
  /** Nothing is added to what remains before then, by the clock of `now`. */
  readonly until: number;
  readonly revision: string;
}

/** Of more workloads than these at once it is not remembered what the counters said. */
const MOST_WORKLOADS = 4096;
/** When to come again where nothing but other requests of the same workload is in the way. */
const SOON_MS = 1000;

/**
 * Requests with large bodies that have arrived and that the counters have not been asked about yet, so that a workload
 * cannot send more of them at once than it has requests left. By process: the counters decide, and they are asked once a body was read.
 */
export class Arrivals {
  readonly #pending = new Map<string, Set<string>>();
  readonly #told = new LRUCache<string, Told>({ max: MOST_WORKLOADS });
  readonly #now: () => number;

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Counts an arrival until it is `granted` or leaves, or says why no more fit into this minute. */
  enter({
    id,
    key: { workload },
    snapshot: { revision },
    headers,
  }: Caller & Pick<Opening, 'headers'>): GatewayError | undefined {
    const limit = workload.requestsPerMinute;
    if (limit === undefined || isSmall(headers)) return undefined;
    const now = this.#now();
    const told = this.#told.get(workload.id);
    const holds = told !== undefined && now < told.until && told.revision === revision;
    const pending = this.#pending.get(workload.id);
    const remaining = (holds ? told.remaining : limit) - (pending?.size ?? 0);
    if (remaining <= 0) {
      const resetMs = holds ? told.until - now : SOON_MS;
      const requests = { limit, remaining: 0, resetMs };
      return limitRefusal({ kind: 'refused', by: 'requests', retryAfterMs: resetMs, requests }, workload);
    }
    if (pending) pending.add(id);
    else this.#pending.set(workload.id, new Set([id]));
    return undefined;
  }

  /** The counters were asked about a request, at `askedAt`, and let it through. */
  granted(caller: Caller, requests: RateStatus | undefined, askedAt: number): void {
    this.leave(caller);
    if (!requests) return;
    const { workload } = caller.key;
    const { remaining, resetMs } = requests;
    this.#told.set(workload.id, { remaining, until: askedAt + resetMs, revision: caller.snapshot.revision });
  }

  /** A request that is no longer on its way to the counters. */
  leave({ id, key: { workload } }: Pick<Opening, 'id' | 'key'>): void {
    const pending = this.#pending.get(workload.id);
    if (pending?.delete(id) === true && pending.size === 0) this.#pending.delete(workload.id);
  }
}

function isSmall(headers: Opening['headers']): boolean {
  return headers['transfer-encoding'] === undefined && !(Number(headers['content-length'] ?? 0) > SMALL_BYTES);
}
