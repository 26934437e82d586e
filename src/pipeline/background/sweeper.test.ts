import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { openMemoryCounters } from '#/adapters/memory/limit-counters.ts';
import type { Ledger } from '#/ports/ledger.ts';
import type { OpenHold, Settlement } from '#/ports/limit-counters.ts';
import type { RowDraft } from '#/seal/ledger-writer.ts';
import { request } from '../../../test/contract/limit-counters-world.ts';
import { Lease } from './lease.ts';
import { Sweeper } from './sweeper.ts';

const ORGANIZATION = 'default/acme';
const DRAFT = JSON.stringify({ mode: 'allow_log', key: 'k', model: null, provider: 'p', surface: 'chat' });

/** A process whose ledger answers, or lets it wait, as `find` does. */
async function survivor(find: Ledger['find']) {
  let now = Date.UTC(2026, 10, 21);
  const counters = openMemoryCounters({ now: () => now });
  const nothing = { total: 0n, day: 0n, month: 0n };
  const periods = { day: '2026-11-21', month: '2026-11' };
  await counters.restore(ORGANIZATION, [], async () => ({ periods, organization: nothing, workloads: new Map() }));
  await counters.takeOver([ORGANIZATION], 'dead', 15_000);
  const callId = randomUUID();
  await counters.hold(request(callId, { owner: 'dead', draft: DRAFT, amount: 7n }));
  now += 20_000;
  const sealed: RowDraft[] = [];
  const settled: Settlement[] = [];
  const faults: unknown[] = [];
  const open = new Map<string, OpenHold>();
  const settler = { settle: (settlements: readonly Settlement[]): void => void settled.push(...settlements) };
  const shared = { counters, ledger: { find } as Ledger, owner: 'survivor', open, settler };
  const organizations = () => [ORGANIZATION];
  const onFault = (error: unknown): void => void faults.push(error);
  const lease: Lease = new Lease({
    ...shared,
    organizations,
    onFault,
    onTakenOver: (holds, missed) => sweeper.takeOver(holds, missed),
  });
  const sweeper: Sweeper = new Sweeper({
    ...shared,
    organizations,
    onFault,
    lease,
    recover: async () => {},
    behind: () => false,
    seal: (draft) => sealed.push(draft),
    onAbandoned: () => {},
  });
  return { lease, sealed, faults, callId, counters };
}

test('a ledger that does not answer keeps no lease from being renewed', async () => {
  const ledger = Promise.withResolvers<readonly []>();
  const { lease, sealed, callId, counters } = await survivor(() => ledger.promise);
  await lease.renew();
  expect(lease.fresh()).toBe(true);
  expect((await counters.view(ORGANIZATION)).holds).toMatchObject([{ callId, owner: 'survivor' }]);
  // Calls that were taken over are still being closed.
  await lease.renew();
  expect(sealed).toEqual([]);
  ledger.resolve([]);
  await expect
    .poll(() => sealed.map(({ row }) => [row.call_id, row.outcome, row.cost_nano_eur]))
    .toEqual([[callId, 'abandoned', '7']]);
});

test('a failed lookup is reported, and the lease holds', async () => {
  const { lease, sealed, faults } = await survivor(() => Promise.reject(new Error('away')));
  await lease.renew();
  await expect.poll(() => faults).toHaveLength(1);
  expect(lease.fresh()).toBe(true);
  expect(sealed).toEqual([]);
});
