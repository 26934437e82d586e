import type { WorkloadConfig } from '#config/snapshot.ts';
import type { Alert, AlertSink } from '#ports/alerts.ts';
import type { LedgerBooks } from '#ports/books.ts';
import type { CreditCounters, CreditEntries } from '#ports/credit.ts';
import type { LimitCounters, Settlement } from '#ports/limit-counters.ts';
import type { Marks } from '#ports/marks.ts';
import { createBookkeeper, type BookkeeperDeps } from './bookkeeper.ts';
import type { BookLine } from './books.ts';
import { createCreditFeed } from './credit-feed.ts';
import type { Refused } from './refusal.ts';

/** What is kept beside the limits of calls. */
export interface TreasuryStores {
  readonly counters: LimitCounters & CreditCounters & Marks;
  readonly ledger: LedgerBooks;
  readonly credit: CreditEntries;
  /** Where alerts go beside the log, if anywhere. */
  readonly alertSink?: AlertSink | undefined;
}

export interface TreasuryDeps extends TreasuryStores, Pick<BookkeeperDeps, 'snapshot' | 'restorer'> {
  readonly onEvent: (event: TreasuryEvent) => void;
}

export type TreasuryEvent =
  | { readonly kind: 'money.alert' | 'money.alert-undelivered'; readonly alert: Alert }
  | { readonly kind: 'money.drift'; readonly organization: string; readonly line: BookLine }
  | { readonly kind: 'books.fault' | 'credit.fault'; readonly error: unknown };

/** Everything about money that happens beside the calls. */
export interface Treasury {
  settled(settlements: readonly Settlement[]): void;
  readonly refused: (decision: Refused, workload: WorkloadConfig) => void;
  /** Organization -> how far its books are off, nano-euro; those that this gateway looked at lately. */
  readonly drift: ReadonlyMap<string, bigint>;
  start(): void;
  stop(): void;
}

/** Brings credit to the counters, raises alerts and watches the books of this process' organizations. */
export function createTreasury(deps: TreasuryDeps): Treasury {
  const { counters, ledger, credit, snapshot, restorer, onEvent } = deps;
  const feed = createCreditFeed({
    entries: credit,
    counters,
    organizations: () => snapshot()?.organizations.values() ?? [],
    onFault: (error) => onEvent({ kind: 'credit.fault', error }),
  });
  const bookkeeper = createBookkeeper({
    counters,
    ledger,
    credit,
    marks: counters,
    restorer,
    sink: deps.alertSink,
    snapshot,
    onAlert: (alert) => onEvent({ kind: 'money.alert', alert }),
    onUndelivered: (alert) => onEvent({ kind: 'money.alert-undelivered', alert }),
    onDrift: (organization, line) => onEvent({ kind: 'money.drift', organization, line }),
    onFault: (error) => onEvent({ kind: 'books.fault', error }),
  });
  return {
    settled(settlements) {
      let last: string | undefined;
      for (const { organization } of settlements) {
        if (organization !== last) bookkeeper.settled(organization);
        last = organization;
      }
    },
    refused({ by }, workload) {
      if (by !== 'requests' && by !== 'tokens') bookkeeper.refused(by, workload);
    },
    get drift() {
      return bookkeeper.drift;
    },
    start() {
      feed.start();
      bookkeeper.start();
    },
    stop() {
      feed.stop();
      bookkeeper.stop();
    },
  };
}
