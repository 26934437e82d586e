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
 * at most a quarter, but each as much as the largest body needs. Takes what has arrived, not what was announced.
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
    const shares = [this.#keys.of(key), this.#organizations.of(organization), this.#all];
    return new BodyPlace(shares, () => {
      this.#keys.drop(key);
      this.#organizations.drop(organization);
    });
  }
}

/** What one body takes of the room. */
export class BodyPlace implements Disposable {
  readonly #shares: readonly Share[];
  readonly #left: () => void;
  #taken = 0;
  #open = true;

  constructor(shares: readonly Share[], left: () => void) {
    this.#shares = shares;
    this.#left = left;
  }

  /**
   * Reserves memory for bytes that have arrived. Throws `rate_limit_exceeded` or `upstream_overloaded` if there is none
   * left.
   */
  take(bytes: number): void {
    this.takeMemory(bytes * MEMORY_PER_BYTE);
  }

  /** Takes room for what bytes become beyond what `take` expects. Throws as `take` does. */
  takeMemory(bytes: number): void {
    // A body that is still arriving after its call has ended is not kept.
    if (!this.#open) return;
    this.#check(bytes);
    for (const share of this.#shares) share.taken += bytes;
    this.#taken += bytes;
  }

  /** Throws as `take` does where there would be no room for a body of so many bytes. */
  expect(bytes: number): void {
    this.#check(bytes * MEMORY_PER_BYTE);
  }

  [Symbol.dispose](): void {
    if (!this.#open) return;
    this.#open = false;
    for (const share of this.#shares) share.taken -= this.#taken;
    this.#left();
  }

  #check(bytes: number): void {
    const full = this.#shares.findIndex((share) => share.taken + bytes > share.most);
    if (full < 0) return;
    if (this.#shares.some((share) => this.#taken + bytes > share.most)) {
      throw new GatewayError('request_too_large', 'The request body needs more memory than one request may use.');
    }
    const [code, whose] = FULL[full]!;
    throw new GatewayError(
      code,
      `${whose} Send the request again in a moment, or send fewer large requests at a time.`,
      {
        retryAfterMs: RETRY_AFTER_MS,
        shouldRetry: true,
      },
    );
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

/** Shares by name; a share is deleted once it is empty. */
class Shares {
  readonly #most: number;
  readonly #shares = new Map<string, Share & { places: number }>();

  constructor(most: number) {
    this.#most = most;
  }

  of(name: string): Share {
    let share = this.#shares.get(name);
    if (!share) this.#shares.set(name, (share = { taken: 0, most: this.#most, places: 0 }));
    share.places += 1;
    return share;
  }

  drop(name: string): void {
    const share = this.#shares.get(name);
    if (share && --share.places === 0) this.#shares.delete(name);
  }
}
