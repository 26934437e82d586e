import type { OrganizationConfig } from '#config/snapshot.ts';
import type { Ledger } from '#ports/ledger.ts';
import type { LimitCounters, OpenHold } from '#ports/limit-counters.ts';

/** Rebuilds an organization's spend counters from the ledger; callers that ask at the same time share one rebuild. */
export interface Restorer {
  restore(organization: OrganizationConfig): Promise<void>;
}

export interface RestorerDeps {
  readonly counters: LimitCounters;
  readonly ledger: Ledger;
  readonly open: ReadonlyMap<string, OpenHold>;
  readonly onRestored: (organization: string) => void;
}

export function createRestorer({ counters, ledger, open, onRestored }: RestorerDeps): Restorer {
  const running = new Map<string, Promise<void>>();
  return {
    restore(organization) {
      const { id, timeZone } = organization;
      const known = running.get(id);
      if (known) return known;
      const own = [...open.values()].filter((hold) => hold.organization === id);
      const restoring = counters
        .restore(id, own, (holds) => ledger.totals(id, timeZone, Date.now(), holds))
        .then(() => onRestored(id))
        .finally(() => running.delete(id));
      running.set(id, restoring);
      return restoring;
    },
  };
}
