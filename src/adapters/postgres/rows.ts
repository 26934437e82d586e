import type { Pool, PoolClient } from 'pg';
import type { StoredRow } from '#/ports/evidence.ts';
import type { SealedRow } from '#/ports/ledger.ts';
import { firstRow, isEnd } from './copy-format.ts';
import { copyOut, copyQuery } from './copy-out.ts';
import { STATEMENTS } from './statements.ts';
import { storedRow, storedRows, StrandNames } from './stored-row.ts';

/** Columns of `find.sql`, as the pool's type parsers leave them. */
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

/** What fits into the buffers between the server and this process: it is sent while the page before is used. */
const PAGE = 4_000;
const PAGE_TIMEOUT_MS = 60_000;
/** A day's reading: a server that is gone is noticed by the connection. */
const SCAN_TIMEOUT_MS = 86_400_000;
const FIRST: Position = { strand: '00000000-0000-0000-0000-000000000000', sequence: -(2 ** 53) };

type Position = Pick<StoredRow, 'strand' | 'sequence'>;

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

/** Every row in chain order. Takes one connection for as long as it is read. */
export async function* allRows(pool: Pool): AsyncGenerator<SealedRow> {
  const client = await pool.connect();
  let fault: Error | undefined;
  try {
    for await (const page of rowsInOrder(client)) for (const row of page) yield row.sealed();
  } catch (error) {
    fault = error instanceof Error ? error : new Error(String(error));
    throw error;
  } finally {
    client.release(fault);
  }
}

/** See `StoredRows.scan`. In a transaction, whose settings it changes meanwhile. */
export async function scanRows(client: PoolClient, each: (row: StoredRow) => void): Promise<void> {
  // From the first page to the last, by one process: the order of the pages is nearly that of the rows.
  await client.query('SET LOCAL synchronize_seqscans = off; SET LOCAL max_parallel_workers_per_gather = 0');
  for (const statement of [STATEMENTS.superseded, STATEMENTS.scan]) {
    const names = new StrandNames();
    let first = true;
    const take = (chunk: Buffer): void => {
      const at = first ? firstRow(chunk) : 0;
      first = false;
      if (!isEnd(chunk, at)) each(storedRow(chunk, at, names));
    };
    await copyOut(client, copyQuery(statement), { take, timeoutMs: SCAN_TIMEOUT_MS });
  }
  const restore = 'SET LOCAL synchronize_seqscans TO DEFAULT; SET LOCAL max_parallel_workers_per_gather TO DEFAULT';
  await client.query(restore);
}

/**
 * Every row in chain order, or those of one strand, a page at a time; the next page is on its way while one is used. Rows
 * that share a place in their strand, as only a tampered table can hold, are kept together on one page, so that none is
 * skipped.
 */
export async function* rowsInOrder(
  client: PoolClient,
  strand?: string,
  pageSize = PAGE,
): AsyncGenerator<readonly StoredRow[]> {
  let page = fetchPage(client, { ...FIRST, ...(strand !== undefined && { strand }) }, pageSize);
  try {
    for (;;) {
      const { rows, next } = await page;
      const more = next && (strand === undefined || next.strand === strand) ? next : undefined;
      if (more) {
        page = fetchPage(client, more, pageSize);
        // It is awaited later.
        page.catch(() => {});
      }
      yield strand === undefined ? rows : rows.filter((row) => row.strand === strand);
      if (!more) return;
    }
  } finally {
    // A reader that stops early leaves a connection that can be used.
    await page.catch(() => {});
  }
}

async function fetchPage(
  client: PoolClient,
  from: Position,
  limit: number,
): Promise<{ rows: readonly StoredRow[]; next?: Position }> {
  const rows = storedRows(
    await copyOut(client, copyQuery(STATEMENTS.rows, [from.strand, from.sequence, limit]), {
      timeoutMs: PAGE_TIMEOUT_MS,
    }),
  );
  if (rows.length < limit) return { rows };
  const last = rows.at(-1)!;
  const complete = rows.findLastIndex((row) => row.sequence !== last.sequence || row.strand !== last.strand) + 1;
  // All in one place: look at it with a larger page.
  if (complete === 0) return fetchPage(client, from, limit * 2);
  return { rows: rows.slice(0, complete), next: { strand: last.strand, sequence: last.sequence } };
}
