/** When a breaker opens, and for how long. */
export interface BreakerSettings {
  /** Share of failures among the attempts of the window that opens it. */
  readonly failureRatioPercent: number;
  /** Attempts that the window must hold before that share counts. */
  readonly minRequests: number;
  readonly openSeconds: number;
}

/**
 * What an attempt shows about its upstream. `failed`: it answered with its own error. `gone`: no answer from the
 * model: a failed connection, a timeout, or a proxy that says so. `unknown`: nothing, for example after a hang-up.
 */
export type Outcome = 'served' | 'failed' | 'gone' | 'unknown';

/** `half-open`: open, with one attempt under way to find out whether it may close. */
export type BreakerState = 'closed' | 'open' | 'half-open';

/** Time and chance, so that tests need neither. */
export interface Clock {
  /** Milliseconds that never go back. */
  readonly now: () => number;
  /** From 0 up to 1. */
  readonly random: () => number;
}

interface Bucket {
  readonly from: number;
  attempts: number;
  failures: number;
}

/** Attempts older than this no longer count. */
const WINDOW_MS = 30_000;
const BUCKET_MS = 5000;
/** As many in a row without an answer, and the upstream is left alone at once, however few attempts there were. */
const MOST_GONE = 5;
/** Breakers of several processes, or of several models, should not all try again at the same moment. */
const JITTER = 0.2;

/**
 * Keeps calls away from one upstream while it fails: opens on the share of failures in the last half minute, or at once
 * on five attempts in a row without an answer; then lets one attempt through every `openSeconds` until one is
 * answered. // spec 7.1, design 5
 */
export class Breaker {
  readonly #clock: Clock;
  readonly #onChange: (state: BreakerState) => void;
  #buckets: Bucket[] = [];
  #gone = 0;
  /** Of an open breaker: when the next attempt is let through. Undefined: it is closed. */
  retryAt: number | undefined;
  #probe: Attempt | undefined;
  /** Number of times it closed: earlier attempts do not count. */
  #epoch = 0;

  constructor(clock: Clock, onChange: (state: BreakerState) => void) {
    this.#clock = clock;
    this.#onChange = onChange;
  }

  get state(): BreakerState {
    if (this.retryAt === undefined) return 'closed';
    return this.#probe ? 'half-open' : 'open';
  }

  /** Milliseconds until an attempt may be let through; 0: now. */
  get waitMs(): number {
    return this.retryAt === undefined ? 0 : Math.max(0, this.retryAt - this.#clock.now());
  }

  /** Whether the attempt may be made. Its end must then be reported. */
  lets(attempt: Attempt): boolean {
    attempt.epoch = this.#epoch;
    if (this.retryAt === undefined) return true;
    if (this.retryAt > this.#clock.now()) return false;
    attempt.probe = true;
    this.#probe = attempt;
    // If it is not answered by then, another one may try.
    this.retryAt = this.#nextTry(attempt.settings);
    this.#onChange('half-open');
    return true;
  }

  /** For its attempts: an upstream that answers again is open to all. */
  answered(attempt: Attempt): void {
    if (this.retryAt === undefined || !attempt.probe || attempt.epoch !== this.#epoch) return;
    this.retryAt = undefined;
    this.#probe = undefined;
    this.#buckets = [];
    attempt.probe = false;
    attempt.epoch = ++this.#epoch;
    this.#onChange('closed');
  }

  /** For its attempts. */
  ended(attempt: Attempt, outcome: Outcome): void {
    if (outcome === 'served' && this.retryAt !== undefined) this.answered(attempt);
    if (attempt.epoch !== this.#epoch) return;
    if (this.retryAt !== undefined) {
      if (attempt === this.#probe) this.#reopen(attempt, outcome);
      return;
    }
    if (outcome === 'unknown') return;
    const bucket = this.#bucket();
    bucket.attempts++;
    if (outcome === 'served') this.#gone = 0;
    else this.#failed(attempt, outcome, bucket);
  }

  #failed({ settings }: Attempt, outcome: Outcome, bucket: Bucket): void {
    bucket.failures++;
    if (outcome === 'gone') this.#gone++;
    if (this.#gone < MOST_GONE && !this.#tooMany(settings)) return;
    this.retryAt = this.#nextTry(settings);
    this.#onChange('open');
  }

  /** A probe that was not answered; one that says nothing gives its turn back. */
  #reopen({ settings }: Attempt, outcome: Outcome): void {
    this.#probe = undefined;
    this.retryAt = outcome === 'unknown' ? this.#clock.now() : this.#nextTry(settings);
    this.#onChange('open');
  }

  #nextTry({ openSeconds }: BreakerSettings): number {
    return this.#clock.now() + openSeconds * 1000 * (1 + JITTER * this.#clock.random());
  }

  #tooMany({ failureRatioPercent, minRequests }: BreakerSettings): boolean {
    let attempts = 0;
    let failures = 0;
    for (const bucket of this.#buckets) {
      attempts += bucket.attempts;
      failures += bucket.failures;
    }
    return attempts >= minRequests && failures * 100 >= failureRatioPercent * attempts;
  }

  #bucket(): Bucket {
    const now = this.#clock.now();
    const last = this.#buckets.at(-1);
    if (last && now - last.from < BUCKET_MS) return last;
    const bucket = { from: now, attempts: 0, failures: 0 };
    this.#buckets = [...this.#buckets.filter(({ from }) => now - from < WINDOW_MS), bucket];
    return bucket;
  }
}

/** One attempt on an upstream, which its breaker lets through or not. */
export class Attempt {
  /** The breaker's, when it let this through. */
  epoch = 0;
  /** It was let through an open breaker, to find out. */
  probe = false;
  readonly settings: BreakerSettings;
  readonly #breaker: Breaker;
  #over = false;

  constructor(breaker: Breaker, settings: BreakerSettings) {
    this.#breaker = breaker;
    this.settings = settings;
  }

  /** The upstream has begun to answer: calls that wait for it to recover need not wait for the end. */
  answering(): void {
    this.#breaker.answered(this);
  }

  /** Reports the outcome. Only the first call counts. */
  end(outcome: Outcome): void {
    if (this.#over) return;
    this.#over = true;
    this.#breaker.ended(this, outcome);
  }
}
