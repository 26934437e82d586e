import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { restoredSpend, type RestoredScope } from '#adapters/memory/restored-spend.ts';
import { CountersUnavailable, type OpenHold, type SpendTotals } from '#ports/limit-counters.ts';
import { decodeHolds, encodeHold } from './open-hold.ts';
import { runOn, type Store } from './store.ts';

const ASK_AGAIN_MS = 10;

/**
 * Restores one organization. Waits while another restore is under way, at most for one pause; rejects with
 * CountersUnavailable when that does not end, or when this one outlasts its own: the caller may try again.
 */
export async function restoreSpend(
  store: Store,
  organization: string,
  own: readonly OpenHold[],
  read: (open: readonly OpenHold[]) => Promise<SpendTotals>,
): Promise<void> {
  const token = randomUUID();
  try {
    const open = await pause(store, organization, token, own);
    const totals = await read(open);
    await resume(store, organization, token, totals, open);
  } catch (error) {
    // Should this fail too, the pause ends by itself.
    await runOn(store, 'release', organization, [token]).catch(() => {});
    throw error;
  }
}

async function pause(store: Store, organization: string, token: string, own: readonly OpenHold[]): Promise<OpenHold[]> {
  const lost = own.flatMap((hold) => [hold.callId, hold.owner, encodeHold(hold)]);
  const deadline = performance.now() + store.pauseMs;
  for (;;) {
    const args = [store.clock(), token, String(store.pauseMs), ...lost];
    const open = (await runOn(store, 'pause', organization, args)) as readonly string[] | null;
    if (open) return decodeHolds(organization, open);
    if (performance.now() > deadline) throw new CountersUnavailable('another restore of the organization does not end');
    await sleep(ASK_AGAIN_MS + Math.random() * ASK_AGAIN_MS);
  }
}

async function resume(
  store: Store,
  organization: string,
  token: string,
  totals: SpendTotals,
  open: readonly OpenHold[],
): Promise<void> {
  const spend = restoredSpend(totals, open);
  const args = [token, totals.periods.day, totals.periods.month];
  const push = (field: string, { total, day, month }: Readonly<RestoredScope>): void => {
    args.push(field, String(total), String(day), String(month));
  };
  push('o', spend.organization);
  for (const [workload, scope] of spend.workloads) push(`w:${workload}`, scope);
  const resumed = await runOn(store, 'resume', organization, args);
  if (resumed !== 1) throw new CountersUnavailable('the restore took longer than holds may be paused');
}
