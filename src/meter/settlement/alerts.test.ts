import { expect, test } from 'vitest';
import type { OrganizationConfig, WorkloadConfig } from '#/config/snapshot.ts';
import type { CountersView } from '#/ports/limit-counters.ts';
import { dueAlerts, type Watched } from './alerts.ts';

const MIDNIGHT = Date.UTC(2026, 10, 22);
const organization = {
  id: 'default/acme',
  timeZone: 'UTC',
  alertPercent: [80, 100],
  cap: { amount: 100n, period: 'daily' },
} as unknown as OrganizationConfig;
const workload = { id: 'default/w1', alertPercent: [100], budget: { amount: 10n, period: 'monthly' } };

function due(refused: readonly (readonly [string, number])[], at: number, overrides: Partial<Watched> = {}): string[] {
  const spend = [
    { scope: 'organization', period: '2026-11-21', amount: 99n },
    { scope: 'organization', period: '2026-11-22', amount: 1n },
    { scope: 'organization', period: 'total', amount: 90n },
  ];
  const view: CountersView = { now: at, holds: [], spend };
  const workloads = [workload as unknown as WorkloadConfig];
  const watched = { organization, workloads, refused: new Map(refused), ...overrides };
  return dueAlerts(watched, view, at).map(({ limit, event, period, percent }) =>
    [limit, event, period, percent].join(' '),
  );
}

test('a refusal is told of the period that its call was held against, and of no other', () => {
  const refused = [['cap', MIDNIGHT - 2000]] as const;
  expect(due(refused, MIDNIGHT - 1000)).toEqual(['cap reached 2026-11-21 80', 'cap refused 2026-11-21 99']);
  // Looked at when the day is over: of the new day, nothing was refused.
  expect(due(refused, MIDNIGHT + 1000)).toEqual([]);
  expect(due([['cap', MIDNIGHT + 500]], MIDNIGHT + 1000)).toEqual(['cap refused 2026-11-22 1']);
  expect(due([['budget default/w1', MIDNIGHT - 2000]], MIDNIGHT + 1000)).toEqual(['budget refused 2026-11 0']);
});

test('a refusal for want of credit is none of the top-up that followed it', () => {
  const { cap: _, ...prepaid } = organization;
  const credit = { number: 2, sum: 200n, lastTopUp: { number: 2, amount: 150n, at: MIDNIGHT } };
  const told = (refusedAt: number): string[] =>
    due([['credit', refusedAt]], MIDNIGHT + 60_000, { organization: prepaid, credit });
  expect(told(MIDNIGHT - 1000)).toEqual([]);
  // The counters may not have known of it yet.
  expect(told(MIDNIGHT + 1000)).toEqual([]);
  expect(told(MIDNIGHT + 30_000)).toEqual(['credit refused entry 2 26']);
});
