import { LRUCache } from 'lru-cache';
import type { OrganizationConfig } from '#/config/snapshot.ts';
import { Idle } from '#/runtime/idle.ts';
import type { ByName } from '#/runtime/passing.ts';
import type { Ended, LimitCounters, OpenHold, Settlement } from '#/ports/limit-counters.ts';
import type { Restorer } from '../counter-rebuild.ts';
import type { RecentRefusals } from '../limits/turn-away.ts';

/** Closes holds whose rows are durable, in batches, for as long as it takes. */
export interface Settler {
  settle(settlements: readonly Settlement[]): void;
  readonly pending: number;
  /** Organization -> its last settlement, on the monotonic clock; of those that settled lately. */
  readonly settledAt: Pick<ReadonlyMap<string, number>, 'get'>;
  /** Resolves when all is settled, or at the deadline: true when nothing is left. */
  drain(deadlineMs: number): Promise<boolean>;
  stop(): void;
}

export interface SettlerDeps {
  readonly counters: Pick<LimitCounters, 'settle'>;
  readonly restorer: Pick<Restorer, 'restoreAfresh'>;
  readonly open: ByName<OpenHold>;
  /** This process: holds that another has taken over are not closed. */
  readonly owner: string;
  readonly organization: (id: string) => OrganizationConfig | undefined;
  readonly onFault: (error: unknown) => void;
}

const MAX_BATCH = 500;
const RETRY_MS = 200;
const MOST_ORGANIZATIONS = 1000;

/**
 * A settlement that finds no hold was settled before, or its hold was lost with the counters' data, or taken over: the
 * ledger has the row, so rebuilding the organization's counters from it is right. Each organization has a queue of its
 * own: one that is being rebuilt, or cannot be reached, keeps no other waiting. States: `test/contract/hold-states/hold-state.ts`.
 */
export function createSettler(deps: SettlerDeps): Settler {
  return new QueueSettler(deps);
}

class QueueSettler implements Settler {
  readonly #deps: SettlerDeps;
  /** Organization -> settlements that are not done yet; present while they are processed. */
  readonly #queues = new Map<string, Settlement[]>();
  readonly #idle = new Idle();
  readonly settledAt = new LRUCache<string, number>({ max: MOST_ORGANIZATIONS });
  #stopped = false;
  #toldAt = -Infinity;

  constructor(deps: SettlerDeps) {
    this.#deps = deps;
  }

  settle(settlements: readonly Settlement[]): void {
    for (const settlement of settlements) {
      const { organization } = settlement;
      const queue = this.#queues.get(organization);
      if (queue) {
        queue.push(settlement);
        continue;
      }
      const begun = [settlement];
      this.#queues.set(organization, begun);
      void this.#run(organization, begun);
    }
  }

  get pending(): number {
    let pending = 0;
    for (const queue of this.#queues.values()) pending += queue.length;
    return pending;
  }

  async drain(deadlineMs: number): Promise<boolean> {
    if (this.#queues.size > 0 && !this.#stopped) await this.#idle.wait(deadlineMs);
    return this.#queues.size === 0;
  }

  stop(): void {
    this.#stopped = true;
  }

  async #run(organization: string, queue: Settlement[]): Promise<void> {
    const { counters, owner, open } = this.#deps;
    // Until all that came with the first is in the queue.
    await Promise.resolve();
    let lost = false;
    while ((queue.length > 0 || lost) && !this.#stopped) {
      const waiting: Settlement[] = [];
      try {
        const batch = queue.slice(0, MAX_BATCH);
        const results = batch.length > 0 ? await counters.settle(batch, owner) : [];
        for (const [index, settlement] of batch.entries()) {
          if (results[index] === 'busy') {
            waiting.push(settlement);
            continue;
          }
          open.delete(settlement.callId);
          lost ||= results[index] === 'unknown';
        }
        queue.splice(0, batch.length, ...waiting);
        this.settledAt.set(organization, performance.now());
        if (lost) await this.#restore(organization);
        lost = false;
      } catch (error) {
        this.#tell(error);
        await pause();
        continue;
      }
      if (waiting.length > 0) await pause();
    }
    if (!this.#stopped) this.#queues.delete(organization);
    if (this.#idle.isAwaited && (this.#stopped || this.#queues.size === 0)) this.#idle.rest();
  }

  async #restore(id: string): Promise<void> {
    const organization = this.#deps.organization(id);
    if (organization) await this.#deps.restorer.restoreAfresh(organization);
  }

  /** A fault that affects all organizations is reported once, not for each of them. */
  #tell(error: unknown): void {
    const now = performance.now();
    if (now - this.#toldAt < RETRY_MS) return;
    this.#toldAt = now;
    this.#deps.onFault(error);
  }
}

function pause(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, RETRY_MS));
}

interface GiveBackDeps {
  readonly counters: Pick<LimitCounters, 'settle'>;
  readonly refusals: Pick<RecentRefusals, 'freed'>;
  /** This process: holds that another has taken over are left alone. */
  readonly owner: string;
  readonly open: ByName<OpenHold>;
  /** Holds close to a limit: other holds block no call. */
  readonly near: WeakSet<OpenHold>;
  /** Whether another process may seal a call, at all that was held. */
  readonly isContested: (callId: string) => boolean;
}

/**
 * Gives back the unused part of the hold of an ended call, before its row is durable: until then its hold stays, at its
 * cost. So the next call can use it, and a process that dies now is billed correctly. Calls that end together are sent
 * together. Whatever fails here is made good when the hold is settled.
 */
export function givingBack({ counters, refusals, owner, open, near, isContested }: GiveBackDeps) {
  let ended: Ended[] = [];
  const tell = (): void => {
    const told = ended;
    ended = [];
    counters.settle(told, owner).catch(() => {});
  };
  return (settlement: Settlement): void => {
    const { callId, cost: amount, tokens } = settlement;
    const held = open.get(callId);
    if (!held || !near.has(held) || isContested(callId)) return;
    if (amount === held.amount && tokens === held.tokens) return;
    // If the store loses its data, the current amount is restored.
    open.set(callId, { ...held, amount, tokens });
    // The counters take it in before they are asked for the next call.
    refusals.freed(held.organization);
    if (ended.push({ ...settlement, stays: true }) === 1) setImmediate(tell);
  };
}
