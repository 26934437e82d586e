import type { StrandCut } from '#/ports/checkpoints.ts';
import type { StoredRow, StoredRows, WithheldRow } from '#/ports/evidence.ts';
import type { SealedRow } from '#/ports/ledger.ts';
import { CallSet } from './call-set.ts';
import { QuickPass, type SettledStrand } from './quick-pass.ts';
import { StrandCheck } from './strand-check.ts';
import type { StrandOutline } from './strand-walk.ts';
import type { VouchedHeads } from './checkpoint-check.ts';
import type { StrandFault, VerifyReport } from './report.ts';

/** Facts about the ledger that are known before its rows are read. See `verifyCheckpoints`. */
export interface LedgerFacts {
  readonly vouched?: VouchedHeads;
  /** Up to where rows were dropped, by strand. */
  readonly cuts?: ReadonlyMap<string, StrandCut>;
  /** The hashes that are left of rows after the cuts, by strand, each list by sequence. */
  readonly withheld?: ReadonlyMap<string, readonly WithheldRow[]>;
}

const MAX_FAULTS = 1_000;

/**
 * Recomputes every link, compares the columns with the text, and names the first bad row of each strand.
 * Rows are read in storage order; strands that do not prove intact that way are read again in their own order. Throws
 * RangeError if rows are out of order then. Without checkpoints, a cut end and a strand that was sealed
 * again cannot be detected.
 */
export async function verify(rows: StoredRows, facts: LedgerFacts = {}): Promise<VerifyReport> {
  const repeated = new Set(await rows.repeatedCalls());
  const ledger = new LedgerCheck(facts, repeated);
  const pass = new QuickPass(
    (strand) => outlineOf(facts, strand),
    (row) => repeated.size > 0 && repeated.has(row.sealed().callId),
  );
  if (!(await rows.scan((row) => pass.take(row)))) await verifyInOrder(rows.inOrder(), ledger);
  const { settled, doubtful } = pass.end();
  for (const strand of settled) ledger.settle(strand);
  for (const strand of doubtful) await verifyInOrder(rows.inOrder(strand), ledger);
  return ledger.end();
}

async function verifyInOrder(pages: AsyncIterable<readonly StoredRow[]>, ledger: LedgerCheck): Promise<void> {
  let before: readonly SealedRow[] | undefined;
  let place: SealedRow[] = [];
  for await (const page of pages) {
    for (const stored of page) {
      const row = stored.sealed();
      const [first] = place;
      if (first && (first.sequence !== row.sequence || first.strand !== row.strand)) {
        assertOrder(first, row);
        if (before) ledger.place(before, place);
        before = place;
        place = [];
      }
      place.push(row);
    }
  }
  if (before) ledger.place(before, place);
  if (place.length > 0) ledger.place(place, undefined);
}

function outlineOf({ vouched, cuts, withheld }: LedgerFacts, strand: string): StrandOutline {
  const heads = vouched?.get(strand) ?? [];
  return { strand, heads, cut: cuts?.get(strand), withheld: withheld?.get(strand) ?? [] };
}

/** Remaining hashes of dropped rows, by strand. They are few: only those around the end of a month. */
export async function withheldByStrand(rows: AsyncIterable<WithheldRow>): Promise<ReadonlyMap<string, WithheldRow[]>> {
  const strands = new Map<string, WithheldRow[]>();
  for await (const row of rows) {
    const list = strands.get(row.strand);
    if (list) list.push(row);
    else strands.set(row.strand, [row]);
  }
  return strands;
}

/** Checks a ledger, place by place, strand by strand. */
export class LedgerCheck {
  readonly #facts: LedgerFacts;
  readonly #isNewCall: (callId: string) => boolean;
  readonly #seen = new Set<string>();
  readonly #faults: StrandFault[] = [];
  #faulty = 0;
  #rows = 0;
  #withheld = 0;
  #superseded = 0;
  #afterCheckpoints = 0;
  #strand: StrandCheck | undefined;

  /** `repeated`: the calls that are there more than once, where that is known; else all of them are remembered. */
  constructor(facts: LedgerFacts, repeated?: ReadonlySet<string>) {
    const calls = new CallSet();
    this.#facts = facts;
    const isNewCall = (callId: string): boolean =>
      (repeated !== undefined && !repeated.has(callId)) || calls.add(callId);
    this.#isNewCall = isNewCall;
  }

  /** Counts a strand in which nothing was found. */
  settle({ strand, rows, superseded, withheld, afterCheckpoints }: SettledStrand): void {
    this.#seen.add(strand);
    this.#rows += rows;
    this.#superseded += superseded;
    this.#withheld += withheld;
    this.#afterCheckpoints += afterCheckpoints;
  }

  place(rows: readonly SealedRow[], next: readonly SealedRow[] | undefined): void {
    const { strand } = rows[0]!;
    const check = this.#checkOf(strand);
    this.#rows += rows.length;
    for (const row of rows) if (row.superseded) this.#superseded += 1;
    check.place(rows, next?.[0]?.strand === strand ? next : undefined);
  }

  /** Rows in place of which the hashes are shown; see StrandCheck. */
  run(strand: string, from: number, hashes: readonly Uint8Array[], lastLink: string): void {
    this.#checkOf(strand).run(from, hashes, lastLink);
  }

  end(): VerifyReport {
    this.#endStrand();
    const strands = this.#seen.size;
    const { vouched, withheld } = this.#facts;
    for (const strand of [...(vouched?.keys() ?? []), ...(withheld?.keys() ?? [])]) {
      if (this.#seen.has(strand)) continue;
      this.#strand = this.#begin(strand);
      this.#endStrand();
    }
    return {
      intact: this.#faulty === 0,
      rows: this.#rows,
      strands,
      withheld: this.#withheld,
      superseded: this.#superseded,
      afterCheckpoints: this.#afterCheckpoints,
      faulty: this.#faulty,
      faults: this.#faults,
    };
  }

  #checkOf(strand: string): StrandCheck {
    if (this.#strand?.strand === strand) return this.#strand;
    this.#endStrand();
    this.#strand = this.#begin(strand);
    return this.#strand;
  }

  #begin(strand: string): StrandCheck {
    if (this.#seen.has(strand)) throw new RangeError(`the rows of strand ${strand} are not next to each other`);
    this.#seen.add(strand);
    return new StrandCheck({ ...outlineOf(this.#facts, strand), isNewCall: this.#isNewCall });
  }

  #endStrand(): void {
    if (!this.#strand) return;
    this.#afterCheckpoints += this.#strand.afterCheckpoints;
    const fault = this.#strand.end();
    this.#withheld += this.#strand.withheldRows;
    this.#strand = undefined;
    if (!fault) return;
    this.#faulty += 1;
    if (this.#faults.length < MAX_FAULTS) this.#faults.push(fault);
  }
}

function assertOrder(before: SealedRow, row: SealedRow): void {
  if (row.strand === before.strand && row.sequence < before.sequence) {
    throw new RangeError(`row ${row.sequence} of strand ${row.strand} comes after row ${before.sequence}`);
  }
}
