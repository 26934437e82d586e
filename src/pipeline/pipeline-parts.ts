import type { AnswerCache } from '#/dispatch/cache/answer-cache.ts';
import type { Repeats } from '#/dispatch/cache/hot-cache.ts';
import type { DispatchParts } from '#/dispatch/dispatch.ts';
import { GatewayError } from '#/errors/gateway-error.ts';
import type { RecentDocuments } from '#/inspect/attachments/recent-documents.ts';
import type { MeterDeps } from '#/meter/meter.ts';
import type { RoutingDeps } from '#/route/route.ts';
import type { LargeWork } from '#/runtime/large-work.ts';
import type { ContentWriter } from '#/seal/content/content-writer.ts';
import type { LedgerWriter } from '#/seal/ledger-writer.ts';
import type { CorridorDeps } from './pipeline-deps.ts';
import type { SealParts } from './run-call.ts';

/** What the steps of all calls work with, put together once. */
export interface PipelineParts
  extends
    SealParts,
    RoutingDeps,
    DispatchParts,
    Pick<CorridorDeps, 'media' | 'detection' | 'detectors' | 'documents' | 'models'> {
  readonly writer: LedgerWriter;
  readonly meter: MeterDeps;
  readonly largeWork: LargeWork;
  readonly hotCache: Repeats;
  readonly answers: AnswerCache;
  readonly content: ContentWriter;
  /** Documents that were read lately; undefined where documents are not processed. */
  readonly files: RecentDocuments | undefined;
}

/** Throws `ledger_unavailable` where there is no room for the rows of more calls. */
export function requireRoom({ writer }: Pick<PipelineParts, 'writer'>): void {
  if (!writer.accepting) throw new GatewayError('ledger_unavailable', 'The audit ledger is behind; nothing was sent.');
}
