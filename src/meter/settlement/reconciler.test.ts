import { afterEach, expect, test, vi } from 'vitest';
import { openMemoryCounters } from '#/adapters/memory/limit-counters.ts';
import type { OrganizationConfig, Snapshot, WorkloadConfig } from '#/config/snapshot.ts';
import type { Alert } from '#/ports/alerts.ts';
import { ORGANIZATION, openHold, request, spent } from '../../../test/contract/limit-counters-world.ts';
import { createReconciler, type ReconcilerDeps } from './reconciler.ts';

afterEach(() => vi.useRealTimers());

const organization = {
  id: ORGANIZATION,
  timeZone: 'UTC',
  cap: { amount: 100n, period: 'total' },
  alertPercent: [100],
} as unknown as OrganizationConfig;
const workload = {
  id: 'default/w1',
  organization,
  budget: { amount: 50n, period: 'total' },
  alertPercent: [100],
} as unknown as WorkloadConfig;

/** A reconciler on counters in memory, whose next look does `during` when it has begun. */
function keeper(during: () => Promise<void>) {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const counters = openMemoryCounters();
  const alerts: Alert[] = [];
  const faults: unknown[] = [];
  let looks = 0;
  const view = counters.view.bind(counters);
  counters.view = async (...asked) => {
    looks++;
    await during();
    return view(...asked);
  };
  const reconciler = createReconciler({
    counters,
    marks: counters,
    ledger: undefined as unknown as ReconcilerDeps['ledger'],
    credit: undefined as unknown as ReconcilerDeps['credit'],
    restorer: { restore: () => Promise.resolve(), restoreAfresh: () => Promise.resolve() },
    settledAt: new Map(),
    sink: undefined,
    snapshot: () =>
      ({
        organizations: new Map([[ORGANIZATION, organization]]),
        workloads: new Map([['w1', workload]]),
      }) as unknown as Snapshot,
    behind: () => false,
    onAlert: (alert) => alerts.push(alert),
    onUndelivered: () => {},
    onDrift: () => {},
    onFault: (error) => faults.push(error),
  });
  reconciler.start();
  return { reconciler, counters, alerts, faults, tick: () => vi.advanceTimersByTimeAsync(5000), looks: () => looks };
}

const toldOf = (alerts: readonly Alert[]): string[] => alerts.map(({ limit, event }) => `${limit} ${event}`);

test('a call that is refused while alerts are raised is told with the next look', async () => {
  let first = true;
  const { reconciler, alerts, tick } = keeper(async () => {
    if (!first) return;
    first = false;
    reconciler.refused('cap', workload, Date.now());
  });
  reconciler.refused('budget', workload, Date.now());
  await tick();
  expect(toldOf(alerts)).toEqual(['budget refused']);
  await tick();
  expect(toldOf(alerts)).toEqual(['budget refused', 'cap refused']);
  reconciler.stop();
});

test('a refusal is not forgotten when the counters cannot be read', async () => {
  let fail = true;
  const { reconciler, alerts, faults, tick } = keeper(async () => {
    if (fail) throw new Error('away');
  });
  reconciler.refused('budget', workload, Date.now());
  await tick();
  expect([alerts.length, faults.length]).toEqual([0, 1]);
  fail = false;
  await tick();
  expect(toldOf(alerts)).toEqual(['budget refused']);
  reconciler.stop();
});

test('with very many open holds, alerts are looked for no more than once a minute', async () => {
  const { reconciler, counters, tick, looks } = keeper(() => Promise.resolve());
  await counters.restore(ORGANIZATION, [], async () => spent(0n));
  for (let call = 0; call < 2001; call++) await counters.hold(request(`c${call}`, openHold(`c${call}`)));
  const refuse = () => reconciler.refused('budget', workload, Date.now());
  refuse();
  await tick();
  expect(looks()).toBe(1);
  for (let more = 0; more < 5; more++) {
    refuse();
    await tick();
  }
  // The mark was not claimed before the first look knew of the holds.
  expect(looks()).toBe(2);
  reconciler.stop();
});
