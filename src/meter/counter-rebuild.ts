import type { OrganizationConfig } from '#/config/snapshot.ts';
import type { ByName } from '#/runtime/passing.ts';
import type { CreditEntries } from '#/ports/credit.ts';
import type { Ledger } from '#/ports/ledger.ts';
import type { LimitCounters, Lowering, OpenHold, SpendTotals } from '#/ports/limit-counters.ts';

/**
 * Rebuilds an organization's spend counters from the ledger; callers that ask at the same time share one rebuild. No
 * counter that is there is lowered, unless the caller says so: it may know of a debit that the ledger has lost.
 */
export interface Restorer {
  restore(organization: OrganizationConfig): Promise<void>;
  /** Starts a rebuild of its own: one under way may have read the ledger too early to know what the caller knows. */
  restoreAfresh(organization: OrganizationConfig, lowers?: Lowering): Promise<void>;
}

export interface RestorerDeps {
  readonly counters: LimitCounters;
  readonly ledger: Ledger;
  readonly credit: CreditEntries;
  readonly open: Pick<ByName<OpenHold>, 'values'>;
  readonly onRestored: (organization: string) => void;
}

export function createRestorer(deps: RestorerDeps): Restorer {
  const { counters, open, onRestored } = deps;
  const running = new Map<string, Promise<void>>();
  const start = (organization: OrganizationConfig, lowers: Lowering): Promise<void> => {
    const { id } = organization;
    const own = [...open.values()].filter((hold) => hold.organization === id);
    const restoring = counters
      .restore(id, own, (holds) => totalsOf(organization, holds, deps), lowers)
      .then(() => onRestored(id))
      .finally(() => running.delete(id));
    running.set(id, restoring);
    return restoring;
  };
  return {
    restore: (organization) => running.get(organization.id) ?? start(organization, 'nothing'),
    async restoreAfresh(organization, lowers = 'nothing') {
      await running.get(organization.id)?.catch(() => undefined);
      const begun = running.get(organization.id);
      if (begun && lowers === 'nothing') return begun;
      // One that others have begun meanwhile lowers less than is asked for here.
      while (running.has(organization.id)) await running.get(organization.id)?.catch(() => undefined);
      await start(organization, lowers);
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
