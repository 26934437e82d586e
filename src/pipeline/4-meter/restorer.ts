import type { OrganizationConfig } from '#config/snapshot.ts';
import type { CreditEntries } from '#ports/credit.ts';
import type { Ledger } from '#ports/ledger.ts';
import type { LimitCounters, OpenHold, SpendTotals } from '#ports/limit-counters.ts';

/** Rebuilds an organization's spend counters from the ledger; callers that ask at the same time share one rebuild. */
export interface Restorer {
  restore(organization: OrganizationConfig): Promise<void>;
  /** Starts a rebuild of its own: one under way may have read the ledger too early to know what the caller knows. */
  restoreAfresh(organization: OrganizationConfig): Promise<void>;
}

export interface RestorerDeps {
  readonly counters: LimitCounters;
  readonly ledger: Ledger;
  readonly credit: CreditEntries;
  readonly open: ReadonlyMap<string, OpenHold>;
  readonly onRestored: (organization: string) => void;
}

export function createRestorer(deps: RestorerDeps): Restorer {
  const { counters, open, onRestored } = deps;
  const running = new Map<string, Promise<void>>();
  const start = (organization: OrganizationConfig): Promise<void> => {
    const { id } = organization;
    const own = [...open.values()].filter((hold) => hold.organization === id);
    const restoring = counters
      .restore(id, own, (holds) => totalsOf(organization, holds, deps))
      .then(() => onRestored(id))
      .finally(() => running.delete(id));
    running.set(id, restoring);
    return restoring;
  };
  return {
    restore: (organization) => running.get(organization.id) ?? start(organization),
    async restoreAfresh(organization) {
      await running.get(organization.id)?.catch(() => undefined);
      await (running.get(organization.id) ?? start(organization));
    },
  };
}

/** What the database knows of an organization; of one that is prepaid, an entry that is missing is no credit. */
async function totalsOf(
  { id, timeZone, plan }: OrganizationConfig,
  holds: readonly OpenHold[],
  { ledger, credit }: RestorerDeps,
): Promise<SpendTotals> {
  const totals = ledger.totals(id, timeZone, Date.now(), holds);
  if (plan?.type !== 'prepaid') return totals;
  const [spent, standings] = await Promise.all([totals, credit.standings([id])]);
  return { ...spent, credit: standings.get(id) ?? NO_CREDIT };
}

const NO_CREDIT = { number: 0, sum: 0n } as const;
