import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Asker } from '#/runtime/fair-places.ts';
import type { Match } from './match.ts';
import { CleanTexts } from './search/clean-texts.ts';
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
  readonly findNow: (text: string, categories?: ReadonlySet<string>) => readonly Match[];
  /**
   * The matches of each text. Rejects with `DetectionUnavailable` or `SearchTooLarge`, or with the reason of `signal` once
   * it is aborted: the rest is dropped. `asker`: the caller, which shares the worker fairly with others.
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

/** What each detection remembers of texts. */
const remembered = new WeakMap<Detection, CleanTexts>();

function rememberedBy(detection: Detection): CleanTexts {
  let clean = remembered.get(detection);
  if (clean === undefined) remembered.set(detection, (clean = new CleanTexts()));
  return clean;
}

/** So many code units are digested at once. */
const AT_ONCE = 256 * 1024;
const NOTHING: readonly Match[] = Object.freeze([]);

/** A detection for a caller, which searches no text again in which it found nothing for that workload. */
class ScopedDetection implements Detection {
  readonly byDefault: ReadonlySet<string> | undefined;
  readonly needsWorker: Detection['needsWorker'];
  readonly findNow: Detection['findNow'];
  readonly #signal: AbortSignal;
  readonly #detection: Detection;
  readonly #asker: Asker | undefined;
  readonly #clean: CleanTexts;
  readonly #owner: string;

  constructor(signal: AbortSignal, detection: Detection, asker: Asker | undefined) {
    this.byDefault = detection.byDefault;
    this.needsWorker = detection.needsWorker;
    this.#signal = signal;
    this.#detection = detection;
    this.#asker = asker;
    this.#clean = rememberedBy(detection);
    this.#owner = asker ? `${asker.organization}\0${asker.workload}` : '';
    this.findNow = asker ? (text, categories) => this.#findNow(text, categories) : detection.findNow;
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
    const signal = this.#until(sooner);
    const by = asker ?? this.#asker;
    return this.#asker
      ? this.#findUnknown(texts, categories, signal, by)
      : this.#detection.find(texts, categories, signal, by);
  }

  search(search: Search, sooner?: AbortSignal, asker?: Asker): Promise<Matches> {
    return this.#detection.search(search, this.#until(sooner), asker ?? this.#asker);
  }

  #findNow(text: string, categories: ReadonlySet<string> | undefined): readonly Match[] {
    const digest = this.#clean.digestOf(this.#owner, categories, text);
    if (digest !== undefined && this.#clean.has(digest)) return NOTHING;
    const found = this.#detection.findNow(text, categories);
    if (digest !== undefined && found.length === 0) this.#clean.add(digest);
    return found;
  }

  async #findUnknown(
    texts: readonly string[],
    categories: ReadonlySet<string> | undefined,
    signal: AbortSignal,
    asker: Asker | undefined,
  ): Promise<Matches> {
    const digests = await this.#digestsOf(texts, categories, signal);
    const isClean = digests.map((digest) => digest !== undefined && this.#clean.has(digest));
    const rest = texts.filter((_, at) => !isClean[at]);
    const found = rest.length === 0 ? [] : await this.#detection.find(rest, categories, signal, asker);
    let at = 0;
    return texts.map((_, index) => {
      if (isClean[index]) return NOTHING;
      const own = found[at++]!;
      const digest = digests[index];
      if (digest !== undefined && own.length === 0) this.#clean.add(digest);
      return own;
    });
  }

  async #digestsOf(
    texts: readonly string[],
    categories: ReadonlySet<string> | undefined,
    signal: AbortSignal,
  ): Promise<readonly (string | undefined)[]> {
    const digests: (string | undefined)[] = [];
    let read = 0;
    for (const text of texts) {
      if (read > AT_ONCE) {
        read = 0;
        await nextTurn();
        signal.throwIfAborted();
      }
      digests.push(this.#clean.digestOf(this.#owner, categories, text));
      read += text.length;
    }
    return digests;
  }

  #until(sooner: AbortSignal | undefined): AbortSignal {
    return sooner ? AbortSignal.any([this.#signal, sooner]) : this.#signal;
  }
}
