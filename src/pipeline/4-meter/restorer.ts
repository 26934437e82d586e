import type { OrganizationConfig } from '#config/snapshot.ts';
import type { Ledger } from '#ports/ledger.ts';
import type { LimitCounters, OpenHold } from '#ports/limit-counters.ts';

/** Rebuilds an organization's spend counters from the ledger; callers that ask at the same time share one rebuild. */
export interface Restorer {
  restore(organization: OrganizationConfig): Promise<void>;
  /** Starts a rebuild of its own: one under way may have read the ledger too early to know what the caller knows. */
  restoreAfresh(organization: OrganizationConfig): Promise<void>;
}

export interface RestorerDeps {
  readonly counters: LimitCounters;
  readonly ledger: Ledger;
  readonly open: ReadonlyMap<string, OpenHold>;
  readonly onRestored: (organization: string) => void;
}

export function createRestorer({ counters, ledger, open, onRestored }: RestorerDeps): Restorer {
  const running = new Map<string, Promise<void>>();
  const start = ({ id, timeZone }: OrganizationConfig): Promise<void> => {
    const own = [...open.values()].filter((hold) => hold.organization === id);
    const restoring = counters
      .restore(id, own, (holds) => ledger.totals(id, timeZone, Date.now(), holds))
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
