import type { Asker } from '#/runtime/fair-places.ts';
import type { Finds, Search } from '../search/searches.ts';

/** A stretch of text that is personal or secret: UTF-16 offsets, end exclusive. */
export interface Span {
  readonly start: number;
  readonly end: number;
  /** Upper-case category as used in tags: `EMAIL`, `IBAN`. */
  readonly category: string;
  /** The term of which it is a spelling or a form, where it was found by one. */
  readonly term?: string;
}

/** Finds one kind of personal data. Linear in the text's length, whatever the text. */
export interface Detector {
  readonly category: string;
  find(text: string): readonly Span[];
}

/**
 * Finds personal data and secrets in texts: at once for small ones, off the event loop for large ones. Without `categories`
 * all structured kinds are looked for; names are where they are named.
 */
export interface Detection {
  /** What it can find, in upper case. */
  readonly categories: ReadonlySet<string>;
  /** What policies that protect without naming kinds have looked for; undefined: all structured kinds. */
  readonly byDefault?: ReadonlySet<string> | undefined;
  /** Whether texts of this total length, or what is looked for in them, are for `find` and not for `findNow`. */
  needsWorker(totalLength: number, categories?: ReadonlySet<string>): boolean;
  findNow(text: string, categories?: ReadonlySet<string>): readonly Span[];
  /**
   * With a `signal`, what is not done when it is aborted is given up: rejects with its reason. `asker`: who it is for, and
   * takes slices with others.
   */
  find(
    texts: readonly string[],
    categories?: ReadonlySet<string>,
    signal?: AbortSignal,
    asker?: Asker,
  ): Promise<readonly (readonly Span[])[]>;
  /** Any search but that for names, on the same terms. */
  search(search: Search, signal?: AbortSignal, asker?: Asker): Promise<Finds>;
}

/** The same for one piece of work of one asker, which is given up with the signal; one that a caller names counts beside it. */
export function givenUpWith(signal: AbortSignal, detection: Detection, asker?: Asker): Detection {
  return new GivenUp(signal, detection, asker);
}

/** A call of somebody, which may end before it is done. */
interface OpenCall {
  readonly signal: AbortSignal;
  readonly key: { readonly workload: { readonly id: string; readonly organization: { readonly id: string } } };
}

/** The same for one call, which takes its slices as its workload's. */
export function detectionFor({ signal, key }: OpenCall, detection: Detection): Detection {
  const { id, organization } = key.workload;
  return givenUpWith(signal, detection, { organization: organization.id, workload: id });
}

/** Made for every call, so that it has nothing of its own but the three: a copy of the detection costs more than a search. */
class GivenUp implements Detection {
  readonly #signal: AbortSignal;
  readonly #detection: Detection;
  readonly #asker: Asker | undefined;

  constructor(signal: AbortSignal, detection: Detection, asker: Asker | undefined) {
    this.#signal = signal;
    this.#detection = detection;
    this.#asker = asker;
  }

  get categories(): ReadonlySet<string> {
    return this.#detection.categories;
  }

  get byDefault(): ReadonlySet<string> | undefined {
    return this.#detection.byDefault;
  }

  needsWorker(totalLength: number, categories?: ReadonlySet<string>): boolean {
    return this.#detection.needsWorker(totalLength, categories);
  }

  findNow(text: string, categories?: ReadonlySet<string>): readonly Span[] {
    return this.#detection.findNow(text, categories);
  }

  find(
    texts: readonly string[],
    categories?: ReadonlySet<string>,
    sooner?: AbortSignal,
    asker?: Asker,
  ): Promise<readonly (readonly Span[])[]> {
    return this.#detection.find(texts, categories, this.#until(sooner), asker ?? this.#asker);
  }

  search(search: Search, sooner?: AbortSignal, asker?: Asker): Promise<Finds> {
    return this.#detection.search(search, this.#until(sooner), asker ?? this.#asker);
  }

  #until(sooner: AbortSignal | undefined): AbortSignal {
    return sooner ? AbortSignal.any([this.#signal, sooner]) : this.#signal;
  }
}
