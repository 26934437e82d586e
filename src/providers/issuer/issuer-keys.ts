import { createLocalJWKSet, errors, type JWTVerifyGetKey } from 'jose';
import { AccessTokenFault } from '#/ports/access-tokens.ts';
import { isObject, type Json } from '#/wire/document/json.ts';
import type { Transport } from '../http/transport.ts';

/** Keys are fetched again when they are this old. */
const KEPT_MS = 600_000;
/** An issuer that cannot be asked is believed to have its last keys for so long. */
const LAST_MS = 3_600_000;
/** After each try the issuer is left alone: unknown keys in tokens cost it little. */
const AGAIN_MS = 30_000;
/** The same as long as no keys are known at all. */
const FIRST_AGAIN_MS = 2000;
const TIMEOUT_MS = 5000;
const MOST_BYTES = 256 * 1024;
const MOST_KEYS = 100;

/** Keys as they were fetched. */
interface Known {
  readonly find: JWTVerifyGetKey;
  readonly fetchedAt: number;
}

/** The public keys of one issuer, fetched when they are needed: one request at a time, and few of them. */
export class IssuerKeys {
  readonly #url: URL;
  readonly #transport: Transport;
  #known: Known | undefined;
  #fetching: Promise<void> | undefined;
  #triedAt = -Infinity;
  #isFailing = false;

  constructor(url: string, transport: Transport) {
    this.#url = new URL(url);
    this.#transport = transport;
  }

  /** The key that a token names. Rejects with an error of `jose`, or with `AccessTokenFault` where no keys are known. */
  readonly find: JWTVerifyGetKey = async (header, token) => {
    const before = this.#known;
    if (this.#age() > KEPT_MS) {
      const renewing = this.#renew();
      // No token waits for an issuer that has just failed, as long as its last keys hold.
      if (!this.#isFailing || this.#age() > LAST_MS) await renewing;
    }
    try {
      return await this.#current().find(header, token);
    } catch (thrown) {
      if (!(thrown instanceof errors.JWKSNoMatchingKey)) throw thrown;
      await this.#renew();
      // The issuer may have the key by now: only keys that came after the token say that it does not.
      if (this.#known === before)
        throw new AccessTokenFault('unavailable', 'the newest keys of the issuer are not known');
      return this.#current().find(header, token);
    }
  };

  #age(): number {
    return this.#known ? performance.now() - this.#known.fetchedAt : Infinity;
  }

  #current(): Known {
    if (this.#known && this.#age() <= LAST_MS) return this.#known;
    throw new AccessTokenFault('unavailable', 'the keys of the issuer are not known');
  }

  /** Fetches the keys, unless that was tried just now. Those in force stay where it fails. */
  async #renew(): Promise<void> {
    const waitMs = this.#known ? AGAIN_MS : FIRST_AGAIN_MS;
    if (!this.#fetching) {
      if (performance.now() - this.#triedAt < waitMs) return;
      this.#triedAt = performance.now();
      this.#fetching = this.#fetch().then((known) => {
        this.#fetching = undefined;
        this.#isFailing = known === undefined;
        if (known) this.#known = known;
      });
    }
    await this.#fetching;
  }

  /** Undefined: the issuer gives no keys. Never rejects. */
  async #fetch(): Promise<Known | undefined> {
    try {
      const { origin, pathname, search } = this.#url;
      const incoming = await this.#transport.send({
        method: 'GET',
        origin,
        path: pathname + search,
        headers: { accept: 'application/json, application/jwk-set+json' },
        body: undefined,
        timeoutMs: TIMEOUT_MS,
        idle: false,
        signal: NEVER,
      });
      if (incoming.status !== 200) {
        incoming.close();
        return undefined;
      }
      const value = JSON.parse(await incoming.text(MOST_BYTES)) as Json;
      const keys = isObject(value) && Array.isArray(value['keys']) ? (value['keys'] as readonly Json[]) : [];
      const usable = keys.filter(isObject).slice(0, MOST_KEYS);
      if (usable.length === 0) return undefined;
      return { find: createLocalJWKSet({ keys: usable }), fetchedAt: performance.now() };
    } catch {
      // Those that wait learn it from the age of the keys.
      return undefined;
    }
  }
}

const NEVER = new AbortController().signal;
