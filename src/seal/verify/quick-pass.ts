import type { StoredRow } from '#/ports/evidence.ts';
import { StrandWalk, type StrandOutline, type StrandTally } from './strand-walk.ts';

/** Rows that came before their turn, of all strands together: some tens of MiB. */
const MOST_WAITING = 20_000;

interface Walked {
  readonly walk: StrandWalk;
  /** Rows that came before their turn, by number. */
  readonly waiting: Map<number, StoredRow>;
}

/** A strand in which nothing was found. */
export interface SettledStrand extends StrandTally {
  readonly strand: string;
}

/**
 * Takes the rows of a ledger in the order that they lie in, goes through all strands at once, and tells which of them are
 * as they should be. Of the others it is not known what they are: they have to be read again, one by one. Besides
 * strands that were changed these are such whose rows lie too far from their order.
 */
export class QuickPass {
  readonly #outlineOf: (strand: string) => StrandOutline;
  readonly #isRepeated: (row: StoredRow) => boolean;
  readonly #strands = new Map<string, Walked | 'doubtful'>();
  #waiting = 0;

  constructor(outlineOf: (strand: string) => StrandOutline, isRepeated: (row: StoredRow) => boolean) {
    this.#outlineOf = outlineOf;
    this.#isRepeated = isRepeated;
  }

  take(row: StoredRow): void {
    const walked = this.#strands.get(row.strand) ?? this.#begin(row.strand);
    if (walked === 'doubtful') return;
    const { walk, waiting } = walked;
    if (row.sequence !== walk.next) {
      const known = row.sequence < walk.next || waiting.has(row.sequence) || this.#waiting >= MOST_WAITING;
      if (known) return this.#doubt(row.strand, waiting);
      waiting.set(row.sequence, row.kept());
      this.#waiting += 1;
      return;
    }
    let next: StoredRow | undefined = row;
    while (next) {
      if (this.#isRepeated(next) || !walk.step(next) || !walk.passWithheld()) return this.#doubt(row.strand, waiting);
      if (waiting.size === 0) return;
      next = waiting.get(walk.next);
      if (next && waiting.delete(next.sequence)) this.#waiting -= 1;
    }
  }

  /** Once all rows were taken: the strands in which nothing was found, and those that have to be read again, ascending. */
  end(): { readonly settled: readonly SettledStrand[]; readonly doubtful: readonly string[] } {
    const settled: SettledStrand[] = [];
    const doubtful: string[] = [];
    for (const [strand, walked] of this.#strands) {
      const tally = walked !== 'doubtful' && walked.waiting.size === 0 ? walked.walk.end() : undefined;
      if (tally) settled.push({ strand, ...tally });
      else doubtful.push(strand);
    }
    return { settled, doubtful: doubtful.sort() };
  }

  #begin(strand: string): Walked | 'doubtful' {
    const walk = new StrandWalk(this.#outlineOf(strand));
    const walked: Walked | 'doubtful' = walk.passWithheld() ? { walk, waiting: new Map() } : 'doubtful';
    this.#strands.set(strand, walked);
    return walked;
  }

  #doubt(strand: string, waiting: ReadonlyMap<number, StoredRow>): void {
    this.#waiting -= waiting.size;
    this.#strands.set(strand, 'doubtful');
  }
}
