import type { ConfigEvent, ConfigSource } from '#/config/config-source.ts';
import type { ListEvent, VendorLists } from '#/dispatch/vendor-lists.ts';
import type { GatewayError } from '#/errors/gateway-error.ts';
import type { PricesEvent, SnapshotFile } from '#/meter/pricing/price-snapshot-file.ts';
import type { PinKeeper } from '#/dispatch/tools/pin-keeper.ts';
import type { JobEnded } from '#/pipeline/jobs/job-run.ts';
import type { JobRunner } from '#/pipeline/jobs/job-runner.ts';
import type { PipelineEvent } from '#/pipeline/pipeline-event.ts';
import type { Log } from '../log.ts';
import { Metrics } from '../metrics.ts';
import { observeCalls } from './calls.ts';
import { observeConfig } from './config.ts';
import { observeDocuments, type DocumentsEvent, type ModelsEvent } from './documents.ts';
import { dispatcher } from './handlers.ts';
import { observeMoney } from './money.ts';
import { watchProcess, type WatchedProcess } from './process.ts';
import { observeStores, type JournalDamage } from './stores.ts';
import { observeTools } from './tools.ts';
import { observeUpstreams } from './upstreams.ts';

/** Sources of the gauges. */
interface Watched extends WatchedProcess {
  readonly jobs: Pick<JobRunner, 'running' | 'waiting'>;
  readonly config: ConfigSource;
  readonly prices: SnapshotFile | undefined;
  readonly lists: VendorLists | undefined;
  readonly pins: Pick<PinKeeper, 'counts' | 'hidden'>;
}

/** Turns what happens into log lines and metrics. Each call has its audit row, so the log has no line for it. */
export interface Observer {
  readonly onPipeline: (event: PipelineEvent) => void;
  readonly onInference: (event: DocumentsEvent | ModelsEvent) => void;
  readonly onJob: (ended: JobEnded) => void;
  /** A line of the journal is unreadable: rows are lost, unless the ledger has them. */
  readonly onJournalDamage: (damage: JournalDamage) => void;
  readonly onPrices: (event: PricesEvent) => void;
  readonly onModelList: (event: ListEvent) => void;
  readonly onConfig: (event: ConfigEvent) => void;
  readonly onError: (error: GatewayError, callId: string) => void;
  readonly watch: (watched: Watched) => void;
  readonly scrape: () => string;
}

/** Opens the metrics of the gateway and joins what observes its parts. */
export function createObserver(log: Log): Observer {
  const metrics = new Metrics();
  const calls = observeCalls(log, metrics);
  const stores = observeStores(log, metrics);
  const upstreams = observeUpstreams(log, metrics);
  const config = observeConfig(log, metrics);
  const documents = observeDocuments(log, metrics);
  const tools = observeTools(log, metrics);
  return {
    onPipeline: dispatcher({
      ...calls.handlers,
      ...stores.handlers,
      ...upstreams.handlers,
      ...tools.handlers,
      ...observeMoney(log, metrics),
    }),
    onInference: documents.onInference,
    onJob: documents.onJob,
    onJournalDamage: stores.onJournalDamage,
    onPrices: config.onPrices,
    onModelList: upstreams.onModelList,
    onConfig: config.onConfig,
    onError: calls.onError,
    watch(watched) {
      watchProcess(metrics, watched);
      documents.watchJobs(watched.jobs);
      config.watchConfig(watched.config);
      tools.watchPins(watched.pins);
      tools.watchServers(watched.config);
      tools.watchStreams(watched.calls);
      if (watched.prices) config.watchPrices(watched.prices);
      if (watched.lists) upstreams.watchLists(watched.lists);
    },
    scrape: () => metrics.text(),
  };
}
