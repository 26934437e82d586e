import type { ByName } from '#/runtime/passing.ts';
import type { Ended, LimitCounters, OpenHold, Settlement } from '#/ports/limit-counters.ts';
import type { RecentRefusals } from '../turn-away.ts';

interface GiveBackDeps {
  readonly counters: Pick<LimitCounters, 'settle'>;
  readonly refusals: Pick<RecentRefusals, 'freed'>;
  /** This process: holds that another has taken over are left alone. */
  readonly owner: string;
  readonly open: ByName<OpenHold>;
  /** Holds for which a limit is near: what others hold is in nobody's way. */
  readonly near: WeakSet<OpenHold>;
  /** Whether another process may seal a call, at all that was held. */
  readonly isContested: (callId: string) => boolean;
}

/**
 * Gives back what a call that is over has not used, before its row is durable: until then its hold stays, at what it
 * cost. So the next call finds it, and a process that dies now is billed what was used. Calls that end together are told
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
    // What is put back, should the store lose its data, is what is held now.
    open.set(callId, { ...held, amount, tokens });
    // The counters take it in before they are asked for the next call.
    refusals.freed(held.organization);
    if (ended.push({ ...settlement, stays: true }) === 1) setImmediate(tell);
  };
}
