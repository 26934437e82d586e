import type { SettleResult, Settlement } from '#/ports/limit-counters.ts';

/** Holds that may have been placed although the caller received an error. */
export interface Orphans {
  /** The answer to this hold was lost: nothing will be dispatched for it. */
  add(organization: string, callId: string, owner: string): void;
  /** The caller asks for the hold again. */
  forget(callId: string): void;
  stop(): void;
}

interface Orphan {
  readonly organization: string;
  readonly owner: string;
  readonly since: number;
}

const MOST = 10_000;
const EVERY_MS = 1000;
/** How long a lost command may still be on its way: one sent before a reconnect can arrive after later ones. */
const LATE_MS = 30_000;

/**
 * Gives back holds whose answer was lost, once the store answers again. Should the process end before that, they are
 * taken over like its other holds.
 */
export function releaseOrphans(
  settle: (settlements: readonly Settlement[], owner: string) => Promise<readonly SettleResult[]>,
): Orphans {
  const waiting = new Map<string, Orphan>();
  let timer: NodeJS.Timeout | undefined;

  async function release(): Promise<void> {
    const byOwner = Map.groupBy(waiting, ([, { owner }]) => owner);
    for (const [owner, orphans] of byOwner) await releaseOf(owner, orphans);
    timer = undefined;
    schedule();
  }

  /** Only those that are still its own: who took one over seals it. */
  async function releaseOf(owner: string, orphans: readonly (readonly [string, Orphan])[]): Promise<void> {
    const now = performance.now();
    const settlements = orphans.map(([callId, { organization }]) => ({ callId, organization, cost: 0n, tokens: 0 }));
    const results = await settle(settlements, owner).catch(() => []);
    for (const [index, [callId, orphan]] of orphans.entries()) {
      const result = results[index];
      const done = result === 'settled' || (result === 'unknown' && now - orphan.since > LATE_MS);
      if (done && waiting.get(callId) === orphan) waiting.delete(callId);
    }
  }

  function schedule(): void {
    if (timer || waiting.size === 0) return;
    timer = setTimeout(() => void release(), EVERY_MS);
    timer.unref();
  }

  return {
    add(organization, callId, owner) {
      if (waiting.size >= MOST) return;
      waiting.set(callId, { organization, owner, since: performance.now() });
      schedule();
    },
    forget: (callId) => void waiting.delete(callId),
    stop() {
      waiting.clear();
      clearTimeout(timer);
    },
  };
}
