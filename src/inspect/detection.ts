import type { Asker } from '#/runtime/fair-places.ts';
import type { Match } from './match.ts';
import type { Term } from './terms/terms.ts';

/**
 * Finds personal data and secrets in texts: small ones at once, large ones off the event loop. Without `categories` it looks
 * for all structured kinds; it looks for names only where they are named.
 */
export interface Detection {
  /** What it can find, in upper case. */
  readonly categories: ReadonlySet<string>;
  /** What it looks for under policies that protect without naming kinds; undefined: all structured kinds. */
  readonly byDefault?: ReadonlySet<string> | undefined;
  /** Whether texts of this total length, or the kinds to find in them, need `find` instead of `findNow`. */
  readonly needsWorker: (totalLength: number, categories?: ReadonlySet<string>) => boolean;
  /** `asker`: as below. */
  readonly findNow: (text: string, categories?: ReadonlySet<string>, asker?: Asker) => readonly Match[];
  /**
   * The matches of each text. Rejects with `DetectionUnavailable` or `SearchTooLarge`, or with the reason of `signal` once
   * it is aborted: the rest is dropped. `asker`: the caller, which shares the worker fairly with others, and for whom
   * texts without finds may be remembered.
   */
  find(
    texts: readonly string[],
    categories?: ReadonlySet<string>,
    signal?: AbortSignal,
    asker?: Asker,
  ): Promise<Matches>;
  /** Any search but that for names, on the same terms. */
  search(search: Search, signal?: AbortSignal, asker?: Asker): Promise<Matches>;
}

/** A search in texts. Threads receive it as a structured clone, so a copy must mean the same. */
export type Search =
  | { readonly kind: 'categories'; readonly texts: readonly string[]; readonly categories?: ReadonlySet<string> }
  /** `skipped`: for each text the characters (`g`) that its reader ignores. */
  | {
      readonly kind: 'terms';
      readonly texts: readonly string[];
      readonly terms: readonly Term[];
      readonly skipped?: readonly (RegExp | undefined)[];
    }
  /** Terms in recognized text (OCR), misread ones too. */
  | { readonly kind: 'fuzzy terms'; readonly texts: readonly string[]; readonly terms: readonly Term[] }
  /** Categories in recognized text (OCR) that misread characters hide. */
  | { readonly kind: 'misread'; readonly texts: readonly string[]; readonly categories?: ReadonlySet<string> };

/** The matches of each text, in order. */
export type Matches = readonly (readonly Match[])[];

/** The texts were not searched; nothing is known about them. */
export class DetectionUnavailable extends Error {
  override readonly name = 'DetectionUnavailable';
}

/** The texts cannot be searched, however long one waits: they are too large, or hold too many matches. */
export class SearchTooLarge extends Error {
  override readonly name = 'SearchTooLarge';
}

/** A call that may end before a search for it is done. */
interface OpenCall {
  readonly signal: AbortSignal;
  readonly key: { readonly workload: { readonly id: string; readonly organization: { readonly id: string } } };
}

/** The detection for one call: its searches end with it, and take turns as its workload's. */
export function detectionFor({ signal, key }: OpenCall, detection: Detection): Detection {
  const { id, organization } = key.workload;
  return new ScopedDetection(signal, detection, { organization: organization.id, workload: id });
}

/** The detection for one piece of work: its searches end when `signal` aborts, or when a signal given to one does. */
export function detectionUntil(signal: AbortSignal, detection: Detection): Detection {
  return new ScopedDetection(signal, detection, undefined);
}

/** A detection for a caller. */
class ScopedDetection implements Detection {
  readonly byDefault: ReadonlySet<string> | undefined;
  readonly needsWorker: Detection['needsWorker'];
  readonly findNow: Detection['findNow'];
  readonly #signal: AbortSignal;
  readonly #detection: Detection;
  readonly #asker: Asker | undefined;

  constructor(signal: AbortSignal, detection: Detection, asker: Asker | undefined) {
    this.byDefault = detection.byDefault;
    this.needsWorker = detection.needsWorker;
    this.#signal = signal;
    this.#detection = detection;
    this.#asker = asker;
    this.findNow = asker ? (text, categories) => detection.findNow(text, categories, asker) : detection.findNow;
  }

  get categories(): ReadonlySet<string> {
    return this.#detection.categories;
  }

  find(
    texts: readonly string[],
    categories?: ReadonlySet<string>,
    sooner?: AbortSignal,
    asker?: Asker,
  ): Promise<Matches> {
    return this.#detection.find(texts, categories, this.#until(sooner), asker ?? this.#asker);
  }

  search(search: Search, sooner?: AbortSignal, asker?: Asker): Promise<Matches> {
    return this.#detection.search(search, this.#until(sooner), asker ?? this.#asker);
  }

  #until(sooner: AbortSignal | undefined): AbortSignal {
    return sooner ? AbortSignal.any([this.#signal, sooner]) : this.#signal;
  }
}
