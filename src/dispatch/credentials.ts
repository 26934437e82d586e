import { LRUCache } from 'lru-cache';
import type { CredentialConfig, ProviderConfig } from '#/config/snapshot.ts';
import type { Clock } from './breaker.ts';

/** Until when an account is not used for a model, on the clock's time, and why. */
interface Aside {
  /** A key that was replaced is another account. */
  readonly secret: string | undefined;
  readonly until: number;
  /** `limited`: the provider asked us to wait. `refused`: it does not serve the account, and may never. */
  readonly why: 'limited' | 'refused';
}

const MOST_ASIDE = 4096;
/** A provider that asks for longer is asked again after this: limits are raised, and mistaken hints end. */
const MOST_LIMITED_MS = 60_000;
const REFUSED_MS = 60_000;

/**
 * Spreads calls over the credentials of a provider by weight, without those that were set aside: one that is to wait, or
 * that the provider refuses. Weight 0 is for when no other is left. A refused one is still better than none.
 */
export class Credentials {
  readonly #aside = new LRUCache<string, Aside>({ max: MOST_ASIDE });
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Milliseconds until there is one that need not wait; 0: now. */
  waitMs(config: ProviderConfig, model: string): number {
    if (this.#aside.size === 0) return 0;
    let least = Infinity;
    for (const one of all(config)) {
      const aside = this.#of(config, model, one);
      if (aside === undefined) return 0;
      if (aside.why === 'limited') least = Math.min(least, aside.until - this.#clock.now());
    }
    return least === Infinity ? 0 : least;
  }

  /** The account for one attempt; undefined where the provider has none. */
  pick(config: ProviderConfig, model: string): CredentialConfig | undefined {
    const { credentials } = config;
    if (credentials.length <= 1) return credentials[0];
    const usable =
      this.#aside.size === 0 ? credentials : credentials.filter((one) => this.#of(config, model, one) === undefined);
    return this.#drawn(usable.length > 0 ? usable : credentials);
  }

  /** Sets an account aside that is to wait; for how long, at most a minute. */
  limit(config: ProviderConfig, model: string, one: CredentialConfig | undefined, waitMs: number): number {
    return this.#set(config, model, one, 'limited', Math.min(waitMs, MOST_LIMITED_MS));
  }

  /** Sets an account aside that the provider does not serve; for how long. */
  refuse(config: ProviderConfig, model: string, one: CredentialConfig | undefined): number {
    return this.#set(config, model, one, 'refused', REFUSED_MS);
  }

  /** Whether there is an account that was not set aside. */
  hasOther(config: ProviderConfig, model: string): boolean {
    return all(config).some((one) => this.#of(config, model, one) === undefined);
  }

  #drawn(credentials: readonly CredentialConfig[]): CredentialConfig | undefined {
    const total = credentials.reduce((sum, { weight }) => sum + weight, 0);
    let at = this.#clock.random() * total;
    for (const credential of credentials) {
      at -= credential.weight;
      if (at < 0) return credential;
    }
    return credentials.at(-1);
  }

  #set(
    config: ProviderConfig,
    model: string,
    one: CredentialConfig | undefined,
    why: Aside['why'],
    waitMs: number,
  ): number {
    this.#aside.set(idOf(config, model, one), { secret: one?.secret, until: this.#clock.now() + waitMs, why });
    return waitMs;
  }

  #of(config: ProviderConfig, model: string, one: CredentialConfig | undefined): Aside | undefined {
    const id = idOf(config, model, one);
    const aside = this.#aside.get(id);
    if (aside === undefined) return undefined;
    if (aside.secret === one?.secret && aside.until > this.#clock.now()) return aside;
    this.#aside.delete(id);
    return undefined;
  }
}

/** The accounts of a provider; one without a name where it has none. */
function all({ credentials }: ProviderConfig): readonly (CredentialConfig | undefined)[] {
  return credentials.length > 0 ? credentials : NO_ACCOUNT;
}

const NO_ACCOUNT = [undefined] as const;

function idOf({ id }: ProviderConfig, model: string, one: CredentialConfig | undefined): string {
  return `${id} ${one?.name ?? ''} ${model}`;
}
