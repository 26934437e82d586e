import { CATALOGUE } from '#/errors/catalogue.ts';
import type { GatewayError } from '#/errors/gateway-error.ts';
import type { ConfigEvent, ConfigSource } from '#/config/config-source.ts';
import type { PipelineEvent } from '#/pipeline/pipeline-event.ts';
import type { Pipeline } from '#/pipeline/pipeline.ts';
import type { JobEnded } from '#/pipeline/jobs/job-run.ts';
import type { JobRunner } from '#/pipeline/jobs/job-runner.ts';
import type { RowJournal } from '#/ports/row-journal.ts';
import type { ListEvent, VendorLists } from '#/dispatch/vendor-lists.ts';
import type { Anchorer } from '#/seal/checkpoints/anchorer.ts';
import type { DocumentEngine, DocumentFaultKind } from '#/ports/documents.ts';
import type { ModelFaultKind, ModelKind } from '#/ports/local-models.ts';
import type { BodyRoom } from '#/surfaces/body/body-room.ts';
import type { OpenCalls } from '#/surfaces/open-calls.ts';
import type { Log } from '#/telemetry/log.ts';
import { formatEuro } from '#/call/money.ts';
import { observeJobs } from './observe-jobs.ts';
import { observeLists } from './observe-lists.ts';
import type { PricesEvent, SnapshotFile } from '#/meter/pricing/price-snapshot-file.ts';
import { Metrics } from '#/telemetry/metrics.ts';

/** What is watched for the gauges of a scrape. */
interface Watched {
  readonly pipeline: Pipeline;
  readonly calls: OpenCalls;
  readonly room: BodyRoom;
  readonly jobs: Pick<JobRunner, 'running' | 'waiting'>;
  readonly config: ConfigSource;
  readonly journal: RowJournal | undefined;
  readonly anchorer?: Anchorer | undefined;
  readonly prices: SnapshotFile | undefined;
  readonly lists: VendorLists | undefined;
}

/** What the document engine can be asked. */
export type DocumentVerb = Exclude<keyof DocumentEngine, 'ping'>;

/** Facts of the document engine; never content. */
export type DocumentsEvent =
  | { readonly kind: 'documents.asked'; readonly verb: DocumentVerb }
  | { readonly kind: 'documents.fault'; readonly verb: DocumentVerb; readonly fault: DocumentFaultKind }
  | { readonly kind: 'documents.engine_died'; readonly code: number | null; readonly signal: string | null };

/** Facts of local models; never content. */
export interface ModelsEvent {
  readonly kind: 'models.fault';
  /** `guard`: the model of typed decisions, as the scope guard asks it. */
  readonly model: ModelKind | 'guard';
  readonly fault: ModelFaultKind;
}

/** Turns what happens into log lines and metrics. One line a call is the audit row's job, not the log's. */
export interface Observer {
  readonly onPipeline: (event: PipelineEvent) => void;
  readonly onInference: (event: DocumentsEvent | ModelsEvent) => void;
  readonly onJob: (ended: JobEnded) => void;
  /** A line of the journal could not be read: rows are lost, unless their strand has them. */
  readonly onJournalDamage: (damage: { readonly file: string; readonly offset: number }) => void;
  readonly onPrices: (event: PricesEvent) => void;
  readonly onModelList: (event: ListEvent) => void;
  readonly onConfig: (event: ConfigEvent) => void;
  readonly onError: (error: GatewayError, callId: string) => void;
  readonly watch: (watched: Watched) => void;
  readonly scrape: () => string;
}

export function createObserver(log: Log): Observer {
  const metrics = new Metrics();
  const sealed = metrics.counter('gw_calls_total', 'Calls sealed, by outcome and error code.');
  const errors = metrics.counter('gw_errors_total', 'Failures sent to clients, by error code.');
  const faults = metrics.counter('gw_store_faults_total', 'Failed accesses to a store, by what was tried.');
  const restored = metrics.counter('gw_counters_restored_total', 'Rebuilds of spend counters from the ledger.');
  const cache = metrics.counter('gw_cache_lookups_total', 'Calls looked up in the response cache, by result.');
  const dropped = metrics.counter('gw_content_dropped_total', 'Calls whose content found no room to be retained.');
  const abandoned = metrics.counter('gw_calls_abandoned_total', 'Calls sealed for processes that died.');
  const damaged = metrics.counter('gw_ledger_journal_damaged_total', 'Lines of the journal that could not be read.');
  const shadowed = metrics.counter(
    'gw_shadow_differences_total',
    'Calls that a policy in shadow mode would have decided otherwise, by its field.',
  );
  const implausible = metrics.counter(
    'gw_usage_implausible_total',
    'Calls billed by our own count as what the provider reported cannot be true, by provider.',
  );
  const circuits = metrics.counter('gw_circuit_changes_total', 'Circuit breakers that changed, by provider and state.');
  const alerts = metrics.counter('gw_money_alerts_total', 'Alerts about budgets, caps and credit, by limit and event.');
  const refused = metrics.counter(
    'gw_ledger_rows_refused_total',
    'Rows left by dead processes that were put aside: retention has dropped the rows of their time.',
  );
  const drifts = metrics.counter(
    'gw_money_drift_total',
    'Times that counters were found to say too little (put right) or too much (left as they are), by which.',
  );
  const undelivered = metrics.counter('gw_money_alerts_undelivered_total', 'Alerts that their address did not take.');
  const aside = metrics.counter(
    'gw_credentials_set_aside_total',
    'Credentials not used for a while, by provider and why.',
  );
  const lists = observeLists(log, metrics);
  const rejected = metrics.counter('gw_price_snapshots_rejected_total', 'Price snapshots that were not taken over.');
  const notTaken = metrics.counter(
    'gw_config_not_taken_total',
    'Times that published configuration was not taken over.',
  );
  const asked = metrics.counter('gw_document_requests_total', 'Requests to the document engine, by verb.');
  const unread = metrics.counter('gw_document_faults_total', 'Documents that were not processed, by verb and fault.');
  const unanswered = metrics.counter('gw_model_faults_total', 'Questions to local models without an answer, by model.');
  const deaths = metrics.counter(
    'gw_document_engine_deaths_total',
    'Ends of the document engine that nobody asked for.',
  );
  return {
    onInference(event) {
      switch (event.kind) {
        case 'documents.asked':
          return asked(`verb="${event.verb}"`);
        case 'documents.fault':
          return unread(`verb="${event.verb}",fault="${event.fault}"`);
        case 'models.fault':
          return unanswered(`model="${event.model}",fault="${event.fault}"`);
        case 'documents.engine_died':
          deaths('');
          return log.warn({ event: event.kind, code: event.code, signal: event.signal });
      }
    },
    onJob: observeJobs(metrics),
    onPipeline(event) {
      switch (event.kind) {
        case 'shadow.differed':
          return shadowed(`field="${event.field}"`);
        case 'detectors.used':
          return log.info({ event: event.kind, ...event.set });
        case 'call.sealed':
          return sealed(`outcome="${event.outcome}",code="${event.code ?? ''}"`);
        case 'usage.implausible':
          implausible(`provider="${event.provider}"`);
          return log.warn({ event: event.kind, provider: event.provider, call: event.callId });
        case 'counters.restored':
          restored('');
          return log.info({ event: event.kind, organization: event.organization });
        case 'calls.abandoned':
          abandoned('', event.holds.length);
          return log.warn({ event: event.kind, calls: event.holds.map((hold) => hold.callId) });
        case 'circuit.changed': {
          const { kind, provider, model, state } = event;
          circuits(`provider="${provider}",state="${state}"`);
          return log[state === 'open' ? 'warn' : 'info']({ event: kind, provider, model, state });
        }
        case 'credential.aside': {
          const { kind, waitMs, ...facts } = event;
          aside(`provider="${facts.provider}",why="${facts.why}"`);
          return log.warn({ event: kind, ...facts, wait_ms: Math.ceil(waitMs) });
        }
        case 'journal.refused':
          refused('', event.rows);
          return log.error({ event: event.kind, rows: event.rows });
        case 'journal.begun':
          return log.warn({ event: event.kind });
        case 'journal.ended':
          return log.info({ event: event.kind });
        case 'cache.asked':
          return cache(`result="${event.result}"`);
        case 'content.dropped':
          return dropped('');
        case 'objects.dropped':
          return log.warn({ event: event.kind, objects: event.objects });
        case 'money.alert': {
          const { kind, alert } = event;
          alerts(`limit="${alert.limit}",event="${alert.event}"`);
          const { amount, spent, left, at: _, event: what, ...facts } = alert;
          const euro = { amount_eur: formatEuro(amount), spent_eur: formatEuro(spent), left_eur: formatEuro(left) };
          return log.warn({ event: kind, what, ...facts, ...euro });
        }
        case 'money.alert-undelivered':
          undelivered('');
          return log.error({ event: event.kind, id: event.alert.id });
        case 'money.drift': {
          const { scope, period, counter, ledger, held, drift } = event.line;
          drifts(`direction="${drift < 0n ? 'too_little' : 'too_much'}"`);
          const sums = { counter: `${counter}`, ledger: `${ledger}`, held: `${held}`, drift: `${drift}` };
          return log.error({ event: event.kind, organization: event.organization, scope, period, nano_eur: sums });
        }
        case 'books.fault':
        case 'credit.fault':
        case 'cache.fault':
        case 'content.fault':
        case 'objects.fault':
        case 'jobs.fault':
        case 'ledger.fault':
        case 'journal.fault':
        case 'settle.fault':
        case 'sweep.fault':
        case 'checkpoint.fault':
        case 'anchor.fault':
          faults(`what="${event.kind}"`);
          return log.warn({ event: event.kind, err: event.error });
      }
    },
    onJournalDamage(damage) {
      damaged('');
      log.error({ event: 'journal.damaged', ...damage });
    },
    onPrices(event) {
      switch (event.name) {
        case 'prices.loaded': {
          const { id, builtAt, prices, differences } = event.snapshot;
          const facts = { snapshot: id, built_at: new Date(builtAt).toISOString(), models: prices.size };
          const { name, lastGood } = event;
          return log.info({ event: name, ...facts, differences: differences.length, last_good: lastGood });
        }
        case 'prices.rejected':
          rejected('');
          return log.error({ event: event.name, why: event.why });
        case 'prices.old':
          return log.warn({ event: event.name, snapshot: event.id, days: event.days });
      }
    },
    onModelList: (event) => lists.on(event),
    onConfig(event) {
      switch (event.name) {
        case 'config.loaded':
          return log.info({ event: event.name, revision: event.revision, counts: event.counts });
        case 'config.rejected':
          return log.error({ event: event.name, faults: event.faults });
        case 'config.not-taken':
          notTaken(`why="${event.why}"`);
          return log.error({ event: event.name, why: event.why, segments: event.segments });
        case 'config.taken-again':
          return log.info({ event: event.name });
        case 'config.failed':
          return log.error({ event: event.name, err: event.error });
      }
    },
    onError(error, callId) {
      errors(`code="${error.code}"`);
      if (CATALOGUE[error.code].status >= 500)
        log.warn({ event: 'call.failed', call_id: callId, code: error.code, err: error.cause });
    },
    watch({ pipeline, calls, room, jobs, config, anchorer, prices, lists: vendorLists, journal }) {
      if (vendorLists) lists.watch(vendorLists);
      if (prices) {
        metrics.gauge('gw_price_snapshot_age_seconds', 'Time since the price snapshot in force was built.', () =>
          Math.floor((Date.now() - prices.current().builtAt) / 1000),
        );
      }
      metrics.gauge('gw_open_calls', 'Calls in progress.', () => calls.size);
      metrics.gauge('gw_body_memory_bytes', 'Memory that bodies of calls in progress take.', () => room.taken);
      metrics.gauge('gw_document_jobs_running', 'Jobs that this gateway works on.', () => jobs.running);
      metrics.gauge('gw_document_jobs_waiting', 'Jobs that wait, over all gateways.', () => jobs.waiting);
      metrics.gauge('gw_open_holds', 'Debits of this process that are not settled.', () => pipeline.openHolds);
      metrics.gauge('gw_open_circuits', 'Endpoints left alone because they fail.', () => pipeline.openCircuits);
      metrics.gauge('gw_pending_rows', 'Audit rows not durable yet.', () => pipeline.pendingRows);
      metrics.gauge(
        'gw_ledger_journal_bytes',
        'Audit rows on disk that the ledger may lack.',
        () => journal?.state().bytes ?? 0,
      );
      metrics.gauge('gw_ledger_journal_oldest_seconds', 'Age of the oldest call whose row waits on disk.', () => {
        const oldest = journal?.state().oldest;
        return oldest === undefined ? 0 : Math.max(0, (Date.now() - oldest) / 1000);
      });
      metrics.gauge(
        'gw_pending_settlements',
        'Durable rows whose holds are not closed yet.',
        () => pipeline.pendingSettlements,
      );
      metrics.gauge('gw_dropped_rows', 'Audit rows of refusals given up for want of room.', () => pipeline.droppedRows);
      metrics.gauge('gw_pending_content', 'Calls whose content is not stored yet.', () => pipeline.pendingContent);
      metrics.gauges(
        'gw_money_drift_nano_eur',
        'Spend counters less ledger and open holds, of the organizations that this gateway looked at lately: always 0.',
        () => [...pipeline.drift].map(([organization, drift]) => [`organization="${organization}"`, Number(drift)]),
      );
      metrics.gauge('gw_config_readable', '1 while the configuration in force is the one that is to be.', () =>
        Number(config.readable()),
      );
      metrics.gauge(
        'gw_config_age_seconds',
        'Time since the configuration in force was known to be the latest: revocations lag by it.',
        () => config.age() / 1000,
      );
      if (anchorer)
        metrics.gauge(
          'gw_anchor_lag_checkpoints',
          'Checkpoints after the last one copied to object storage; -1 until it was looked at.',
          () => anchorer.lag,
        );
      metrics.gauge('gw_resident_bytes', 'Resident memory.', () => process.memoryUsage.rss());
    },
    scrape: () => metrics.text(),
  };
}
