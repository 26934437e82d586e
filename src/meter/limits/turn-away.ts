import { GatewayError } from '#/errors/gateway-error.ts';
import type { CallContext } from '#/call/call.ts';
import { LRUCache } from 'lru-cache';
import type { OrganizationConfig, Snapshot, VirtualKeyConfig, WorkloadConfig } from '#/config/snapshot.ts';
import type { RateStatus } from '#/ports/limit-counters.ts';
import { limitRefusal, type Refused } from './limit-refusal.ts';

/** Why a request is refused before its body is read; undefined: it must be looked at, and has been counted as arrived. */
export function turnAway(
  caller: Pick<CallContext, 'id' | 'key' | 'snapshot' | 'startedAt' | 'headers'>,
  { refusals, arrivals }: { readonly refusals: RecentRefusals; readonly arrivals: Arrivals },
): GatewayError | undefined {
  const { key, snapshot, startedAt, headers } = caller;
  const { organization } = key.workload;
  const hasPlan = organization.suspended || organization.plan !== undefined;
  return (
    (hasPlan ? billingPlanRefusal(organization, startedAt) : undefined) ??
    (refusals.hasAny ? refusals.find(key, snapshot) : undefined) ??
    (isSmall(headers) ? undefined : arrivals.enter(caller))
  );
}

/** Smaller requests are read and sent to the counters, which give the best answer. */
const SMALL_BYTES = 64 * 1024;

function isSmall({ 'transfer-encoding': coding, 'content-length': length }: CallContext['headers']): boolean {
  return coding === undefined && !(Number(length ?? 0) > SMALL_BYTES);
}

interface Recent {
  readonly decision: Refused;
  /** Milliseconds on the clock. */
  readonly at: number;
  readonly until: number;
  readonly revision: string;
  /** How often the counters have refused since. */
  readonly times: number;
  readonly since: number;
}

/** More workloads than these at once are not remembered. */
const MOST_WORKLOADS = 4096;
/** What settles while calls run may make room at any time: so long it is not noticed. */
const SHORT_MS = 1000;
/** As many refusals within that time are a loop that does not listen. */
const MANY = 20;

/**
 * Workloads that the counters have just refused, so that the next request is turned away before its body is read.
 * Kept by process, and forgotten with the configuration it was decided under. What the counters would grant is refused
 * for no longer than this:
 *
 * - requests per minute: not at all. No request fits before the time that the counters have named.
 * - tokens per minute, none left; a budget or cap: one second, or until a call here gives back what it did not use. Less was
 *   left than the last request needed, but a smaller one may fit.
 * - whatever it was, after twenty refusals within a second: one second. // spec 8
 */
export class RecentRefusals {
  /** Whether there is any: without one, nothing is found, and nothing is to be forgotten. */
  hasAny = false;
  readonly #recent = new LRUCache<string, Recent>({ max: MOST_WORKLOADS });
  /** Organization -> when a call last gave back what it had not used. */
  readonly #freed = new LRUCache<string, number>({ max: MOST_WORKLOADS });
  readonly #now: () => number;

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Keeps a decision of the counters, who were asked `at`: what they say of the future begins no later. */
  note(decision: Refused, at: number, { id }: WorkloadConfig, revision: string): void {
    const known = this.#recent.get(id);
    const again = known !== undefined && at - known.since < SHORT_MS;
    const times = again ? known.times + 1 : 1;
    const ms = Math.max(validMs(decision), times >= MANY ? SHORT_MS : 0);
    this.hasAny = true;
    this.#recent.set(id, { decision, at, until: at + ms, revision, times, since: again ? known.since : at });
  }

  /** The counters have let a request through. */
  forget({ id }: WorkloadConfig): void {
    this.#recent.delete(id);
    this.hasAny = this.#recent.size > 0;
  }

  /** A call of this organization has given back what it did not use: another may fit now. */
  freed(organization: string): void {
    if (this.hasAny) this.#freed.set(organization, this.#now());
  }

  /** The remembered refusal of a request of this key; undefined: the request must be checked. */
  find({ workload }: VirtualKeyConfig, { revision }: Snapshot): GatewayError | undefined {
    const recent = this.#recent.get(workload.id);
    if (!recent) return undefined;
    if (this.#mayFit(recent, workload)) return undefined;
    const now = this.#now();
    return now < recent.until && recent.revision === revision ? limitRefusal(aged(recent, now), workload) : undefined;
  }

  /** A caller in a loop is still refused. */
  #mayFit({ at, times, decision }: Recent, { organization }: WorkloadConfig): boolean {
    const freedAt = this.#freed.get(organization.id);
    return freedAt !== undefined && freedAt >= at && times < MANY && decision.by !== 'requests';
  }
}

/** How long a decision holds for every other request too. */
function validMs({ by, retryAfterMs, tokens }: Refused): number {
  if (by === 'requests') return retryAfterMs ?? 0;
  if (by === 'tokens') return tokens?.remaining === 0 ? Math.min(retryAfterMs ?? 0, SHORT_MS) : 0;
  return SHORT_MS;
}

/** The decision as it would be now. */
function aged({ decision, at }: Recent, now: number): Refused {
  const later = (ms: number): number => Math.max(0, ms - (now - at));
  const status = ({ limit, remaining, resetMs }: RateStatus): RateStatus => ({
    limit,
    remaining,
    resetMs: later(resetMs),
  });
  const { retryAfterMs, requests, tokens } = decision;
  return {
    ...decision,
    ...(retryAfterMs !== undefined && { retryAfterMs: later(retryAfterMs) }),
    ...(requests && { requests: status(requests) }),
    ...(tokens && { tokens: status(tokens) }),
  };
}

type Caller = Pick<CallContext, 'id' | 'key' | 'snapshot'>;

/** What the counters said last of the requests per minute of a workload. */
interface Told {
  readonly remaining: number;
  /** Nothing is added to what remains before then, by the clock of `now`. */
  readonly until: number;
  readonly revision: string;
}

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
  }: Caller & Pick<CallContext, 'headers'>): GatewayError | undefined {
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
    if (this.#pending.size > 0) this.leave(caller);
    if (!requests) return;
    const { workload } = caller.key;
    const { remaining, resetMs } = requests;
    this.#told.set(workload.id, { remaining, until: askedAt + resetMs, revision: caller.snapshot.revision });
  }

  /** A request that is no longer on its way to the counters. */
  leave({ id, key: { workload } }: Pick<CallContext, 'id' | 'key'>): void {
    const pending = this.#pending.get(workload.id);
    if (pending?.delete(id) === true && pending.size === 0) this.#pending.delete(workload.id);
  }
}

/**
 * What every call of an organization is refused with while it has no active plan: `insufficient_quota`, with the day
 * from which or until which it has one. Undefined: it may call. // spec 7.1
 */
export function billingPlanRefusal({ suspended, plan }: OrganizationConfig, now: number): GatewayError | undefined {
  if (suspended) return noPlan('This organization has no active plan: it is suspended.');
  if (plan === undefined) return undefined;
  if (plan.type === 'none') return noPlan('This organization has no active plan.');
  if (plan.activeFrom !== undefined && now < plan.activeFrom)
    return noPlan(`This organization has no active plan yet. It begins at ${instant(plan.activeFrom)}.`);
  if (plan.activeUntil !== undefined && now >= plan.activeUntil)
    return noPlan(`The billing plan of this organization ended at ${instant(plan.activeUntil)}.`);
  return undefined;
}

function noPlan(message: string): GatewayError {
  return new GatewayError('insufficient_quota', message);
}

function instant(ms: number): string {
  return new Date(ms).toISOString();
}
