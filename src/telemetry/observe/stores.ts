import type { PipelineEvent } from '#/pipeline/pipeline-event.ts';
import type { Log } from '#/telemetry/log.ts';
import { counter, type Metrics } from '#/telemetry/metrics.ts';
import type { Handlers } from './handlers.ts';

export const STORE_METRICS = {
  faults: counter('gw_store_faults_total', 'Failed accesses to a store, by kind of access.', 'what'),
  damaged: counter('gw_ledger_journal_damaged_total', 'Unreadable lines of the journal.'),
  refused: counter(
    'gw_ledger_rows_refused_total',
    'Rows of dead processes that were not stored because retention has dropped the rows of their time.',
  ),
};

type FaultKind = Extract<PipelineEvent, { readonly error: unknown }>['kind'];
type StoreKind = FaultKind | 'journal.begun' | 'journal.ended' | 'journal.refused';

/** A line of the journal that could not be read. */
export interface JournalDamage {
  readonly file: string;
  readonly offset: number;
}

/** Counts and logs stores that fail, and the journal that rows wait in meanwhile. */
export function observeStores(log: Log, metrics: Metrics) {
  const count = metrics.open(STORE_METRICS);
  const fault = ({ kind, error }: { readonly kind: FaultKind; readonly error: unknown }): void => {
    count.faults.inc(kind);
    log.warn({ event: kind, err: error });
  };
  const handlers: Handlers<StoreKind> = {
    'anchor.fault': fault,
    'cache.fault': fault,
    'checkpoint.fault': fault,
    'content.fault': fault,
    'credit.fault': fault,
    'jobs.fault': fault,
    'approvals.fault': fault,
    'journal.fault': fault,
    'ledger.fault': fault,
    'objects.fault': fault,
    'pins.fault': fault,
    'reconciler.fault': fault,
    'settle.fault': fault,
    'sweep.fault': fault,
    'journal.begun': ({ kind }) => log.warn({ event: kind }),
    'journal.ended': ({ kind }) => log.info({ event: kind }),
    'journal.refused': ({ kind, rows }) => {
      count.refused.add(rows);
      log.error({ event: kind, rows });
    },
  };
  return {
    handlers,
    onJournalDamage: (damage: JournalDamage): void => {
      count.damaged.inc();
      log.error({ event: 'journal.damaged', ...damage });
    },
  };
}
