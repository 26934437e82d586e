import { hash } from 'node:crypto';
import type { StrandCut, StrandHead } from '#/ports/checkpoints.ts';
import type { StoredRow, WithheldRow } from '#/ports/evidence.ts';
import { genesis } from '../chain.ts';
import { isWithheld } from './cut.ts';
import { agrees, agreesAtAGlance } from './row-columns.ts';
import { parseRowText } from '../row-text.ts';

/** Facts about a strand that are known before its rows are read. */
export interface StrandOutline {
  readonly strand: string;
  /** What checkpoints say of it, by sequence. */
  readonly heads: readonly StrandHead[];
  /** Up to where its rows were dropped. */
  readonly cut?: StrandCut | undefined;
  /** The hashes that are left of dropped rows after the cut, by sequence. */
  readonly withheld: readonly WithheldRow[];
}

/** What a strand came to. */
export interface StrandTally {
  readonly rows: number;
  readonly superseded: number;
  readonly withheld: number;
  readonly afterCheckpoints: number;
}

/**
 * Walks through an intact strand, from row to row, in bytes. It makes the same checks as StrandCheck
 * but only answers yes or no: on no, the caller asks StrandCheck for the fault.
 */
export class StrandWalk {
  readonly #heads: readonly StrandHead[];
  readonly #cut: StrandCut | undefined;
  readonly #withheld: readonly WithheldRow[];
  readonly #lastHead: number;
  /** The link reached, and after it the hash of the next row: what the next link is made of. */
  readonly #both = Buffer.alloc(64);
  readonly #link = this.#both.subarray(0, 32);
  readonly #tally = { rows: 0, superseded: 0, withheld: 0, afterCheckpoints: 0 };
  #next: number;
  #nextHead = 0;
  #nextWithheld = 0;

  constructor({ strand, heads, cut, withheld }: StrandOutline) {
    this.#cut = cut;
    this.#withheld = withheld;
    this.#heads = cut ? heads.filter(({ sequence }) => sequence > cut.sequence) : heads;
    this.#lastHead = this.#heads.at(-1)?.sequence ?? 0;
    this.#next = (cut?.sequence ?? 0) + 1;
    this.#both.write(cut?.link ?? genesis(strand), 0, 32, 'hex');
  }

  /** Number of the row that is next. */
  get next(): number {
    return this.#next;
  }

  /** Goes on by the row of number `next`. False: it is not as it should be. */
  step(row: StoredRow): boolean {
    this.#both.write(hash('sha256', row.text, 'hex'), 32, 32, 'hex');
    const reached = hash('sha256', this.#both, 'hex');
    this.#both.write(reached, 0, 32, 'hex');
    if (row.link.length !== 32 || !this.#link.equals(row.link) || !this.#vouched(reached)) return false;
    if (!agreesAtAGlance(row) && !agreesWithCare(row)) return false;
    this.#tally.rows += 1;
    if (row.superseded) this.#tally.superseded += 1;
    if (this.#next > this.#lastHead) this.#tally.afterCheckpoints += 1;
    this.#next += 1;
    return true;
  }

  /** Goes on by the hashes that were kept of rows that would be next. False: one is not as it should be. */
  passWithheld(): boolean {
    for (let row; (row = this.#withheld[this.#nextWithheld]) && row.sequence <= this.#next; this.#nextWithheld += 1) {
      if (row.sequence < this.#next || !isWithheld(this.#cut, row.sequence)) return false;
      this.#both.write(row.hash, 32, 32, 'hex');
      const reached = hash('sha256', this.#both, 'hex');
      this.#both.write(reached, 0, 32, 'hex');
      if (reached !== row.link || !this.#vouched(reached)) return false;
      this.#tally.withheld += 1;
      this.#next += 1;
    }
    return true;
  }

  /** What the strand came to; undefined where there has to be more of it. */
  end(): StrandTally | undefined {
    const complete = this.#next > this.#lastHead && this.#nextWithheld === this.#withheld.length;
    return complete ? this.#tally : undefined;
  }

  /** Whether what a checkpoint says of the next place, if one does, is the link that was reached. */
  #vouched(reached: string): boolean {
    while ((this.#heads[this.#nextHead]?.sequence ?? Infinity) < this.#next) this.#nextHead += 1;
    const head = this.#heads[this.#nextHead];
    return head?.sequence !== this.#next || head.link === reached;
  }
}

/** As agreesAtAGlance, of rows that it does not know: those with escapes. */
function agreesWithCare(row: StoredRow): boolean {
  const sealed = row.sealed();
  const facts = parseRowText(sealed.row);
  return facts !== undefined && facts.canonical && agrees(sealed, facts);
}
