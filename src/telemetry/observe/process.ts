import type { Pipeline } from '#/pipeline/pipeline.ts';
import type { RowJournal } from '#/ports/row-journal.ts';
import type { Anchorer } from '#/seal/background/anchorer.ts';
import type { BodyRoom } from '#/surfaces/body/body-room.ts';
import type { OpenCalls } from '#/surfaces/endpoint/open-calls.ts';
import { gauge, total, type Metrics } from '#/telemetry/metrics.ts';

export const PROCESS_METRICS = {
  openCalls: gauge('gw_open_calls', 'Calls in progress.'),
  bodyMemory: gauge('gw_body_memory_bytes', 'Memory that the bodies of calls in progress take.'),
  openHolds: gauge('gw_open_holds', 'Holds of this process that are not settled.'),
  openCircuits: gauge('gw_open_circuits', 'Upstreams that are not asked because their circuit breaker is open.'),
  pendingRows: gauge('gw_pending_rows', 'Audit rows that are not stored durably yet.'),
  droppedRows: total('gw_dropped_rows_total', 'Audit rows of refusals that were dropped because too many waited.'),
  pendingSettlements: gauge('gw_pending_settlements', 'Stored rows whose holds are not settled yet.'),
  pendingContent: gauge('gw_pending_content', 'Calls whose content is not stored yet.'),
  journalBytes: gauge('gw_ledger_journal_bytes', 'Audit rows on disk that the ledger may lack.'),
  journalOldest: gauge('gw_ledger_journal_oldest_seconds', 'Age of the oldest call whose row waits on disk.'),
  drift: gauge(
    'gw_money_drift_nano_eur',
    'Spend counters less ledger and open holds, in nano-euro, by organization, as this gateway last compared them. 0 is right.',
    'organization',
  ),
  anchorLag: gauge(
    'gw_anchor_lag_checkpoints',
    'Checkpoints after the last one in object storage; -1 until the first look.',
  ),
  resident: gauge('gw_resident_bytes', 'Resident memory of the process.'),
};

/** What the gauges of the process are read from. */
export interface WatchedProcess {
  readonly pipeline: Pipeline;
  readonly calls: OpenCalls;
  readonly room: BodyRoom;
  readonly journal: RowJournal | undefined;
  readonly anchorer?: Anchorer | undefined;
}

/** Has the gauges of the process read when scraped. */
export function watchProcess(metrics: Metrics, { pipeline, calls, room, journal, anchorer }: WatchedProcess): void {
  const read = metrics.open(PROCESS_METRICS);
  read.openCalls.from(() => calls.size);
  read.bodyMemory.from(() => room.taken);
  read.openHolds.from(() => pipeline.openHolds);
  read.openCircuits.from(() => pipeline.openCircuits);
  read.pendingRows.from(() => pipeline.pendingRows);
  read.droppedRows.from(() => pipeline.droppedRows);
  read.pendingSettlements.from(() => pipeline.pendingSettlements);
  read.pendingContent.from(() => pipeline.pendingContent);
  read.journalBytes.from(() => journal?.state().bytes ?? 0);
  read.journalOldest.from(() => {
    const oldest = journal?.state().oldest;
    return oldest === undefined ? 0 : Math.max(0, (Date.now() - oldest) / 1000);
  });
  read.drift.from(() => [...pipeline.drift].map(([organization, drift]) => [organization, Number(drift)] as const));
  if (anchorer) read.anchorLag.from(() => anchorer.lag);
  read.resident.from(() => process.memoryUsage.rss());
}
