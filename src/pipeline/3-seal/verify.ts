import type { StrandHead } from '#ports/checkpoints.ts';
import type { SealedRow } from '#ports/ledger.ts';
import { CallSet } from './call-set.ts';
import { StrandCheck } from './strand-check.ts';
import type { StrandFault, VerifyReport } from './verify-report.ts';

/** What checkpoints vouch for: heads by strand, each list by sequence. See `verifyCheckpoints`. */
export type VouchedHeads = ReadonlyMap<string, readonly StrandHead[]>;

const MAX_FAULTS = 1_000;

/**
 * Recomputes every link, compares what is stored beside the text with it, and names the first bad row of each strand.
 * Rows come strand by strand, by sequence (`Ledger.rows`); throws RangeError when they do not. Without checkpoints, an
 * end that was cut off and a strand that was sealed anew cannot be noticed.
 */
export async function verify(rows: AsyncIterable<SealedRow>, vouched: VouchedHeads = new Map()): Promise<VerifyReport> {
  const ledger = new LedgerCheck(vouched);
  let before: readonly SealedRow[] | undefined;
  let place: SealedRow[] = [];
  for await (const row of rows) {
    const [first] = place;
    if (first && (first.sequence !== row.sequence || first.strand !== row.strand)) {
      assertOrder(first, row);
      if (before) ledger.place(before, place);
      before = place;
      place = [];
    }
    place.push(row);
  }
  if (before) ledger.place(before, place);
  if (place.length > 0) ledger.place(place, undefined);
  return ledger.end();
}

class LedgerCheck {
  readonly #vouched: VouchedHeads;
  readonly #calls = new CallSet();
  readonly #seen = new Set<string>();
  readonly #faults: StrandFault[] = [];
  #faulty = 0;
  #rows = 0;
  #superseded = 0;
  #afterCheckpoints = 0;
  #strand: StrandCheck | undefined;

  constructor(vouched: VouchedHeads) {
    this.#vouched = vouched;
  }

  place(rows: readonly SealedRow[], next: readonly SealedRow[] | undefined): void {
    const { strand } = rows[0]!;
    if (this.#strand?.strand !== strand) {
      this.#endStrand();
      this.#strand = this.#begin(strand);
    }
    this.#rows += rows.length;
    for (const row of rows) if (row.superseded) this.#superseded += 1;
    this.#strand.place(rows, next?.[0]?.strand === strand ? next : undefined);
  }

  end(): VerifyReport {
    this.#endStrand();
    const strands = this.#seen.size;
    for (const strand of this.#vouched.keys()) {
      if (this.#seen.has(strand)) continue;
      this.#strand = this.#begin(strand);
      this.#endStrand();
    }
    return {
      intact: this.#faulty === 0,
      rows: this.#rows,
      strands,
      superseded: this.#superseded,
      afterCheckpoints: this.#afterCheckpoints,
      faulty: this.#faulty,
      faults: this.#faults,
    };
  }

  #begin(strand: string): StrandCheck {
    if (this.#seen.has(strand)) throw new RangeError(`the rows of strand ${strand} do not come together`);
    this.#seen.add(strand);
    return new StrandCheck(strand, this.#vouched.get(strand) ?? [], (callId) => this.#calls.add(callId));
  }

  #endStrand(): void {
    if (!this.#strand) return;
    this.#afterCheckpoints += this.#strand.afterCheckpoints;
    const fault = this.#strand.end();
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
