import type { Candidate } from '#/call/target.ts';
import type { Flight } from './single-flight.ts';
import type { RecordedAnswer } from './recorded.ts';

/** An answer from the cache: the provider's bytes, before anything was restored in them. */
export interface CacheHit {
  readonly candidate: Candidate;
  readonly answer: Buffer;
  /** The call that the provider gave it to. */
  readonly callId: string;
  /** How it is kept in the store; undefined when it was another call's that has just ended. */
  readonly stored: Stored | undefined;
}

/** An answer is in the store, for that long and in that epoch. */
export interface Stored {
  readonly ttlMs: number;
  readonly epoch: string;
}

/** Who gave an answer. */
export type Answerer = Pick<Candidate, 'provider' | 'model' | 'family'>;

/** What the cache says to a call. Disposing it lets go of those who wait for this call's answer. */
export interface Recalled extends Disposable {
  /** `off`: nothing is looked up for this call, or kept of it. */
  readonly state: 'off' | 'miss' | 'hit';
  readonly hit: CacheHit | undefined;
  /** How long the call waited for another's answer. */
  readonly waitedMs: number;
  /** The answer was handed to the client, to its end. Keeps it, if it is one to keep; never throws, never waits. */
  keep(from: Answerer, answer: RecordedAnswer): void;
  /** The answer will not be stored: other calls do not have to wait. */
  letGo(): void;
}

/** Where an answer was found, for calls that wait for it: the newest name it is known by. */
export interface SharedAnswer {
  readonly name: string;
  readonly answer: Buffer;
  readonly callId: string;
}

/** Keeps an answer; undefined when it is not kept. */
export type Put = (from: Answerer, answer: RecordedAnswer) => SharedAnswer | undefined;

/** Of a call whose answer is not cached. */
export const NOT_CACHED: Recalled = {
  state: 'off',
  hit: undefined,
  waitedMs: 0,
  keep: () => {},
  letGo: () => {},
  [Symbol.dispose]: () => {},
};

export class Hit implements Recalled {
  readonly state = 'hit';
  readonly hit: CacheHit;
  readonly waitedMs = 0;

  constructor(hit: CacheHit) {
    this.hit = hit;
  }

  keep(): void {}

  letGo(): void {}

  [Symbol.dispose](): void {}
}

export class Miss implements Recalled {
  readonly state = 'miss';
  readonly hit = undefined;
  readonly waitedMs: number;
  readonly #flight: Flight<SharedAnswer> | undefined;
  readonly #put: Put;

  constructor(waitedMs: number, flight: Flight<SharedAnswer> | undefined, put: Put) {
    this.waitedMs = waitedMs;
    this.#flight = flight;
    this.#put = put;
  }

  keep(from: Answerer, answer: RecordedAnswer): void {
    const shared = this.#put(from, answer);
    this.#flight?.resolve(shared ? { brought: shared } : 'nothing');
  }

  letGo(): void {
    this.#flight?.resolve('nothing');
  }

  [Symbol.dispose](): void {
    this.#flight?.resolve('failed');
  }
}
