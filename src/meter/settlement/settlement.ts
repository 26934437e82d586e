import type { WorkloadConfig } from '#/config/snapshot.ts';
import type { ByName } from '#/runtime/passing.ts';
import type { Alert, AlertSink } from '#/ports/alerts.ts';
import type { Ledger, LedgerReads } from '#/ports/ledger.ts';
import type { CreditCounters, CreditEntries } from '#/ports/credit.ts';
import type { LimitCounters, Marks, OpenHold, OpenHolds } from '#/ports/limit-counters.ts';
import { createReconciler, type ReconcilerDeps } from './reconciler.ts';
import type { ReconciledCounter } from './reconciliation.ts';
import { createCreditFeed } from './credit-feed.ts';
import type { Refused } from '../limits/limit-refusal.ts';
import { createRestorer, type Restorer } from '../counter-rebuild.ts';
import { createSettler, type Settler } from './settler.ts';

/** Stores that settlement needs in addition to the limits of calls. */
export interface SettlementStores {
  readonly counters: LimitCounters & OpenHolds & CreditCounters & Marks;
  readonly ledger: Ledger & LedgerReads;
  readonly credit: CreditEntries;
  /** Where alerts go in addition to the log, if anywhere. */
  readonly alertSink?: AlertSink | undefined;
}

export interface SettlementDeps extends SettlementStores, Pick<ReconcilerDeps, 'snapshot'> {
  /** Holds of this process that are not settled yet. */
  readonly open: ByName<OpenHold>;
  /** This process, as the holder of its holds. */
  readonly owner: string;
  /** Whether rows of this process wait for the ledger to take them. */
  readonly behind: () => boolean;
  readonly onEvent: (event: SettlementEvent) => void;
}

export type SettlementEvent =
  | { readonly kind: 'money.alert' | 'money.alert_undelivered'; readonly alert: Alert }
  | { readonly kind: 'money.drift'; readonly organization: string; readonly line: ReconciledCounter }
  | { readonly kind: 'counters.restored'; readonly organization: string }
  | { readonly kind: 'settle.fault' | 'reconciler.fault' | 'credit.fault'; readonly error: unknown };

/** Everything about money that happens after calls and in the background. */
export interface SettlementService {
  readonly restorer: Restorer;
  readonly settler: Settler;
  readonly refused: (decision: Refused, workload: WorkloadConfig, at: number) => void;
  /** Organization -> how far its counters are off, nano-euro; organizations that this gateway reconciled last. */
  readonly drift: ReadonlyMap<string, bigint>;
  start(): void;
  stop(): void;
}

/** Closes holds, rebuilds counters, brings credit to them, raises alerts and reconciles counters. */
export function createSettlement(deps: SettlementDeps): SettlementService {
  const { counters, ledger, credit, snapshot, open, owner, onEvent } = deps;
  const restorer = createRestorer({
    counters,
    ledger,
    credit,
    open,
    onRestored: (organization) => onEvent({ kind: 'counters.restored', organization }),
  });
  const settler = createSettler({
    counters,
    restorer,
    open,
    owner,
    organization: (id) => snapshot()?.organizations.get(id),
    onFault: (error) => onEvent({ kind: 'settle.fault', error }),
  });
  const feed = createCreditFeed({
    entries: credit,
    counters,
    organizations: () => snapshot()?.organizations.values() ?? [],
    onFault: (error) => onEvent({ kind: 'credit.fault', error }),
  });
  const reconciler = createReconciler({
    counters,
    ledger,
    credit,
    marks: counters,
    restorer,
    settledAt: settler.settledAt,
    sink: deps.alertSink,
    snapshot,
    behind: deps.behind,
    onAlert: (alert) => onEvent({ kind: 'money.alert', alert }),
    onUndelivered: (alert) => onEvent({ kind: 'money.alert_undelivered', alert }),
    onDrift: (organization, line) => onEvent({ kind: 'money.drift', organization, line }),
    onFault: (error) => onEvent({ kind: 'reconciler.fault', error }),
  });
  return {
    restorer,
    settler,
    refused({ by }, workload, at) {
      if (by !== 'requests' && by !== 'tokens') reconciler.refused(by, workload, at);
    },
    get drift() {
      return reconciler.drift;
    },
    start() {
      feed.start();
      reconciler.start();
    },
    stop() {
      feed.stop();
      reconciler.stop();
    },
  };
}
