import type { OrganizationConfig } from '#config/snapshot.ts';
import { Idle } from '#pipeline/idle.ts';
import type { LimitCounters, OpenHold, Settlement } from '#ports/limit-counters.ts';
import type { Restorer } from './restorer.ts';

/** Closes holds whose rows are durable, in batches, for as long as it takes. */
export interface Settler {
  settle(settlements: readonly Settlement[]): void;
  readonly pending: number;
  /** Resolves when all is settled, or at the deadline: true when nothing is left. */
  drain(deadlineMs: number): Promise<boolean>;
  stop(): void;
}

export interface SettlerDeps {
  readonly counters: LimitCounters;
  readonly restorer: Restorer;
  readonly open: Map<string, OpenHold>;
  /** This process: holds that another has taken over are not closed. */
  readonly owner: string;
  readonly organization: (id: string) => OrganizationConfig | undefined;
  readonly onFault: (error: unknown) => void;
}

const MAX_BATCH = 500;
const RETRY_MS = 200;

/**
 * A settlement that finds no hold was settled before, or its hold was lost with the counters' data, or taken over: the
 * ledger has the row, so rebuilding the organization's counters from it is right. States: `hold-state.ts`.
 */
export function createSettler(deps: SettlerDeps): Settler {
  const queue: Settlement[] = [];
  const idle = new Idle();
  let running = false;
  let stopped = false;

  async function run(): Promise<void> {
    while (queue.length > 0 && !stopped) {
      const batch = queue.slice(0, MAX_BATCH);
      let waiting: readonly Settlement[] = batch;
      try {
        waiting = await settleBatch(batch, deps);
      } catch (error) {
        deps.onFault(error);
      }
      queue.splice(0, batch.length, ...waiting);
      if (waiting.length > 0) await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    }
    running = false;
    idle.rest();
  }

  return {
    settle(settlements) {
      for (const settlement of settlements) queue.push(settlement);
      if (running || queue.length === 0) return;
      running = true;
      void run();
    },
    get pending() {
      return queue.length;
    },
    async drain(deadlineMs) {
      if (!running) return queue.length === 0;
      await idle.wait(deadlineMs);
      return queue.length === 0;
    },
    stop() {
      stopped = true;
    },
  };
}

/** Returns what has to be tried again. */
async function settleBatch(batch: readonly Settlement[], deps: SettlerDeps): Promise<readonly Settlement[]> {
  const results = await deps.counters.settle(batch, deps.owner);
  const lost = new Set<string>();
  const waiting: Settlement[] = [];
  for (const [index, result] of results.entries()) {
    const settlement = batch[index]!;
    if (result === 'busy') {
      waiting.push(settlement);
      continue;
    }
    deps.open.delete(settlement.callId);
    if (result === 'unknown') lost.add(settlement.organization);
  }
  for (const id of lost) {
    const organization = deps.organization(id);
    if (organization) await deps.restorer.restoreAfresh(organization);
  }
  return waiting;
}
