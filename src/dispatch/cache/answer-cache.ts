import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Call, CallContext } from '#/call/call.ts';
import type { CacheLookup, ResponseCache } from '#/ports/response-cache.ts';
import type { ContentCipher } from '#/seal/content/content-cipher.ts';
import { readDocument } from '#/wire/document/document.ts';
import { endedWell } from '#/wire/answer/ended-well.ts';
import { normalForm } from '#/wire/document/normal-form.ts';
import { SingleFlight, type Flight } from './single-flight.ts';
import type { Candidate, Candidates } from '#/call/target.ts';
import {
  Hit,
  Miss,
  NOT_CACHED,
  type Answerer,
  type CacheHit,
  type Put,
  type Recalled,
  type SharedAnswer,
} from './recalled.ts';
import type { RecordedAnswer } from './recorded.ts';

export interface AnswerCacheDeps {
  readonly store: ResponseCache;
  readonly cipher: ContentCipher;
  readonly onFault: (error: unknown) => void;
}

/** A stream's client hears nothing while its call waits for another: for less than what keeps connections open. */
const MAX_STREAM_WAIT_MS = 10_000;
const MOST_NAMES = 10_000;
/** An entry begins with the id of the call it is from, a UUID. */
const ID_LENGTH = 36;
const DAY_SECONDS = 86_400;
/** Code units of a request that is cached, at most: its name is made of all of it at once. */
export const MOST_CACHED = 1024 * 1024;

/**
 * The exact cache of answers. // spec 4.3.4
 * Looked up by what would be sent, after inspection: personal data in it has become tags, and the answer speaks of tags,
 * so that each caller's own table restores it. Callers of one organization share; organizations never do, since name and
 * key are derived for each. Identical calls at the same time are dispatched once a process.
 */
export class AnswerCache {
  readonly #deps: AnswerCacheDeps;
  readonly #flights = new SingleFlight<SharedAnswer>();
  /** Cache names by digest of their inputs: for calls that are identical byte for byte. */
  readonly #names = new LRUCache<string, readonly string[]>({ max: MOST_NAMES });

  constructor(deps: AnswerCacheDeps) {
    this.#deps = deps;
  }

  /**
   * Looks for an answer to any of the candidates, all of which may serve the call, whose policy has the cache enabled.
   * Never rejects: a fault is a miss.
   */
  async recall(call: Call, plan: Candidates): Promise<Recalled> {
    const control = cacheControl(call);
    if (control === 'no-store') return NOT_CACHED;
    const places = placesOf(plan, (candidate) => this.#namesOf(call, candidate));
    const first = places.keys().next().value;
    if (first === undefined) return NOT_CACHED;
    if (control === 'no-cache') {
      const { epoch } = await this.#find(call, places);
      return new Miss(0, undefined, this.#putFor(call, places, epoch));
    }
    const { shared, own, waitedMs } = await this.#waitForAnother(first, call);
    const candidate = shared && places.get(shared.name)?.candidate;
    if (shared && candidate) return new Hit({ ...shared, candidate, stored: undefined });
    const { found, epoch } = await this.#find(call, places);
    if (found) {
      const { name, answer, callId } = found;
      own?.resolve({ brought: { name, answer, callId } });
      return new Hit(found);
    }
    return new Miss(waitedMs, own, this.#putFor(call, places, epoch));
  }

  /**
   * Waits for identical calls in progress. When one fails, one of those that wait goes in its place, as their `own`, and
   * the others wait on; when one has nothing to share, or time is up, each goes alone.
   */
  async #waitForAnother(name: string, call: Call): Promise<Waited> {
    const started = performance.now();
    for (;;) {
      const flight = this.#flights.find(name);
      const waitedMs = performance.now() - started;
      // At once, before any other that waits looks for one.
      if (!flight) return { own: this.#flights.begin(name), waitedMs };
      const result = await flight.wait(Math.max(0, patience(call) - waitedMs), call.signal);
      if (result === 'failed') continue;
      return { waitedMs: performance.now() - started, ...(result !== 'nothing' && { shared: result.brought }) };
    }
  }

  /** What the answer of this candidate is called, the newest name first; empty when it is not to be cached. */
  #namesOf(call: Call, { provider, model, family, body }: Candidate): readonly string[] {
    if (body.length > MOST_CACHED) return [];
    const { config } = provider;
    const { id } = call.key.workload.organization;
    const betas = call.headers['anthropic-beta'] ?? null;
    const version = call.headers['anthropic-version'] ?? null;
    const head = JSON.stringify([
      'v1',
      config.id,
      config.url,
      provider.upstreamModel(model),
      family,
      call.ask.stream,
      betas,
      version,
    ]);
    const digest = hash('sha256', `${id}\n${head}\n${body}`, 'base64');
    let names = this.#names.get(digest);
    if (names === undefined) {
      const normal = normalForm(readDocument(family, body));
      names = normal === undefined ? [] : this.#deps.cipher.names(id, `${head}\n${normal}`);
      this.#names.set(digest, names);
    }
    return names;
  }

  async #find(call: Call, places: Places): Promise<Found> {
    const { id: organization } = call.key.workload.organization;
    const byName = new Map<string, Place>();
    for (const place of places.values()) for (const name of place.names) byName.set(name, place);
    let lookup: CacheLookup;
    try {
      lookup = await this.#deps.store.get(organization, [...byName.keys()]);
    } catch (error) {
      this.#deps.onFault(error);
      return { epoch: undefined };
    }
    const { entry, epoch } = lookup;
    const place = entry && byName.get(entry.name);
    if (!entry || !place) return { epoch };
    const decrypted = this.#deps.cipher.decrypt({ organization, purpose: 'answer', name: entry.name }, entry.encrypted);
    if (!decrypted) return { epoch };
    const callId = decrypted.toString('latin1', 0, ID_LENGTH);
    const stored = { ttlMs: entry.ttlMs, epoch };
    const { candidate, names } = place;
    return { epoch, found: { name: names[0]!, candidate, answer: decrypted.subarray(ID_LENGTH), callId, stored } };
  }

  /** A method of its own: a closure within `recall` would hold the call, and the bodies of its candidates. */
  #putFor({ id, key }: Call, places: Places, epoch: string | undefined): Put {
    const { organization, policy } = key.workload;
    const named: Named[] = [];
    for (const { candidate, names } of places.values()) {
      const { provider, model, family } = candidate;
      if (names[0] !== undefined) named.push({ provider, model, family, name: names[0] });
    }
    return (from, answer) => this.#put({ callId: id, organization, policy, named, epoch }, from, answer);
  }

  /**
   * The answer as those who wait get it; undefined when it is not to be kept. Nothing is stored where the store could not
   * be asked before the call left: it may have been erased since.
   */
  #put(
    { callId, organization, policy, named, epoch }: Missed,
    { provider, model, family }: Answerer,
    answer: RecordedAnswer,
  ): SharedAnswer | undefined {
    if (!answer.whole) return undefined;
    const { bytes } = answer;
    // After a repeat without a refused member, it is still the answer to the planned request.
    const name = named.find((one) => one.provider === provider && one.model === model && one.family === family)?.name;
    if (name === undefined || !endedWell(bytes.toString('utf8'))) return undefined;
    const shared = { name, answer: bytes, callId };
    if (epoch === undefined) return shared;
    const place = { organization: organization.id, purpose: 'answer', name } as const;
    const encrypted = this.#deps.cipher.encrypt(place, Buffer.concat([Buffer.from(callId, 'latin1'), bytes]));
    // A cached answer is retained content too.
    const ttlSeconds = Math.min(policy.responseCache.ttlSeconds, policy.contentRetentionDays * DAY_SECONDS);
    this.#deps.store
      .put(organization.id, name, encrypted, ttlSeconds, epoch)
      .catch((error: unknown) => this.#deps.onFault(error));
    return shared;
  }
}

/** Result of waiting for others: an answer, a flight that others may wait for, or neither. */
interface Waited {
  readonly shared?: SharedAnswer;
  readonly own?: Flight<SharedAnswer>;
  readonly waitedMs: number;
}

/** What the store said: an answer or none, and its epoch unless it could not be asked. */
interface Found {
  readonly epoch: string | undefined;
  readonly found?: CacheHit & SharedAnswer;
}

interface Place {
  readonly candidate: Candidate;
  readonly names: readonly string[];
}

/** A candidate that was missed, by the newest name of its answer. */
interface Named extends Answerer {
  readonly name: string;
}

/** All that keeping the answer of a miss takes: not its request. */
interface Missed extends Pick<Call['key']['workload'], 'organization' | 'policy'> {
  readonly callId: string;
  readonly named: readonly Named[];
  readonly epoch: string | undefined;
}

/** Candidates whose answers may be cached, by their newest name. */
type Places = ReadonlyMap<string, Place>;

function placesOf(plan: Candidates, namesOf: (candidate: Candidate) => readonly string[]): Places {
  const places = new Map<string, Place>();
  for (const candidate of plan) {
    const names = namesOf(candidate);
    const [newest] = names;
    if (newest !== undefined && !places.has(newest)) places.set(newest, { candidate, names });
  }
  return places;
}

function patience({ ask, timeoutMs }: Call): number {
  return ask.stream ? Math.min(timeoutMs / 2, MAX_STREAM_WAIT_MS) : timeoutMs / 2;
}

/** What a client asks of the response cache: `no-cache`: a fresh answer, which may be kept; `no-store`: nothing of the call. */
export function cacheControl({ headers }: Pick<CallContext, 'headers'>): 'no-cache' | 'no-store' | undefined {
  const header = headers['cache-control'];
  if (header === undefined) return undefined;
  const asked = new Set(
    [header]
      .flat()
      .join(',')
      .toLowerCase()
      .split(',')
      .map((word) => word.trim()),
  );
  return asked.has('no-store') ? 'no-store' : asked.has('no-cache') ? 'no-cache' : undefined;
}
