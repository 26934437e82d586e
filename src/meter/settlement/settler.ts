import type { OrganizationConfig } from '#/config/snapshot.ts';
import { Idle } from '#/runtime/idle.ts';
import type { ByName } from '#/runtime/passing.ts';
import type { LimitCounters, OpenHold, Settlement } from '#/ports/limit-counters.ts';
import type { Restorer } from '../counter-rebuild.ts';

/** Closes holds whose rows are durable, in batches, for as long as it takes. */
export interface Settler {
  settle(settlements: readonly Settlement[]): void;
  readonly pending: number;
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
      // When all that came with it is in the queue.
      queueMicrotask(() => void this.#run(organization, begun));
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
    let lost = false;
    while ((queue.length > 0 || lost) && !this.#stopped) {
      const batch = queue.slice(0, MAX_BATCH);
      let waiting: readonly Settlement[] = batch;
      try {
        if (batch.length > 0) {
          const settled = await settleBatch(batch, this.#deps);
          waiting = settled.waiting;
          lost ||= settled.lost;
        }
        queue.splice(0, batch.length, ...waiting);
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
    if (this.#stopped || this.#queues.size === 0) this.#idle.rest();
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

interface Settled {
  /** Settlements to try again. */
  readonly waiting: readonly Settlement[];
  /** A hold was not found. */
  readonly lost: boolean;
}

async function settleBatch(batch: readonly Settlement[], deps: SettlerDeps): Promise<Settled> {
  const results = await deps.counters.settle(batch, deps.owner);
  const waiting: Settlement[] = [];
  let lost = false;
  for (const [index, settlement] of batch.entries()) {
    if (results[index] === 'busy') {
      waiting.push(settlement);
      continue;
    }
    deps.open.delete(settlement.callId);
    lost ||= results[index] === 'unknown';
  }
  return { waiting, lost };
}

function pause(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, RETRY_MS));
}
