import type { Box, Line, Word } from '../../page/page.ts';
import { around } from './geometry.ts';
import type { Glyph } from './glyphs.ts';

/** A word with the letters that it is made of. */
interface GlyphWord extends Word {
  readonly glyphs: readonly Glyph[];
}

/** A line with the letters that it is made of. */
export interface GlyphLine extends Line {
  readonly words: readonly GlyphWord[];
}

/** All measured in heights of letters. */
/** Blanks are marked; any other gap is a place where something was left out. */
const WORD_GAP = 0.6;
const SEGMENT_GAP = 1.6;
const COLUMN_GAP = 1;
const BLOCK_GAP = 0.75;
/** Columns have at least so many lines on either side, of so many letters in the middle. */
const COLUMN_LINES = 3;
const COLUMN_LETTERS = 12;
/** Radians between letters of one run. */
const TURN = 0.1;

/** Words that stand in one row without a wide gap between them. */
interface Segment {
  readonly words: readonly GlyphWord[];
  readonly box: Box;
  readonly size: number;
}

/**
 * The lines of a page in the order in which they are read: columns one after the other, rows of a table whole. Text that
 * that is rotated comes after upright text, each run of it as one line.
 */
export function linesOf(glyphs: readonly Glyph[]): readonly GlyphLine[] {
  const upright: Glyph[] = [];
  const turned: Glyph[] = [];
  for (const glyph of glyphs) (glyph.upright ? upright : turned).push(glyph);
  const rows = rowsOf(segmentsOf(wordsOf(upright)));
  const lines: GlyphLine[] = [];
  let block = 0;
  for (const column of inOrder(rows)) {
    let before: Segment | undefined;
    for (const row of column) {
      const whole = joined(row);
      if (before && !belongs(before, whole)) block++;
      lines.push({ words: whole.words, box: whole.box, block });
      before = whole;
    }
    block++;
  }
  for (const run of runsOf(turned)) lines.push({ ...run, block: block++ });
  return lines;
}

/** Letters one after the other, cut where a blank was written or a gap is. */
function wordsOf(glyphs: readonly Glyph[]): readonly GlyphWord[] {
  const words: GlyphWord[] = [];
  let current: Glyph[] = [];
  for (const glyph of glyphs) {
    const last = current.at(-1);
    if (last && (glyph.apart || !follows(last, glyph))) {
      words.push(wordFrom(current));
      current = [];
    }
    current.push(glyph);
  }
  if (current.length > 0) words.push(wordFrom(current));
  return words;
}

function follows(last: Glyph, next: Glyph): boolean {
  const height = Math.max(last.size, next.size);
  const sameRow = Math.abs(middle(last.box) - middle(next.box)) < height * 0.6;
  const gap = next.box.x0 - last.box.x1;
  return sameRow && gap < height * WORD_GAP && gap > -height * 1.5;
}

function wordFrom(glyphs: readonly Glyph[]): GlyphWord {
  const box = around(glyphs.map((glyph) => glyph.box)) ?? { x0: 0, y0: 0, x1: 0, y1: 0 };
  return {
    glyphs,
    text: glyphs.map(({ text }) => text).join(''),
    box,
    confidence: 1,
    size: glyphs.reduce((most, { size }) => Math.max(most, size), 0),
    bold: glyphs.every(({ bold }) => bold),
  };
}

/** Words, from the top, put into rows and cut at wide gaps. */
function segmentsOf(words: readonly GlyphWord[]): readonly Segment[][] {
  const rows: { words: GlyphWord[]; top: number; bottom: number }[] = [];
  const sorted = words.toSorted((a, b) => middle(a.box) - middle(b.box));
  for (const word of sorted) {
    const row = rows.at(-1);
    const y = middle(word.box);
    if (row && y < row.bottom && y > row.top && sharesRow(row, word)) row.words.push(word);
    else rows.push({ words: [word], top: word.box.y0, bottom: Math.max(word.box.y1, word.box.y0 + 1) });
  }
  return rows.map(({ words: row }) => cut(row.toSorted((a, b) => a.box.x0 - b.box.x0)));
}

/** Small signs lie on the edge of a row; what overlaps it by half its height is in it. */
function sharesRow(row: { readonly top: number; readonly bottom: number }, { box }: GlyphWord): boolean {
  const shared = Math.min(row.bottom, box.y1) - Math.max(row.top, box.y0);
  return shared >= 0.5 * Math.min(row.bottom - row.top, box.y1 - box.y0);
}

function cut(words: readonly GlyphWord[]): Segment[] {
  const segments: GlyphWord[][] = [];
  for (const word of words) {
    const last = segments.at(-1)?.at(-1);
    if (last && word.box.x0 - last.box.x1 < SEGMENT_GAP * Math.max(sizeOf(last), sizeOf(word)))
      segments.at(-1)?.push(word);
    else segments.push([word]);
  }
  return segments.map(segmentOf);
}

function segmentOf(words: readonly GlyphWord[]): Segment {
  const box = around(words.map((word) => word.box)) ?? { x0: 0, y0: 0, x1: 0, y1: 0 };
  const sizes = words.map(sizeOf).toSorted((a, b) => a - b);
  return { words, box, size: sizes[sizes.length >> 1] ?? 1 };
}

function sizeOf(word: GlyphWord): number {
  return word.size ?? word.box.y1 - word.box.y0;
}

function rowsOf(rows: readonly Segment[][]): readonly (readonly Segment[])[] {
  return rows.filter((row) => row.length > 0);
}

type Rows = readonly (readonly Segment[])[];

/** An open stretch from left to right. */
interface Gutter {
  readonly from: number;
  readonly to: number;
}

/** Cuts rows into columns wherever some that follow each other leave the same gap open, and reads each column down. */
function inOrder(rows: Rows, depth = 0): readonly Rows[] {
  const columns: (readonly Segment[])[][] = [];
  let single: (readonly Segment[])[] = [];
  let at = 0;
  while (at < rows.length) {
    const band = depth < 3 ? bandFrom(rows, at) : undefined;
    if (!band) {
      single.push(rows[at] ?? []);
      at++;
      continue;
    }
    if (single.length > 0) columns.push(single);
    single = [];
    for (const side of sides(rows.slice(at, band.end), band.gutter))
      for (const row of inOrder(side, depth + 1)) columns.push(copy(row));
    at = band.end;
  }
  if (single.length > 0) columns.push(single);
  return columns;
}

function copy(rows: Rows): (readonly Segment[])[] {
  return [...rows];
}

/** As many rows as share a gutter, when that makes columns of them. */
function bandFrom(rows: Rows, start: number): { readonly end: number; readonly gutter: Gutter } | undefined {
  const [first] = [rows[start] ?? []];
  if (first.length < 2) return undefined;
  for (const seed of gapsOf(first)) {
    let gutter = seed;
    let end = start + 1;
    for (; end < rows.length; end++) {
      const narrowed = narrow(gutter, rows[end] ?? []);
      if (!narrowed) break;
      gutter = narrowed;
    }
    if (sides(rows.slice(start, end), gutter).every(isColumn)) return { end, gutter };
  }
  return undefined;
}

function gapsOf(row: readonly Segment[]): readonly Gutter[] {
  return row.slice(1).map((segment, index) => ({ from: row[index]?.box.x1 ?? 0, to: segment.box.x0 }));
}

/** What of a gutter a row leaves open; undefined when that is too little. */
function narrow({ from, to }: Gutter, row: readonly Segment[]): Gutter | undefined {
  let size = 0;
  for (const { box, size: height } of row) {
    size = Math.max(size, height);
    if (box.x1 <= from || box.x0 >= to) continue;
    if (box.x0 <= from && box.x1 >= to) return undefined;
    if (box.x0 - from > to - box.x1) to = box.x0;
    else from = box.x1;
  }
  return to - from >= COLUMN_GAP * size ? { from, to } : undefined;
}

function sides(rows: Rows, { from, to }: Gutter): readonly [Rows, Rows] {
  const middleOf = (from + to) / 2;
  const side = (left: boolean): Rows =>
    rows.map((row) => row.filter(({ box }) => box.x0 < middleOf === left)).filter((row) => row.length > 0);
  return [side(true), side(false)];
}

/** Cells of a table have few letters; lines of a column have many. */
function isColumn(rows: Rows): boolean {
  if (rows.length < COLUMN_LINES) return false;
  const letters = rows
    .map((row) => row.reduce((sum, { words }) => sum + words.reduce((all, { text }) => all + text.length, 0), 0))
    .toSorted((a, b) => a - b);
  return (letters[letters.length >> 1] ?? 0) >= COLUMN_LETTERS;
}

function joined(row: readonly Segment[]): Segment {
  return segmentOf(row.flatMap(({ words }) => words));
}

/** Lines of a block follow each other closely, in letters of a size. */
function belongs(before: Segment, next: Segment): boolean {
  const size = Math.max(before.size, next.size);
  if (Math.abs(before.size - next.size) > size * 0.2) return false;
  return next.box.y0 - before.box.y1 < BLOCK_GAP * size;
}

/** Turned letters in the order in which they were written, a line as long as they go on in one direction. */
function runsOf(glyphs: readonly Glyph[]): readonly { readonly words: readonly GlyphWord[]; readonly box: Box }[] {
  const runs: Glyph[][][] = [];
  let last: Glyph | undefined;
  for (const glyph of glyphs) {
    const run = runs.at(-1);
    const gap = last ? Math.hypot(glyph.origin.x - last.origin.x, glyph.origin.y - last.origin.y) : Infinity;
    const goesOn = last !== undefined && Math.abs(glyph.angle - last.angle) < TURN && gap < glyph.size * 4;
    if (!run || !goesOn) runs.push([[glyph]]);
    else if (glyph.apart) run.push([glyph]);
    else run.at(-1)?.push(glyph);
    last = glyph;
  }
  return runs.map((run) => {
    const words = run.map(wordFrom);
    return { words, box: around(words.map(({ box }) => box)) ?? { x0: 0, y0: 0, x1: 0, y1: 0 } };
  });
}

function middle({ y0, y1 }: Box): number {
  return (y0 + y1) / 2;
}
