import { CATALOGUE } from '#errors/catalogue.ts';
import type { GatewayError } from '#errors/gateway-error.ts';
import type { ConfigEvent, ConfigSource } from '#config/folder-source.ts';
import type { Corridor, CorridorEvent } from '#pipeline/corridor.ts';
import type { Anchorer } from '#seal/anchorer.ts';
import type { OpenCalls } from '#surfaces/open-calls.ts';
import type { Log } from '#telemetry/log.ts';
import type { PricesEvent, SnapshotFile } from './price-snapshot-file.ts';
import { Metrics } from '#telemetry/metrics.ts';

/** What is watched for the gauges of a scrape. */
export interface Watched {
  readonly corridor: Corridor;
  readonly calls: OpenCalls;
  readonly config: ConfigSource;
  readonly anchorer?: Anchorer | undefined;
  readonly prices: SnapshotFile | undefined;
}

/** Turns what happens into log lines and metrics. One line a call is the audit row's job, not the log's. */
export interface Observer {
  readonly onCorridor: (event: CorridorEvent) => void;
  readonly onPrices: (event: PricesEvent) => void;
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
  const shadowed = metrics.counter(
    'gw_shadow_differences_total',
    'Calls that a policy in shadow mode would have decided otherwise, by its field.',
  );
  const circuits = metrics.counter('gw_circuit_changes_total', 'Circuit breakers that changed, by provider and state.');
  const aside = metrics.counter(
    'gw_credentials_set_aside_total',
    'Credentials not used for a while, by provider and why.',
  );
  const rejected = metrics.counter('gw_price_snapshots_rejected_total', 'Price snapshots that were not taken over.');
  return {
    onCorridor(event) {
      switch (event.kind) {
        case 'shadow.differed':
          return shadowed(`field="${event.field}"`);
        case 'call.sealed':
          return sealed(`outcome="${event.outcome}",code="${event.code ?? ''}"`);
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
        case 'cache.asked':
          return cache(`result="${event.result}"`);
        case 'content.dropped':
          return dropped('');
        case 'cache.fault':
        case 'content.fault':
        case 'ledger.fault':
        case 'settle.fault':
        case 'sweep.fault':
        case 'checkpoint.fault':
        case 'anchor.fault':
          faults(`what="${event.kind}"`);
          return log.warn({ event: event.kind, err: event.error });
      }
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
          return log.error({ event: event.name, reason: event.reason });
        case 'prices.old':
          return log.warn({ event: event.name, snapshot: event.id, days: event.days });
      }
    },
    onConfig(event) {
      switch (event.name) {
        case 'config.loaded':
          return log.info({ event: event.name, revision: event.revision, counts: event.counts });
        case 'config.rejected':
          return log.error({ event: event.name, faults: event.faults });
        case 'config.failed':
          return log.error({ event: event.name, err: event.error });
      }
    },
    onError(error, callId) {
      errors(`code="${error.code}"`);
      if (CATALOGUE[error.code].status >= 500)
        log.warn({ event: 'call.failed', call_id: callId, code: error.code, err: error.cause });
    },
    watch({ corridor, calls, config, anchorer, prices }) {
      if (prices) {
        metrics.gauge('gw_price_snapshot_age_seconds', 'Time since the price snapshot in force was built.', () =>
          Math.floor((Date.now() - prices.current().builtAt) / 1000),
        );
      }
      metrics.gauge('gw_open_calls', 'Calls in progress.', () => calls.size);
      metrics.gauge('gw_open_holds', 'Debits of this process that are not settled.', () => corridor.openHolds);
      metrics.gauge('gw_open_circuits', 'Endpoints left alone because they fail.', () => corridor.openCircuits);
      metrics.gauge('gw_pending_rows', 'Audit rows not durable yet.', () => corridor.pendingRows);
      metrics.gauge(
        'gw_pending_settlements',
        'Durable rows whose holds are not closed yet.',
        () => corridor.pendingSettlements,
      );
      metrics.gauge('gw_dropped_rows', 'Audit rows of refusals given up for want of room.', () => corridor.droppedRows);
      metrics.gauge('gw_pending_content', 'Calls whose content is not stored yet.', () => corridor.pendingContent);
      metrics.gauge('gw_config_readable', '1 while the configuration in force is the one in the folder.', () =>
        Number(config.readable()),
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
