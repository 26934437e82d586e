import { LRUCache } from 'lru-cache';
import type { CredentialConfig, ProviderConfig } from '#/config/snapshot.ts';
import { Breaker, type BreakerState, type Clock, type Outcome } from './breaker.ts';
import { Credentials } from './credentials.ts';
import type { Target } from '#/call/target.ts';

/** A provider and one of its models: what fails or recovers as one. */
export type Endpoint = Pick<Target, 'provider' | 'model' | 'account'>;

/** Told when an endpoint is left alone or taken up again, and when an account is. */
export type EndpointEvent =
  | {
      readonly kind: 'circuit.changed';
      readonly provider: string;
      readonly model: string;
      readonly state: BreakerState;
    }
  | {
      readonly kind: 'credential.aside';
      readonly provider: string;
      readonly model: string;
      readonly credential: string;
      readonly why: 'limited' | 'refused';
      readonly waitMs: number;
    };

/** When an endpoint may be asked, and why not now. */
export interface Availability {
  /** 0: now. */
  readonly waitMs: number;
  /** `circuit_open`: it fails; `overloaded`: it asked us to wait. */
  readonly cause: 'circuit_open' | 'overloaded';
}

/** One attempt on an endpoint, from when it is let through to what became of it. */
export interface Visit {
  /** The account to ask with; undefined where the provider has none. */
  readonly credential: CredentialConfig | undefined;
  /** The endpoint has begun to answer. */
  answering(): void;
  /** Told in any case; only the first call counts. */
  end(outcome: Outcome): void;
  /** The provider asks this account to wait. */
  limited(waitMs: number): void;
  /** The provider will not serve this account. Whether there is another one to ask with. */
  refused(): boolean;
}

/** More endpoints than these at once are not watched: the longest unused are forgotten. */
const MOST_ENDPOINTS = 2048;

const REAL: Clock = { now: () => performance.now(), random: Math.random };

/**
 * How the endpoints fare, as this process has seen it: what others know of them they find out by themselves. Kept over
 * changes of the configuration, by the provider's id.
 */
export class Endpoints {
  readonly #breakers = new LRUCache<string, Breaker>({ max: MOST_ENDPOINTS });
  /** The one asked for last, which is the newest of them: a call asks several times in a row. */
  #last: Watched | undefined;
  readonly #credentials: Credentials;
  readonly #clock: Clock;
  readonly #onEvent: (event: EndpointEvent) => void;

  constructor(onEvent: (event: EndpointEvent) => void = () => {}, clock: Clock = REAL) {
    this.#clock = clock;
    this.#credentials = new Credentials(clock);
    this.#onEvent = onEvent;
  }

  /** How many endpoints are left alone at the moment. */
  get open(): number {
    let open = 0;
    for (const breaker of this.#breakers.values()) if (breaker.state !== 'closed') open++;
    return open;
  }

  availability({ provider, model }: Endpoint): Availability {
    const { config } = provider;
    const failing = this.#breaker(config, model).waitMs;
    const limited = this.#credentials.waitMs(config, model);
    return failing >= limited ? { waitMs: failing, cause: 'circuit_open' } : { waitMs: limited, cause: 'overloaded' };
  }

  /** Begins an attempt; undefined where `availability` says to wait. */
  enter({ provider, model, account }: Endpoint): Visit | undefined {
    const { config } = provider;
    if (this.#credentials.waitMs(config, model) > 0) return undefined;
    const permit = this.#breaker(config, model).enter(config.circuitBreaker);
    if (!permit) return undefined;
    const pinned = account === undefined ? undefined : config.credentials.find(({ name }) => name === account);
    const credential = pinned ?? this.#credentials.pick(config, model);
    const told = (why: 'limited' | 'refused', waitMs: number): void => {
      const name = credential?.name ?? '';
      this.#onEvent({ kind: 'credential.aside', provider: config.id, model, credential: name, why, waitMs });
    };
    return {
      credential,
      answering: () => permit.answering(),
      end: (outcome) => permit.end(outcome),
      limited: (asked) => told('limited', this.#credentials.limit(config, model, credential, asked)),
      refused: () => {
        told('refused', this.#credentials.refuse(config, model, credential));
        return pinned === undefined && this.#credentials.hasOther(config, model);
      },
    };
  }

  #breaker({ id }: ProviderConfig, model: string): Breaker {
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

interface Watched {
  readonly provider: string;
  readonly model: string;
  readonly breaker: Breaker;
}
