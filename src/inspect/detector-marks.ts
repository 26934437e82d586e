import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { ResolvedPolicy } from '#/config/snapshot.ts';
import { NAME_CATEGORIES, NAMES } from './names/detect-names.ts';
import { lookedFor } from './detect-leaves.ts';
import type { Detection } from './detection.ts';

/** Detectors that have looked through a call, as the log tells of them. */
export interface DetectorSet {
  /** What rows name them by. */
  readonly mark: string;
  /** In capitals, sorted. */
  readonly kinds: readonly string[];
  /** Version of the gateway, whose rules find everything but names. */
  readonly build: string;
  /** Revision of the model of names; null where it was not asked. */
  readonly names: string | null;
}

export interface DetectorMarksOptions {
  readonly detection: Pick<Detection, 'categories' | 'byDefault'>;
  readonly build: string;
  /** Revision of the model of names, as it was last known. Absent: this installation has no model of names. */
  readonly names?: () => string | undefined;
  /** Told of each set the first time it is used. */
  readonly onNew: (set: DetectorSet) => void;
}

/** As many as are remembered: a set for each policy, and those that documents are searched with. */
const MOST_SETS = 1024;
const MARK_LENGTH = 12;

/**
 * Names sets of detectors by a digest of their kinds and revisions, so that a row says in one short field who looked
 * through the call. A set is digested once.
 */
export class DetectorMarks {
  readonly #options: DetectorMarksOptions;
  /** By the set of kinds itself: policies and the detection keep theirs. */
  #known = new WeakMap<ReadonlySet<string>, { revision: string | null; mark: string; withoutNames: string }>();
  readonly #told = new LRUCache<string, true>({ max: MOST_SETS });

  constructor(options: DetectorMarksOptions) {
    this.#options = options;
  }

  /** The mark of a call under a policy; `unscanned`: kinds that were not searched for. */
  of(policy: Pick<ResolvedPolicy['dlp'], 'entities' | 'mode'>, unscanned: readonly string[]): string {
    const { detection } = this.#options;
    return this.ofKinds(lookedFor(policy, detection) ?? STRUCTURED, !unscanned.includes(NAMES));
  }

  /** Of a search for these kinds. */
  ofKinds(kinds: ReadonlySet<string>, namesToo = true): string {
    const revision = this.#options.names?.() ?? null;
    let known = this.#known.get(kinds);
    if (known?.revision !== revision) {
      const wanted = kinds === STRUCTURED ? this.#structured() : [...kinds];
      const others = wanted.filter((kind) => !NAME_CATEGORIES.has(kind));
      const withoutNames = this.#markOf(others, null);
      const mark = others.length === wanted.length ? withoutNames : this.#markOf(wanted, revision);
      this.#known.set(kinds, (known = { revision, mark, withoutNames }));
    }
    return namesToo ? known.mark : known.withoutNames;
  }

  #structured(): readonly string[] {
    return [...this.#options.detection.categories].filter((kind) => !NAME_CATEGORIES.has(kind));
  }

  #markOf(kinds: readonly string[], names: string | null): string {
    const { build, onNew } = this.#options;
    const set = { kinds: kinds.toSorted(), build, names };
    const mark = hash('sha256', JSON.stringify(set), 'hex').slice(0, MARK_LENGTH);
    if (!this.#told.has(mark)) {
      this.#told.set(mark, true);
      onNew({ mark, ...set });
    }
    return mark;
  }
}

/** All kinds that rules find, where neither policy nor detection has a set of them. */
const STRUCTURED: ReadonlySet<string> = new Set();
