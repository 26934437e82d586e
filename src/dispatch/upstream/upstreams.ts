import { LRUCache } from 'lru-cache';
import type { CredentialConfig, ProviderConfig } from '#/config/snapshot.ts';
import { Attempt, Breaker, type BreakerState, type Clock, type Outcome } from './breaker.ts';

/** The watched part of a provider, or of a server of tools. */
type WatchedConfig = Pick<ProviderConfig, 'id' | 'credentials' | 'circuitBreaker'>;

/** A provider and one of its models, or a server of tools: what fails or recovers as one. */
export interface Upstream {
  readonly provider: { readonly config: WatchedConfig };
  readonly model: string;
  /** As of `Target`. */
  readonly account?: string | undefined;
}

/** Told when an upstream is left alone or taken up again, and when an account is. */
export type UpstreamEvent =
  | {
      readonly kind: 'circuit.changed';
      readonly provider: string;
      readonly model: string;
      readonly state: BreakerState;
    }
  | {
      readonly kind: 'credential.set_aside';
      readonly provider: string;
      readonly model: string;
      readonly credential: string;
      readonly why: 'limited' | 'refused';
      readonly waitMs: number;
    };

/** When an upstream may be asked, and why not now. */
export interface UpstreamHealth {
  /** 0: now. */
  readonly waitMs: number;
  /** `circuit_open`: it fails; `overloaded`: it asked us to wait. */
  readonly cause: 'circuit_open' | 'overloaded';
}

/** One attempt on an upstream, from its permit to its outcome. */
export interface AttemptPermit {
  /** The account to ask with; undefined where the provider has none. */
  readonly credential: CredentialConfig | undefined;
  /** The upstream has begun to answer. */
  answering(): void;
  /** Told in any case; only the first call counts. */
  end(outcome: Outcome): void;
  /** The provider asks this account to wait. */
  limited(waitMs: number): void;
  /** The provider will not serve this account. Whether there is another one to ask with. */
  refused(): boolean;
}

/** More upstreams than these at once are not watched: the longest unused are forgotten. */
const MOST_UPSTREAMS = 2048;

const HEALTHY: UpstreamHealth = { waitMs: 0, cause: 'circuit_open' };

const REAL: Clock = { now: performance.now.bind(performance), random: Math.random };

/**
 * How the upstreams fare, as this process has seen it: what others know of them they find out by themselves. Kept over
 * changes of the configuration, by the provider's id.
 */
export class Upstreams {
  readonly #breakers = new LRUCache<string, Breaker>({ max: MOST_UPSTREAMS });
  /** The one asked for last, which is the newest of them: a call asks several times in a row. */
  #last: Watched | undefined;
  readonly #credentials: Credentials;
  readonly #clock: Clock;
  readonly #onEvent: (event: UpstreamEvent) => void;

  constructor(onEvent: (event: UpstreamEvent) => void = () => {}, clock: Clock = REAL) {
    this.#clock = clock;
    this.#credentials = new Credentials(clock);
    this.#onEvent = onEvent;
  }

  /** How many upstreams are left alone at the moment. */
  get open(): number {
    let open = 0;
    for (const breaker of this.#breakers.values()) if (breaker.state !== 'closed') open++;
    return open;
  }

  health({ provider, model }: Upstream): UpstreamHealth {
    const { config } = provider;
    const breaker = this.#breaker(config, model);
    const hasAside = this.#credentials.hasAside;
    if (breaker.retryAt === undefined && !hasAside) return HEALTHY;
    const failing = breaker.waitMs;
    const limited = hasAside ? this.#credentials.waitMs(config, model) : 0;
    return failing >= limited ? { waitMs: failing, cause: 'circuit_open' } : { waitMs: limited, cause: 'overloaded' };
  }

  /** Begins an attempt; undefined where `health` says to wait. */
  enter({ provider, model, account }: Upstream): AttemptPermit | undefined {
    const { config } = provider;
    if (this.#credentials.hasAside && this.#credentials.waitMs(config, model) > 0) return undefined;
    const breaker = this.#breaker(config, model);
    const attempt = new UpstreamAttempt(breaker, config, model, this.#credentials, this.#onEvent);
    if (!breaker.lets(attempt)) return undefined;
    const { credentials } = config;
    const pinned = account === undefined ? undefined : credentials.find(({ name }) => name === account);
    attempt.isPinned = pinned !== undefined;
    attempt.credential = pinned ?? (credentials.length > 1 ? this.#credentials.pick(config, model) : credentials[0]);
    return attempt;
  }

  #breaker({ id }: WatchedConfig, model: string): Breaker {
    const last = this.#last;
    if (last && last.model === model && last.provider === id) return last.breaker;
    const key = `${id} ${model}`;
    let breaker = this.#breakers.get(key);
    if (!breaker) {
      const onChange = (state: BreakerState): void =>
        this.#onEvent({ kind: 'circuit.changed', provider: id, model, state });
      breaker = new Breaker(this.#clock, onChange);
      this.#breakers.set(key, breaker);
    }
    this.#last = { provider: id, model, breaker };
    return breaker;
  }
}

class UpstreamAttempt extends Attempt implements AttemptPermit {
  credential: CredentialConfig | undefined;
  /** The request names objects made with this credential. */
  isPinned = false;
  readonly #config: WatchedConfig;
  readonly #model: string;
  readonly #credentials: Credentials;
  readonly #onEvent: (event: UpstreamEvent) => void;

  constructor(
    breaker: Breaker,
    config: WatchedConfig,
    model: string,
    credentials: Credentials,
    onEvent: (event: UpstreamEvent) => void,
  ) {
    super(breaker, config.circuitBreaker);
    this.#config = config;
    this.#model = model;
    this.#credentials = credentials;
    this.#onEvent = onEvent;
  }

  limited(waitMs: number): void {
    this.#tell('limited', this.#credentials.limit(this.#config, this.#model, this.credential, waitMs));
  }

  refused(): boolean {
    this.#tell('refused', this.#credentials.refuse(this.#config, this.#model, this.credential));
    return !this.isPinned && this.#credentials.hasOther(this.#config, this.#model);
  }

  #tell(why: 'limited' | 'refused', waitMs: number): void {
    const credential = this.credential?.name ?? '';
    const { id: provider } = this.#config;
    this.#onEvent({ kind: 'credential.set_aside', provider, model: this.#model, credential, why, waitMs });
  }
}

interface Watched {
  readonly provider: string;
  readonly model: string;
  readonly breaker: Breaker;
}

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
  /** Whether any was set aside, for a model or another. */
  hasAside = false;
  readonly #aside = new LRUCache<string, Aside>({ max: MOST_ASIDE });
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Milliseconds until there is one that need not wait; 0: now. */
  waitMs(config: WatchedConfig, model: string): number {
    let least = Infinity;
    for (const one of all(config)) {
      const aside = this.#of(config, model, one);
      if (aside === undefined) return 0;
      if (aside.why === 'limited') least = Math.min(least, aside.until - this.#clock.now());
    }
    return least === Infinity ? 0 : least;
  }

  /** The account for one attempt; undefined where the provider has none. */
  pick(config: WatchedConfig, model: string): CredentialConfig | undefined {
    const { credentials } = config;
    if (credentials.length <= 1) return credentials[0];
    const usable = !this.hasAside
      ? credentials
      : credentials.filter((one) => this.#of(config, model, one) === undefined);
    return this.#drawn(usable.length > 0 ? usable : credentials);
  }

  /** Sets an account aside that is to wait; for how long, at most a minute. */
  limit(config: WatchedConfig, model: string, one: CredentialConfig | undefined, waitMs: number): number {
    return this.#set(config, model, one, 'limited', Math.min(waitMs, MOST_LIMITED_MS));
  }

  /** Sets an account aside that the provider does not serve; for how long. */
  refuse(config: WatchedConfig, model: string, one: CredentialConfig | undefined): number {
    return this.#set(config, model, one, 'refused', REFUSED_MS);
  }

  /** Whether there is an account that was not set aside. */
  hasOther(config: WatchedConfig, model: string): boolean {
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
    config: WatchedConfig,
    model: string,
    one: CredentialConfig | undefined,
    why: Aside['why'],
    waitMs: number,
  ): number {
    this.hasAside = true;
    this.#aside.set(idOf(config, model, one), { secret: one?.secret, until: this.#clock.now() + waitMs, why });
    return waitMs;
  }

  #of(config: WatchedConfig, model: string, one: CredentialConfig | undefined): Aside | undefined {
    const id = idOf(config, model, one);
    const aside = this.#aside.get(id);
    if (aside === undefined) return undefined;
    if (aside.secret === one?.secret && aside.until > this.#clock.now()) return aside;
    this.#aside.delete(id);
    this.hasAside = this.#aside.size > 0;
    return undefined;
  }
}

/** The accounts of a provider; one without a name where it has none. */
function all({ credentials }: WatchedConfig): readonly (CredentialConfig | undefined)[] {
  return credentials.length > 0 ? credentials : NO_ACCOUNT;
}

const NO_ACCOUNT = [undefined] as const;

function idOf({ id }: WatchedConfig, model: string, one: CredentialConfig | undefined): string {
  return `${id} ${one?.name ?? ''} ${model}`;
}
