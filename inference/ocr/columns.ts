import type { Box, Line, Word } from '../page/page.ts';
import { around, middleOf } from './segments.ts';

/** Lines on either side of a gutter, at least. */
const LEAST_LINES = 3;
/** Letters in the middle line of a column, at least: fewer are cells of a table, which are read by rows. */
const COLUMN_LETTERS = 18;
/** In heights of letters. */
const GUTTER = 1;
/** Below a wider gap, in heights of letters, something else begins. */
const LINE_GAP = 2.5;
/** Columns within columns. */
const MOST_DEPTH = 4;

/** An open stretch from left to right. */
interface Gutter {
  readonly from: number;
  readonly to: number;
}

/**
 * Lines in reading order, if a recognizer merged lines of two columns next to each other: those
 * columns are read one after the other.
 */
export function splitColumns(lines: readonly Line[], depth = 0): readonly Line[] {
  const out: Line[] = [];
  let block = 0;
  const put = (found: readonly Line[]): void => {
    let last: number | undefined;
    for (const line of found) {
      if (line.block !== last) block++;
      last = line.block;
      out.push({ ...line, block });
    }
  };
  let run: Line[] = [];
  for (let at = 0; at < lines.length;) {
    const band = depth < MOST_DEPTH ? bandFrom(lines, at) : undefined;
    if (!band) {
      run.push(...lines.slice(at, at + 1));
      at++;
      continue;
    }
    put(run);
    run = [];
    for (const column of band.columns) put(splitColumns(column, depth + 1));
    at = band.end;
  }
  put(run);
  return out;
}

/** The lines from one on that leave the same gutter open, when that makes columns of a text of them. */
function bandFrom(
  lines: readonly Line[],
  start: number,
): { readonly end: number; readonly columns: readonly (readonly Line[])[] } | undefined {
  for (const seed of gapsOf(lines[start])) {
    let gutter: Gutter | undefined = seed;
    let end = start;
    for (; end < lines.length; end++) {
      const next: Gutter | undefined = narrowed(gutter, lines[end]);
      if (!next || (end > start && isApart(lines[end - 1], lines[end]))) break;
      gutter = next;
    }
    const middle = (gutter.from + gutter.to) / 2;
    const columns = [true, false].map((left) =>
      lines.slice(start, end).flatMap((line) => partOf(line, (word) => word.box.x0 < middle === left)),
    );
    if (columns.every(isColumn)) return { end, columns };
  }
  return undefined;
}

function isApart(before: Line | undefined, next: Line | undefined): boolean {
  const size = middleOf((next?.words ?? []).map(sizeOf));
  return (next?.box.y0 ?? 0) - (before?.box.y1 ?? 0) > LINE_GAP * size;
}

function gapsOf(line: Line | undefined): readonly Gutter[] {
  const { words = [] } = line ?? {};
  return words.slice(1).flatMap((word, index) => {
    const from = words[index]?.box.x1 ?? 0;
    return word.box.x0 - from >= GUTTER * sizeOf(word) ? [{ from, to: word.box.x0 }] : [];
  });
}

/** What of a gutter a line leaves open; undefined when that is too little. */
function narrowed({ from, to }: Gutter, line: Line | undefined): Gutter | undefined {
  for (const word of line?.words ?? []) {
    if (word.box.x1 <= from || word.box.x0 >= to) continue;
    if (word.box.x0 <= from && word.box.x1 >= to) return undefined;
    if (word.box.x0 - from > to - word.box.x1) to = word.box.x0;
    else from = word.box.x1;
    if (to - from < GUTTER * sizeOf(word)) return undefined;
  }
  return { from, to };
}

function partOf(line: Line, wanted: (word: Word) => boolean): readonly Line[] {
  const words = line.words.filter(wanted);
  return words.length === 0 ? [] : [{ block: line.block, words, box: boxOf(words) }];
}

function boxOf(words: readonly Word[]): Box {
  return around(words.map(({ box }) => box));
}

function isColumn(lines: readonly Line[]): boolean {
  const letters = lines.map(({ words }) => words.reduce((sum, { text }) => sum + text.length, 0));
  return lines.length >= LEAST_LINES && middleOf(letters) >= COLUMN_LETTERS;
}

function sizeOf({ size, box }: Word): number {
  return size ?? box.y1 - box.y0;
}
