import type { WorkloadSpec } from '#/config/resources/workload.ts';
import type { Spent } from './spending.ts';

/** A Workload's status besides its conditions: the `spec` in force, and the amount spent, if known. */
export function workloadStatus(spec: Partial<WorkloadSpec>, spent: Spent | undefined): object {
  const { limits, budget } = spec;
  return { ...(spent && { spend: spendOf(budget, spent) }), ...(limits && { limits }) };
}

function spendOf(budget: WorkloadSpec['budget'], spent: Spent): object {
  const period = budget?.period ?? 'Total';
  const amount = { Total: spent.total, Monthly: spent.month, Daily: spent.day }[period] ?? '0';
  const limit = budget && spent.currency === 'EUR' ? { limit: budget.amount } : {};
  // Counted in euro, whatever the organization's budgets are written in.
  return { amount, currency: 'EUR', period, ...limit, updatedAt: new Date(spent.at).toISOString() };
}
