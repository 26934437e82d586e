import type { StrandCut, StrandHead } from '#/ports/checkpoints.ts';
import type { WithheldRow } from '#/ports/evidence.ts';
import type { SealedRow } from '#/ports/ledger.ts';
import { genesis, link, linkOfHash } from '../chain.ts';
import { isWithheld } from './cut.ts';
import { diagnose, movedTo } from './diagnose.ts';
import { agrees, differences } from './row-columns.ts';
import { readRowText } from '../row-text.ts';
import type { StrandOutline } from './strand-walk.ts';
import type { FaultKind, StrandFault } from './report.ts';

/** A fault while its strand is still read. */
type OpenFault = { -readonly [Member in keyof StrandFault]: StrandFault[Member] } & {
  /** The link before the place where the chain broke, to recognize the row that belongs there. */
  readonly before: string;
  after: { rows: number; unlinked: number };
};

/** Where a fault is. */
interface Place {
  readonly sequence: number;
  readonly callId: string | undefined;
}

/** Facts about a strand and the ledger that are known before its rows are read. */
export interface StrandFacts extends StrandOutline {
  /** False for a call that was in the ledger before. */
  readonly isNewCall: (callId: string) => boolean;
}

/** Checks one strand, place by place: the rows that share a number are given together, with the place after them. */
export class StrandCheck {
  readonly strand: string;
  /** Rows after the last head that a checkpoint vouches for. */
  afterCheckpoints = 0;
  /** Rows of which there was the hash alone. */
  withheldRows = 0;
  readonly #heads: readonly StrandHead[];
  readonly #cut: StrandCut | undefined;
  readonly #withheld: readonly WithheldRow[];
  readonly #isNewCall: (callId: string) => boolean;
  #nextHead = 0;
  #nextWithheld = 0;
  #expected: number;
  /** The link of the row before. */
  #previous: string;
  #fault: OpenFault | undefined;

  constructor({ strand, heads, cut, withheld, isNewCall }: StrandFacts) {
    this.strand = strand;
    this.#cut = cut;
    this.#withheld = withheld;
    this.#isNewCall = isNewCall;
    this.#expected = (cut?.sequence ?? 0) + 1;
    this.#previous = cut?.link ?? genesis(strand);
    this.#heads = cut ? heads.filter(({ sequence }) => sequence > cut.sequence) : heads;
  }

  place(rows: readonly SealedRow[], next: readonly SealedRow[] | undefined): void {
    const sequence = rows[0]!.sequence;
    if (this.#nextWithheld < this.#withheld.length) this.#skipTo(sequence);
    const lastHead = this.#heads.at(-1)?.sequence ?? 0;
    if (sequence > lastHead) this.afterCheckpoints += rows.length;
    if (this.#fault) this.#countAfter(this.#fault, rows);
    else if (sequence !== this.#expected) this.#outOfPlace(rows);
    else this.#inPlace(rows, next);
    this.#expected = sequence + 1;
  }

  /**
   * Rows from number `from` on of which the hashes are shown in place of the rows, one after the other, the last of which
   * has this link: in an export, where any row may be withheld.
   */
  run(from: number, hashes: readonly Uint8Array[], lastLink: string): void {
    const last = from + hashes.length - 1;
    this.withheldRows += hashes.length;
    if (!this.#fault && from !== this.#expected) this.#gap(from, undefined, lastLink);
    let reached = this.#previous;
    for (const [index, hash] of hashes.entries()) {
      reached = linkOfHash(reached, hash);
      if (!this.#fault) this.#checkHead({ sequence: from + index, link: reached, callId: undefined });
    }
    if (!this.#fault && reached !== lastLink) {
      const detail = `hashes of the withheld rows ${from} to ${last} were changed`;
      this.#report('edited', { sequence: from, callId: undefined }, detail);
    }
    this.#previous = lastLink;
    this.#expected = last + 1;
  }

  /** The fault of the strand, once all of it was given. */
  end(): StrandFault | undefined {
    this.#skipTo(Infinity);
    const head = this.#heads.at(-1);
    if (!this.#fault && head && head.sequence >= this.#expected) {
      const missing = { from: this.#expected, to: head.sequence };
      this.#report(
        'removed',
        undefined,
        `the strand ends early: a checkpoint vouches for row ${head.sequence}`,
        missing,
      );
    }
    if (!this.#fault) return undefined;
    const { before: _, ...fault } = this.#fault;
    return fault;
  }

  /** Takes the hashes that were kept of rows before number `sequence`. */
  #skipTo(sequence: number): void {
    for (let row; (row = this.#withheld[this.#nextWithheld]) && row.sequence < sequence; this.#nextWithheld += 1) {
      this.withheldRows += 1;
      if (!this.#fault) this.#hashInPlace(row, this.#withheld[this.#nextWithheld + 1]);
      this.#previous = row.link;
      this.#expected = Math.max(this.#expected, row.sequence + 1);
    }
  }

  #hashInPlace({ sequence, hash, link: stored }: WithheldRow, next: WithheldRow | undefined): void {
    const row = { sequence, callId: undefined, link: stored };
    if (sequence < this.#expected) {
      this.#report('inserted', row, 'the hash of a dropped row is stored where there is still a row, or after a cut');
      return;
    }
    if (!isWithheld(this.#cut, sequence)) {
      const kind = sequence === this.#expected ? 'removed' : 'inserted';
      return this.#report(kind, row, 'only its hash is left, but no signed cut says that the row was dropped');
    }
    if (sequence > this.#expected) return this.#gap(sequence, undefined, stored);
    const computed = linkOfHash(this.#previous, Buffer.from(hash, 'hex'));
    if (computed !== stored) {
      const follows = next && next.sequence === sequence + 1 && linkOfHash(computed, Buffer.from(next.hash, 'hex'));
      const what = follows === next?.link && follows !== undefined ? 'its link was changed' : 'it was changed';
      return this.#report('edited', row, `only the hash of this dropped row is left, and ${what}`);
    }
    this.#checkHead(row);
  }

  #outOfPlace(rows: readonly SealedRow[]): void {
    const [row] = rows as readonly [SealedRow];
    this.#gap(row.sequence, row, row.link);
    this.#fault!.after.rows = rows.length;
  }

  /** A place that is not the next one. */
  #gap(sequence: number, row: SealedRow | undefined, resume: string): void {
    if (sequence < this.#expected) {
      const detail =
        this.#expected > 1
          ? `it has number ${sequence}, but must have ${this.#expected}: the rows before it end or were dropped at ${this.#expected - 1}`
          : `it has number ${sequence}, but a strand begins with row 1`;
      this.#report('inserted', row ?? { sequence, callId: undefined }, detail);
    } else {
      const missing = { from: this.#expected, to: sequence - 1 };
      this.#report('removed', row, 'the row numbers of the strand have a gap here', missing);
    }
    this.#previous = resume;
  }

  #inPlace(rows: readonly SealedRow[], next: readonly SealedRow[] | undefined): void {
    const index = rows.findIndex((row) => link(this.#previous, row.row) === row.link);
    const genuine = rows[index];
    if (!genuine) {
      const { row, kind, detail, resume } = diagnose(this.#previous, rows, next, this.#headAt(rows[0]!.sequence));
      this.#report(kind, row, detail);
      this.#previous = resume;
      return;
    }
    const stranger = rows[index === 0 ? 1 : 0];
    if (stranger) {
      const kind = stranger.callId === genuine.callId ? 'duplicate' : 'inserted';
      this.#report(kind, stranger, `the chain contains another row with this number, of call ${genuine.callId}`);
    }
    this.#previous = genuine.link;
    if (!this.#fault) this.#checkFacts(genuine);
    if (!this.#fault) this.#checkHead(genuine);
  }

  /** The text is unchanged, so the columns have to agree with it. */
  #checkFacts(row: SealedRow): void {
    const facts = readRowText(row.row);
    if (!facts) return this.#report('malformed', row, 'the text is not an audit row');
    if (!facts.canonical) return this.#report('malformed', row, 'the text is not in canonical form (RFC 8785)');
    if (!agrees(row, facts)) {
      const changed = differences(row, facts);
      return this.#report('edited', row, `the text is as it was sealed, but columns differ from it: ${changed}`);
    }
    if (row.superseded || this.#isNewCall(row.callId)) return;
    this.#report('duplicate', row, 'the call is already in the ledger, in an earlier row');
  }

  #checkHead(row: Pick<SealedRow, 'sequence' | 'link'> & Place): void {
    const head = this.#headAt(row.sequence);
    if (!head || head.link === row.link) return;
    const known = this.#heads[this.#nextHead - 1]?.sequence ?? this.#cut?.sequence ?? 0;
    const range =
      known + 1 === row.sequence ? `row ${row.sequence}` : `one of the rows ${known + 1} to ${row.sequence}`;
    this.#report(
      'rewritten',
      row,
      `a checkpoint vouches for another row here: from ${range} on, the strand was sealed again`,
    );
  }

  /** What a checkpoint says about a place; asked in order. */
  #headAt(sequence: number): StrandHead | undefined {
    while ((this.#heads[this.#nextHead]?.sequence ?? Infinity) < sequence) this.#nextHead += 1;
    const head = this.#heads[this.#nextHead];
    return head?.sequence === sequence ? head : undefined;
  }

  #countAfter(fault: OpenFault, rows: readonly SealedRow[]): void {
    for (const row of rows) {
      fault.after.rows += 1;
      if (link(this.#previous, row.row) !== row.link) fault.after.unlinked += 1;
      // A row that fits into the gap was not removed but moved.
      if (link(fault.before, row.row) === row.link) movedTo(fault, row);
    }
    this.#previous = rows.at(-1)!.link;
  }

  #report(kind: FaultKind, row: Place | undefined, detail: string, missing?: StrandFault['missing']): void {
    this.#fault = {
      strand: this.strand,
      sequence: missing?.from ?? row?.sequence ?? this.#expected,
      callId: row?.callId,
      kind,
      detail,
      ...(missing && { missing }),
      after: { rows: 0, unlinked: 0 },
      before: this.#previous,
    };
  }
}
