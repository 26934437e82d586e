import { GatewayError } from '#/errors/gateway-error.ts';

/** Whose body it is. */
export interface BodyOwner {
  readonly key: string;
  readonly organization: string;
}

/**
 * Measured memory per byte of a body while its call lasts: the bytes, their text, the parsed document,
 * the copies for detection threads, and the request to the provider.
 */
const MEMORY_PER_BYTE = 8;

/** How long a request without room has to wait. */
const RETRY_AFTER_MS = 2000;

/**
 * The memory that all bodies of one process may take together, of which one organization gets at most a half and one key
 * at most a quarter, but each as much as the largest body needs. Counts bytes that have arrived, not the announced length.
 */
export class BodyRoom {
  /** Bytes of the largest body that is taken. */
  readonly largest: number;
  readonly #all: Share;
  readonly #organizations: Shares;
  readonly #keys: Shares;

  /** `bytes`: memory for bodies. `limit`: how large one body may be; less where the memory does not suffice. */
  constructor(bytes: number, limit: number) {
    this.largest = Math.min(limit, Math.floor(bytes / MEMORY_PER_BYTE));
    const least = this.largest * MEMORY_PER_BYTE;
    this.#all = { taken: 0, most: bytes };
    this.#organizations = new Shares(Math.max(least, bytes / 2));
    this.#keys = new Shares(Math.max(least, bytes / 4));
  }

  /** Memory that bodies take now. */
  get taken(): number {
    return this.#all.taken;
  }

  /** A place for one body, which takes nothing yet. Dispose of it to give back what it took. */
  enter({ key, organization }: BodyOwner): BodyPlace {
    return new BodyPlace(this.#keys.of(key), this.#organizations.of(organization), this.#all);
  }
}

/** What one body takes of the room. */
export class BodyPlace implements Disposable {
  readonly #key: OwnedShare;
  readonly #organization: OwnedShare;
  /** The narrowest first. */
  readonly #shares: readonly Share[];
  #taken = 0;
  #open = true;

  constructor(key: OwnedShare, organization: OwnedShare, all: Share) {
    this.#key = key;
    this.#organization = organization;
    this.#shares = [key, organization, all];
  }

  /**
   * Reserves memory for bytes that have arrived, or for so many of what takes `each` bytes. Throws `rate_limit_exceeded`
   * or `upstream_overloaded` if no memory is left.
   */
  take(count: number, each = MEMORY_PER_BYTE): void {
    // A body that is still arriving after its call has ended is not kept.
    if (!this.#open) return;
    const memory = count * each;
    for (const share of this.#shares) if (share.taken + memory > share.most) throw this.#refusal(memory, share);
    for (const share of this.#shares) share.taken += memory;
    this.#taken += memory;
  }

  /** Throws as `take` does where there would be no room for a body of so many bytes. */
  expect(bytes: number): void {
    const memory = bytes * MEMORY_PER_BYTE;
    for (const share of this.#shares) if (share.taken + memory > share.most) throw this.#refusal(memory, share);
  }

  [Symbol.dispose](): void {
    if (!this.#open) return;
    this.#open = false;
    for (const share of this.#shares) share.taken -= this.#taken;
    for (const share of [this.#key, this.#organization]) if (--share.places === 0) share.among.delete(share.name);
  }

  /** Why a share has no room for so much memory. */
  #refusal(memory: number, full: Share): GatewayError {
    if (this.#shares.some((share) => this.#taken + memory > share.most))
      return new GatewayError('request_too_large', 'The request body needs more memory than one request may use.');
    const [code, whose] = FULL[this.#shares.indexOf(full)]!;
    const message = `${whose} Send the request again in a moment, or send fewer large requests at a time.`;
    return new GatewayError(code, message, { retryAfterMs: RETRY_AFTER_MS, shouldRetry: true });
  }
}

const FULL = [
  ['rate_limit_exceeded', 'The requests in progress with this API key use all the memory that one key may use.'],
  ['rate_limit_exceeded', 'The requests in progress of this organization use all the memory that it may use.'],
  ['upstream_overloaded', 'The requests in progress use all the memory that the gateway has for them.'],
] as const;

interface Share {
  taken: number;
  readonly most: number;
}

/** The share of one holder, among those of others by name. */
interface OwnedShare extends Share {
  readonly name: string;
  readonly among: Map<string, OwnedShare>;
  /** Bodies that have a place in it. */
  places: number;
}

/** Shares by name; a share is deleted once it is empty. */
class Shares {
  readonly #most: number;
  readonly #shares = new Map<string, OwnedShare>();

  constructor(most: number) {
    this.#most = most;
  }

  /** The share of this name. Adds a place to it. */
  of(name: string): OwnedShare {
    const among = this.#shares;
    let share = among.get(name);
    if (!share) among.set(name, (share = { taken: 0, most: this.#most, name, among, places: 0 }));
    share.places += 1;
    return share;
  }
}
