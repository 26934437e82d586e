import type { CorridorEvent } from './pipeline-event.ts';
import type { Detection } from '#/inspect/detection.ts';
import type { DetectorMarks } from '#/inspect/detector-marks.ts';
import type { ListedModels } from '#/route/plan.ts';
import type { DocumentEngine } from '#/ports/documents.ts';
import type { KeptObjects } from '#/ports/kept-objects.ts';
import type { LocalModels } from '#/ports/local-models.ts';
import type { MediaFetcher } from '#/ports/media.ts';
import type { PriceBook } from '#/meter/pricing/price-book.ts';
import type { Providers } from '#/route/offer.ts';
import type { ResponseCache } from '#/ports/response-cache.ts';
import type { RetainedContent } from '#/ports/retained-content.ts';
import type { Router } from '#/ports/router.ts';
import type { RowJournal } from '#/ports/row-journal.ts';
import type { ContentCipher } from '#/seal/content/content-cipher.ts';
import type { Snapshot } from '#/config/snapshot.ts';
import type { TreasuryStores } from '#/meter/settlement/settlement.ts';

/** What the corridor is put together from. */
export interface CorridorDeps extends TreasuryStores {
  /** Keeps rows on disk while the ledger takes none; absent: they wait in memory. */
  readonly journal?: RowJournal;
  readonly prices: PriceBook;
  readonly providers: Providers;
  /** As of `RouteDeps`. */
  readonly lists?: ListedModels;
  /** Judges requests behind automatic aliases; absent: the documented rule alone decides. */
  readonly router?: Router;
  /** Judges calls of workloads with a scope guard; absent: nobody does. */
  readonly models?: Pick<LocalModels, 'judge'>;
  readonly media: MediaFetcher;
  /** Absent: documents are not processed. */
  readonly documents?: DocumentEngine;
  readonly detection: Detection;
  /** Names whoever looked through a call. */
  readonly detectors: DetectorMarks;
  readonly responseCache: ResponseCache;
  readonly retainedContent: RetainedContent;
  readonly keptObjects: KeptObjects;
  /** Seals what either of them keeps. */
  readonly cipher: ContentCipher;
  readonly snapshot: () => Snapshot | undefined;
  /** Told facts for log and metrics. */
  readonly onEvent: (event: CorridorEvent) => void;
}
