import { setTimeout as sleep } from 'node:timers/promises';
import { CountersUnavailable } from '#/ports/limit-counters.ts';
import { runOn, type Store } from './store.ts';

const ASK_AGAIN_MS = 10;

/**
 * Keeps an organization's holds and settlements waiting until `release`, or until the pause ends by itself. Waits for its
 * turn, at most for one pause; rejects with CountersUnavailable when that does not come.
 */
export async function pause(store: Store, organization: string, token: string): Promise<void> {
  const deadline = performance.now() + store.pauseMs;
  while ((await runOn(store, 'pause', organization, [token, String(store.pauseMs)])) !== 1) {
    if (performance.now() > deadline) throw new CountersUnavailable('another pause of the organization has not ended');
    await sleep(ASK_AGAIN_MS + Math.random() * ASK_AGAIN_MS);
  }
}

/** Ends a pause that is still the caller's. Should that fail, it ends by itself. */
export async function release(store: Store, organization: string, token: string): Promise<void> {
  await runOn(store, 'release', organization, [token]).catch(() => {});
}

/** The pause ended before what it was for. */
export function overtaken(): CountersUnavailable {
  return new CountersUnavailable('it took longer than the longest pause of holds');
}
