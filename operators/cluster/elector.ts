import { setTimeout as pause } from 'node:timers/promises';
import type { LeaseState, LeaseStore } from '#/ports/cluster.ts';

export interface ElectorOptions {
  readonly leases: LeaseStore;
  /** What this process is called; no two may be called the same. */
  readonly name: string;
  /** The lowest term that may be taken is one above: what others have published or serve by must not be newer than ours. */
  readonly floor: () => Promise<number>;
  readonly onChange: (epoch: number | undefined) => void;
  readonly onFault?: (error: unknown) => void;
  readonly leaseSeconds?: number;
  readonly renewDeadlineMs?: number;
  readonly retryMs?: number;
}

/** Competes for the lease of controllers. */
export interface Elector {
  /** The term this process leads in; undefined while it does not lead. */
  readonly epoch: number | undefined;
  /** Leads no more, and competes again for a later term. */
  stepDown(): void;
  /** Gives the lease up, so that another one need not wait for its end. */
  stop(): Promise<void>;
}

/**
 * Leads while it renews the lease in time. Another one's lease has run out when it has not changed for its duration by our
 * own clock, so that clocks may differ. The count of transitions is the term (epoch): it fences publications.
 */
export function startElector(options: ElectorOptions): Elector {
  const contest = new Contest(options);
  const running = contest.run();
  return {
    get epoch() {
      return contest.epoch;
    },
    stepDown: () => contest.lose(),
    async stop() {
      contest.stop();
      await running;
      await contest.release();
    },
  };
}

class Contest {
  readonly #options: ElectorOptions;
  readonly #stop = new AbortController();
  #term: number | undefined;
  #renewedAt = 0;
  #seen = '';
  #seenAt = 0;

  constructor(options: ElectorOptions) {
    this.#options = options;
  }

  /** Leadership ends by the clock too: a renewal that hangs must not prolong it. */
  get epoch(): number | undefined {
    return performance.now() - this.#renewedAt < this.#deadline() ? this.#term : undefined;
  }

  stop(): void {
    this.#stop.abort();
  }

  async run(): Promise<void> {
    const { onFault, retryMs = 2000 } = this.#options;
    while (!this.#stop.signal.aborted) {
      try {
        await this.#compete();
      } catch (error) {
        onFault?.(error);
      }
      if (this.#term !== undefined && this.epoch === undefined) this.lose();
      await pause(retryMs * (0.9 + Math.random() * 0.2), undefined, { signal: this.#stop.signal }).catch(() => {});
    }
  }

  lose(): void {
    if (this.#term === undefined) return;
    this.#term = undefined;
    this.#options.onChange(undefined);
  }

  async release(): Promise<void> {
    const { leases, name } = this.#options;
    if (this.#term === undefined) return;
    this.lose();
    try {
      const found = await leases.read();
      if (found?.state.holder === name) await leases.write({ ...found.state, holder: '', seconds: 1 }, found.version);
    } catch (error) {
      this.#options.onFault?.(error);
    }
  }

  async #compete(): Promise<void> {
    const { leases, name } = this.#options;
    const found = await leases.read();
    const mine = found?.state.holder === name && found.state.transitions === this.#term;
    if (found && !mine && this.#isHeld(found.state)) return this.lose();
    const startedAt = performance.now();
    const now = Date.now();
    const transitions = mine ? found.state.transitions : await this.#nextTerm(found?.state);
    const acquiredAt = mine ? found.state.acquiredAt : now;
    const seconds = this.#options.leaseSeconds ?? 15;
    const state = { holder: name, seconds, transitions, acquiredAt, renewedAt: now };
    if (!(await leases.write(state, found?.version))) return this.lose();
    this.#renewedAt = startedAt;
    if (this.#term === transitions) return;
    this.lose();
    this.#term = transitions;
    this.#options.onChange(transitions);
  }

  async #nextTerm(state: LeaseState | undefined): Promise<number> {
    // A store that does not answer cannot be published to either: the leader steps down if it returns newer.
    const floor = await this.#options.floor().catch(() => 0);
    return Math.max(state?.transitions ?? 0, floor) + 1;
  }

  #isHeld(state: LeaseState): boolean {
    // Our own of another life, or of a term that we gave up.
    if (state.holder === '' || state.holder === this.#options.name) return false;
    const text = JSON.stringify(state);
    if (text !== this.#seen) {
      this.#seen = text;
      this.#seenAt = performance.now();
    }
    return performance.now() - this.#seenAt < state.seconds * 1000;
  }

  #deadline(): number {
    return this.#options.renewDeadlineMs ?? 10_000;
  }
}
