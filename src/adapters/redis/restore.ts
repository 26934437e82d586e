import { randomUUID } from 'node:crypto';
import { setImmediate as turn } from 'node:timers/promises';
import { restoredSpend, type RestoredScope, type RestoredSpend } from '../memory/spend.ts';
import type { Lowering, OpenHold, SpendTotals } from '#/ports/limit-counters.ts';
import type { Leases } from './leases.ts';
import { encodeHold } from './open-hold.ts';
import { overtaken, pause, release } from './pause.ts';
import { runOn, type Store } from './store.ts';
import { holdsOf } from './view.ts';

const MOST_AT_ONCE = 500;
/** How many of total, day and month are not lowered. */
const KEPT: Readonly<Record<Lowering, number>> = { nothing: 3, periods: 1, everything: 0 };

/**
 * Restores one organization. `own` is asked once the pause has begun: what this process then still has in flight. Waits
 * while another restore is under way, at most for one pause; rejects with CountersUnavailable when that does not end,
 * or when this one outlasts its own, or while others may have to put back what a store has lost: the caller may try again.
 */
export async function restoreSpend(
  store: Store,
  leases: Leases,
  organization: string,
  own: () => readonly OpenHold[],
  read: (open: readonly OpenHold[]) => Promise<SpendTotals>,
  lowers: Lowering,
): Promise<void> {
  const token = randomUUID();
  try {
    await pause(store, organization, token);
    // Settlements sent before the pause are answered before it; their callers continue first.
    await turn();
    const { open, lost } = await openAndLost(store, organization, token, own());
    await leases.requireComplete();
    const totals = await read(open);
    await resume(store, organization, token, lost, restoredSpend(totals, open), totals, lowers);
  } catch (error) {
    await release(store, organization, token);
    throw error;
  }
}

/** The open holds, with those of the caller that the store has lost. */
async function openAndLost(
  store: Store,
  organization: string,
  token: string,
  own: readonly OpenHold[],
): Promise<{ readonly open: readonly OpenHold[]; readonly lost: readonly OpenHold[] }> {
  const lost: OpenHold[] = [];
  for (let from = 0; from < own.length; from += MOST_AT_ONCE) {
    const some = own.slice(from, from + MOST_AT_ONCE);
    const ids = some.map(({ callId }) => callId);
    const positions = await runOn(store, 'lost', organization, [store.clock(), token, ...ids]);
    if (!positions) throw overtaken();
    for (const position of positions as readonly number[]) lost.push(some[position - 1]!);
  }
  // None comes or goes during the pause, so that pages are as of one instant.
  const known = await holdsOf(store, organization, token);
  if (!known) throw overtaken();
  return { open: [...known, ...lost], lost };
}

async function resume(
  store: Store,
  organization: string,
  token: string,
  lost: readonly OpenHold[],
  spend: RestoredSpend,
  { periods, credit }: SpendTotals,
  lowers: Lowering,
): Promise<void> {
  const known = [String(credit?.number ?? ''), String(credit?.sum ?? '')];
  const args = [token, periods.day, periods.month, ...known, String(KEPT[lowers]), String(lost.length)];
  for (const hold of lost) args.push(hold.callId, hold.owner, encodeHold(hold));
  const push = (field: string, { total, day, month }: Readonly<RestoredScope>): void => {
    args.push(field, String(total), String(day), String(month));
  };
  push('o', spend.organization);
  for (const [workload, scope] of spend.workloads) push(`w:${workload}`, scope);
  const resumed = await runOn(store, 'resume', organization, args);
  if (resumed !== 1) throw overtaken();
}
