import type { SealedRow } from '#ports/ledger.ts';
import type { Queryable } from './checkpoints.ts';
import { query, STATEMENTS } from './statements.ts';

/** Columns of `rows.sql` and `find.sql`, as the pool's type parsers leave them. */
export interface LedgerRow {
  readonly call_id: string;
  readonly strand: string;
  readonly sequence: bigint;
  /** Milliseconds since the epoch, as decimal text. */
  readonly at: string;
  readonly organization: string;
  readonly workload: string;
  readonly cost_nano_eur: bigint;
  readonly row_text: string;
  readonly link: string;
  readonly superseded: boolean;
}

const PAGE = 1_000;
const PAGE_TIMEOUT_MS = 60_000;
const FIRST: Position = { strand: '00000000-0000-0000-0000-000000000000', sequence: -(2n ** 63n) };

interface Position {
  readonly strand: string;
  readonly sequence: bigint;
}

/** One row as the port shows it. */
export function sealedRow(row: LedgerRow): SealedRow {
  return {
    strand: row.strand,
    sequence: Number(row.sequence),
    callId: row.call_id,
    at: Number(row.at),
    organization: row.organization,
    workload: row.workload,
    cost: row.cost_nano_eur,
    row: row.row_text,
    link: row.link,
    ...(row.superseded ? { superseded: true } : undefined),
  };
}

/**
 * Every row in chain order, a page at a time; the next page is fetched while one is used. Rows that share a place in
 * their strand, as only a tampered table can hold, are kept together on one page, so that none is skipped.
 */
export async function* allRows(pool: Queryable, pageSize = PAGE): AsyncGenerator<SealedRow> {
  let page = fetchPage(pool, FIRST, pageSize);
  for (;;) {
    const { rows, next } = await page;
    if (next) {
      page = fetchPage(pool, next, pageSize);
      // It is awaited later, or never when the reader stops early.
      page.catch(() => {});
    }
    for (const row of rows) yield sealedRow(row);
    if (!next) return;
  }
}

async function fetchPage(
  pool: Queryable,
  from: Position,
  limit: number,
): Promise<{ rows: readonly LedgerRow[]; next?: Position }> {
  const values = [from.strand, from.sequence, limit];
  const { rows } = await pool.query<LedgerRow>(query(STATEMENTS.rows, values, PAGE_TIMEOUT_MS));
  if (rows.length < limit) return { rows };
  const last = rows.at(-1)!;
  const complete = rows.findLastIndex((row) => row.sequence !== last.sequence || row.strand !== last.strand) + 1;
  // All in one place: look at it with a larger page.
  if (complete === 0) return fetchPage(pool, from, limit * 2);
  return { rows: rows.slice(0, complete), next: { strand: last.strand, sequence: last.sequence } };
}
