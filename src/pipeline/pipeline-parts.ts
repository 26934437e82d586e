import type { AnswerCache } from '#/dispatch/cache/answer-cache.ts';
import type { HotCache } from '#/dispatch/cache/hot-cache.ts';
import type { DispatchParts } from '#/dispatch/dispatch.ts';
import type { PinKeeper } from '#/dispatch/tools/pin-keeper.ts';
import type { RecentDocuments } from '#/inspect/attachments/recent-documents.ts';
import type { MeterDeps } from '#/meter/meter.ts';
import type { RoutingDeps } from '#/route/route.ts';
import type { LargeWork } from '#/runtime/large-work.ts';
import type { ContentWriter } from '#/seal/content/content-writer.ts';
import type { LedgerWriter } from '#/seal/ledger-writer.ts';
import type { SealParts } from './run-call.ts';
import type { PipelineEvent } from './pipeline-event.ts';
import type { ToolParts } from './tools/tool-parts.ts';
import type { Detection } from '#/inspect/detection.ts';
import type { DetectorMarks } from '#/inspect/detector-marks.ts';
import type { ListedModels } from '#/route/plan.ts';
import type { DocumentEngine } from '#/ports/documents.ts';
import type { KeptObjects } from '#/ports/kept-objects.ts';
import type { LocalModels, Router } from '#/ports/local-models.ts';
import type { McpServers } from '#/ports/mcp-servers.ts';
import type { Neighbours } from '#/ports/neighbours.ts';
import type { MediaFetcher } from '#/ports/media.ts';
import type { PriceBook } from '#/meter/pricing/price-book.ts';
import type { Providers } from '#/route/offer.ts';
import type { ResponseCache } from '#/ports/response-cache.ts';
import type { RetainedContent } from '#/ports/retained-content.ts';
import type { RowJournal } from '#/ports/row-journal.ts';
import type { ContentCipher } from '#/seal/content/content-cipher.ts';
import type { ToolApprovals } from '#/ports/tool-approvals.ts';
import type { Snapshot } from '#/config/snapshot.ts';
import type { SettlementStores } from '#/meter/settlement/settlement.ts';

/** What the steps of all calls work with, put together once. */
export interface PipelineParts
  extends
    SealParts,
    RoutingDeps,
    DispatchParts,
    Pick<PipelineDeps, 'media' | 'detection' | 'detectors' | 'documents' | 'models' | 'cipher' | 'toolApprovals'> {
  readonly writer: LedgerWriter;
  readonly meter: MeterDeps;
  /** Servers of tools, and what they offer. */
  readonly tools: ToolParts;
  readonly largeWork: LargeWork;
  readonly hotCache: HotCache;
  readonly answers: AnswerCache;
  readonly content: ContentWriter;
  /** Documents that were read lately; undefined where documents are not processed. */
  readonly files: RecentDocuments | undefined;
}

/** What the pipeline is put together from. */
export interface PipelineDeps extends SettlementStores {
  /** Keeps rows on disk while the ledger takes none; absent: they wait in memory. */
  readonly journal?: RowJournal;
  readonly prices: PriceBook;
  readonly providers: Providers;
  /** As of `RouteDeps`. */
  readonly lists?: ListedModels;
  /** Judges requests behind automatic aliases; absent: the documented rule alone decides. */
  readonly router?: Router;
  /** Judges calls of workloads with a scope guard; absent: no local models. */
  readonly models?: Pick<LocalModels, 'judge'>;
  readonly media: MediaFetcher;
  /** Absent: documents are not processed. */
  readonly documents?: DocumentEngine;
  readonly detection: Detection;
  /** Names the detectors that inspected a call. */
  readonly detectors: DetectorMarks;
  readonly mcpServers: McpServers;
  /** Other processes, which may serve the same clients. */
  readonly neighbours: Neighbours;
  readonly responseCache: ResponseCache;
  readonly retainedContent: RetainedContent;
  readonly keptObjects: KeptObjects;
  /** Decides which tools of a server may be offered. */
  readonly pins: PinKeeper;
  /** Requests for the approval of calls of tools. */
  readonly toolApprovals: Pick<ToolApprovals, 'ask' | 'use'>;
  /** Seals what either of them keeps. */
  readonly cipher: ContentCipher;
  readonly snapshot: () => Snapshot | undefined;
  /** Told facts for log and metrics. */
  readonly onEvent: (event: PipelineEvent) => void;
}
