import type { StrandHead } from '#ports/checkpoints.ts';
import type { SealedRow } from '#ports/ledger.ts';
import { genesis, link } from './chain.ts';
import { agrees, diagnose, differences, movedTo } from './diagnose.ts';
import { readRowText } from './row-text.ts';
import type { FaultKind, StrandFault } from './verify-report.ts';

/** A fault while its strand is still read. */
type OpenFault = { -readonly [Member in keyof StrandFault]: StrandFault[Member] } & {
  /** The link before the place where the chain broke, to recognize the row that belongs there. */
  readonly before: string;
  after: { rows: number; unlinked: number };
};

/** Checks one strand, place by place: the rows that share a number are given together, with the place after them. */
export class StrandCheck {
  readonly strand: string;
  /** Rows after the last head that a checkpoint vouches for. */
  afterCheckpoints = 0;
  readonly #heads: readonly StrandHead[];
  readonly #isNewCall: (callId: string) => boolean;
  #nextHead = 0;
  #expected = 1;
  /** The link of the row before. */
  #previous: string;
  #fault: OpenFault | undefined;

  /** `heads`: what checkpoints say of this strand, by sequence. `isNewCall`: false for a call that was there before. */
  constructor(strand: string, heads: readonly StrandHead[], isNewCall: (callId: string) => boolean) {
    this.strand = strand;
    this.#heads = heads;
    this.#isNewCall = isNewCall;
    this.#previous = genesis(strand);
  }

  place(rows: readonly SealedRow[], next: readonly SealedRow[] | undefined): void {
    const sequence = rows[0]!.sequence;
    const lastHead = this.#heads.at(-1)?.sequence ?? 0;
    if (sequence > lastHead) this.afterCheckpoints += rows.length;
    if (this.#fault) this.#countAfter(this.#fault, rows);
    else if (sequence !== this.#expected) this.#outOfPlace(rows);
    else this.#inPlace(rows, next);
    this.#expected = sequence + 1;
  }

  /** The fault of the strand, once all of it was given. */
  end(): StrandFault | undefined {
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

  #outOfPlace(rows: readonly SealedRow[]): void {
    const [row] = rows as readonly [SealedRow];
    if (row.sequence < this.#expected) {
      this.#report('inserted', row, `a strand begins with row 1, and this one is numbered ${row.sequence}`);
    } else {
      const missing = { from: this.#expected, to: row.sequence - 1 };
      this.#report('removed', row, 'the numbers of the strand have a gap here', missing);
    }
    this.#previous = row.link;
    this.#fault!.after.rows = rows.length;
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
      this.#report(
        kind,
        stranger,
        `another row of the same number, of call ${genuine.callId}, is the one the chain holds`,
      );
    }
    this.#previous = genuine.link;
    if (!this.#fault) this.#checkFacts(genuine);
    if (!this.#fault) this.#checkHead(genuine);
  }

  /** The text is as it was sealed: the columns beside it have to say the same. */
  #checkFacts(row: SealedRow): void {
    const facts = readRowText(row.row);
    if (!facts) return this.#report('malformed', row, 'the text is not an audit row');
    if (!facts.canonical) return this.#report('malformed', row, 'the text is not in canonical form (RFC 8785)');
    if (!agrees(row, facts)) {
      const changed = differences(row, facts);
      return this.#report('edited', row, `the text is as it was sealed, but columns differ from it: ${changed}`);
    }
    if (row.superseded || this.#isNewCall(row.callId)) return;
    this.#report('duplicate', row, 'the call is in the ledger before, in another place');
  }

  #checkHead(row: SealedRow): void {
    const head = this.#headAt(row.sequence);
    if (!head || head.link === row.link) return;
    const known = this.#heads[this.#nextHead - 1]?.sequence ?? 0;
    const range =
      known + 1 === row.sequence ? `row ${row.sequence}` : `one of the rows ${known + 1} to ${row.sequence}`;
    this.#report(
      'rewritten',
      row,
      `a checkpoint vouches for another row here: from ${range} on, the strand was sealed anew`,
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

  #report(kind: FaultKind, row: SealedRow | undefined, detail: string, missing?: StrandFault['missing']): void {
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
