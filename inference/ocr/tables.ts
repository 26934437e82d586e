import type { Box } from '../page/page.ts';
import { around, middleOf, type Segment, type TextLine } from './segments.ts';

/** Rows of cells, each row as long as the first. */
export interface Table {
  readonly cells: readonly (readonly string[])[];
  readonly lines: readonly TextLine[];
  readonly box: Box;
}

const LEAST_ROWS = 2;
const MOST_COLUMNS = 16;
/** Letters in the middle cell: where there are more, the columns are those of a text. */
const CELL_LETTERS = 28;
/** Between the rows of a table, in heights of letters. */
const ROW_GAP = 3;
/** Of rows that have more than one cell: others are cells that go on in a second line. */
const FULL_ROWS = 0.6;
/** Lines that share so much of their height stand in one row. */
const SHARED = 0.5;

interface Row {
  readonly lines: TextLine[];
  segments: readonly Segment[];
  box: Box;
}

/**
 * Tables of a page: cells that stand below each other in at least two rows. Rows are put together across blocks first,
 * as each column of a table may have been taken for a block; where that gives columns of text, each line is a row.
 */
export function tablesIn(lines: readonly TextLine[]): readonly Table[] {
  const across = tablesOf(rowsAcross(lines));
  const taken = new Set(across.flatMap((table) => table.lines));
  const rest = lines.filter((line) => !taken.has(line));
  return [...across, ...tablesOf(rest.map((line) => ({ lines: [line], segments: line.segments, box: line.box })))];
}

function rowsAcross(lines: readonly TextLine[]): readonly Row[] {
  const rows: Row[] = [];
  for (const line of lines.toSorted((a, b) => a.box.y0 + a.box.y1 - b.box.y0 - b.box.y1)) {
    const row = rows.at(-1);
    if (row && shares(row.box, line.box) && row.lines.every(({ box }) => apart(box, line.box))) {
      row.lines.push(line);
      row.segments = [...row.segments, ...line.segments].toSorted((a, b) => a.box.x0 - b.box.x0);
      row.box = around([row.box, line.box]);
    } else rows.push({ lines: [line], segments: line.segments, box: line.box });
  }
  return rows;
}

function shares(a: Box, b: Box): boolean {
  return Math.min(a.y1, b.y1) - Math.max(a.y0, b.y0) >= SHARED * Math.min(a.y1 - a.y0, b.y1 - b.y0);
}

function apart(a: Box, b: Box): boolean {
  return a.x1 <= b.x0 || b.x1 <= a.x0;
}

/** Runs of rows with several cells, as far as they are tables. */
function tablesOf(rows: readonly Row[]): readonly Table[] {
  const tables: Table[] = [];
  let at = 0;
  while (at < rows.length) {
    const end = runFrom(rows, at);
    const table = end - at >= LEAST_ROWS ? tableOf(rows.slice(at, end)) : undefined;
    if (table) tables.push(table);
    at = Math.max(end, at + 1);
  }
  return tables;
}

/** Where the rows end that may be one table with the row at `start`. */
function runFrom(rows: readonly Row[], start: number): number {
  let end = start;
  for (; end < rows.length; end++) {
    const row = rows[end];
    const before = rows[end - 1];
    if (!row || (row.segments.length < 2 && (end === start || !isContinued(rows, start, end)))) break;
    if (end > start && before && row.box.y0 - before.box.y1 > ROW_GAP * sizeOf(row)) break;
  }
  return end;
}

/** A cell that goes on: one segment, right of the first column, close below. */
function isContinued(rows: readonly Row[], start: number, at: number): boolean {
  const [segment] = rows[at]?.segments ?? [];
  const places = rows.slice(start, at).map((row) => row.segments[1]?.box.x0 ?? Infinity);
  const first = places.reduce((least, x0) => Math.min(least, x0), Infinity);
  const gap = (rows[at]?.box.y0 ?? 0) - (rows[at - 1]?.box.y1 ?? 0);
  const row = rows[at];
  return segment !== undefined && row !== undefined && segment.box.x0 >= first - sizeOf(row) && gap < sizeOf(row);
}

function sizeOf({ lines }: Row): number {
  return middleOf(lines.map(({ size }) => size));
}

function tableOf(rows: readonly Row[]): Table | undefined {
  const columns = columnsOf(rows);
  const full = rows.filter((row) => new Set(row.segments.map((one) => columnOf(columns, one))).size >= 2);
  if (columns.length < 2 || columns.length > MOST_COLUMNS) return undefined;
  if (full.length < LEAST_ROWS || full.length < FULL_ROWS * rows.length) return undefined;
  if (middleOf(rows.flatMap(({ segments }) => segments.map(({ text }) => text.length))) > CELL_LETTERS)
    return undefined;
  const cells: string[][] = [];
  for (const row of rows) {
    const texts = columns.map((_, column) =>
      row.segments
        .filter((segment) => columnOf(columns, segment) === column)
        .map(({ text }) => text)
        .join(' '),
    );
    const last = cells.at(-1);
    if (last && row.segments.length < 2)
      for (const [column, text] of texts.entries()) last[column] = `${last[column] ?? ''} ${text}`.trim();
    else cells.push(texts);
  }
  return { cells, lines: rows.flatMap(({ lines }) => lines), box: around(rows.map(({ box }) => box)) };
}

/** From left to right, the stretches that cells take up: what overlaps is one column. */
function columnsOf(rows: readonly Row[]): readonly { readonly from: number; readonly to: number }[] {
  const columns: { from: number; to: number }[] = [];
  for (const { box } of rows.flatMap(({ segments }) => segments).toSorted((a, b) => a.box.x0 - b.box.x0)) {
    const last = columns.at(-1);
    if (last && box.x0 < last.to) last.to = Math.max(last.to, box.x1);
    else columns.push({ from: box.x0, to: box.x1 });
  }
  return columns;
}

function columnOf(columns: readonly { readonly from: number; readonly to: number }[], { box }: Segment): number {
  return columns.findIndex(({ from, to }) => box.x0 >= from && box.x0 <= to);
}
