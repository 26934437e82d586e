import type { Detection, Matches, Search } from '../detection.ts';
import type { DetectionOptions } from '../detectors/list.ts';
import type { Asker } from '#/runtime/fair-places.ts';
import { createDecodedScanner } from '../decoding/decoded-scanner.ts';
import { SearchThreads, type ThreadOptions } from './search-threads.ts';
import { searching } from './searches.ts';
import { finish, type Steps } from '#/wire/document/steps.ts';

/** Detection that keeps large texts off the event loop. */
export interface DetectionPool {
  /** What it can find, in upper case. */
  readonly categories: ReadonlySet<string>;
  /** Whether texts of this total length should go through `find` and not `findNow`: above `longestNow`. */
  readonly needsWorker: (totalChars: number) => boolean;
  readonly longestNow: number;
  /** The finds in one text, on the spot: for small texts, without a promise. */
  readonly findNow: Detection['findNow'];
  /**
   * The finds in each text, in order; on the spot when all are small together or prove to be quickly searched, else in a
   * thread, where askers take slices.
   * Rejects with `DetectionUnavailable` when too much waits, others took all the time there was, or the pool is closed,
   * and with `SearchTooLarge` when the texts alone are too much: they were then not searched, so callers must refuse the
   * request. What is not done when the signal is aborted is given up, and rejects with its reason.
   */
  readonly find: Detection['find'];
  readonly search: Detection['search'];
  /** Ends the threads; what is waiting rejects. */
  close(): Promise<void>;
}

/** What an installation may set about the search. */
export interface DetectionPoolOptions extends DetectionOptions, ThreadOptions {
  /** Total length from which on texts are searched in a thread, in UTF-16 code units; default 16,384. */
  readonly thresholdChars?: number;
  /** Up to here they are tried on the spot for a moment first, since most prompts take less than a thread would; default 65,536. */
  readonly triedChars?: number;
}

/** So long texts are tried on the spot. */
const TRIED_MS = 2;

/** Work that comes from nobody in particular. */
const NOBODY: Asker = { organization: '', workload: '' };

/** Builds the pool. No thread runs before the first large text, and an idle one does not keep the process alive. */
export function createDetectionPool(options: DetectionPoolOptions = {}): DetectionPool {
  const { phoneRegions, thresholdChars = 16_384, triedChars = 65_536 } = options;
  const rules: DetectionOptions = phoneRegions === undefined ? {} : { phoneRegions };
  const scanner = createDecodedScanner(rules);
  const threads = new SearchThreads(rules, options);
  const run = async (search: Search, signal: AbortSignal | undefined, asker = NOBODY): Promise<Matches> => {
    signal?.throwIfAborted();
    const chars = search.texts.reduce((sum, text) => sum + text.length, 0);
    if (chars <= thresholdChars) return finish(searching(search, scanner));
    const isTried = chars <= triedChars && search.kind === 'categories';
    const found = isTried ? inTime(searching(search, scanner)) : undefined;
    if (found) return found;
    return threads.run(search, chars, signal, asker);
  };
  return {
    categories: scanner.categories,
    needsWorker: (totalChars) => totalChars > thresholdChars,
    longestNow: thresholdChars,
    findNow: scanner.find,
    find: (texts, categories, signal, asker) =>
      run({ kind: 'categories', texts, ...(categories && { categories }) }, signal, asker),
    search: run,
    close: () => threads.close(),
  };
}

/** What the steps return if they are done in time. */
function inTime<T>(steps: Steps<T>): T | undefined {
  const end = performance.now() + TRIED_MS;
  do {
    const step = steps.next();
    if (step.done === true) return step.value;
  } while (performance.now() < end);
  return undefined;
}
