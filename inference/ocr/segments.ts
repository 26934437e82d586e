import type { Box, Line, Word } from '../page/page.ts';

/** Words of a line without a wide gap between them: a cell, where there is a table. */
export interface Segment {
  readonly text: string;
  readonly box: Box;
}

/** A line as it is laid out. */
export interface TextLine {
  readonly block: number;
  readonly box: Box;
  readonly text: string;
  readonly words: readonly Word[];
  /** Height of its letters. */
  readonly size: number;
  readonly bold: boolean;
  readonly segments: readonly Segment[];
}

/** In heights of letters: blanks of justified text are narrower, gaps between cells wider. */
const CELL_GAP = 1.3;
/** Hardly recognized characters are dirt and are dropped, except before a text: that may be a bullet. */
const DIRT = { confidence: 0.3, letters: 2 };

/** Texts of lines, without noise. */
export function textLines(lines: readonly Line[]): readonly TextLine[] {
  return lines.flatMap(({ words, block, box }) => {
    const said = words
      .map((word) => ({ ...word, text: word.text.replaceAll(/[\s\u00ad\p{Cc}]+/gu, ' ').trim() }))
      .filter(({ text }) => text !== '')
      .filter((word, index, all) => !isDirt(word) || (index === 0 && all.slice(1).some((other) => !isDirt(other))));
    if (said.length === 0) return [];
    const size = middleOf(said.map((word) => word.size ?? word.box.y1 - word.box.y0));
    const bold = said.every((word) => word.bold === true);
    const text = said.map((word) => word.text).join(' ');
    return [{ block, box, words: said, text, size, bold, segments: segmentsOf(said, size) }];
  });
}

function isDirt({ text, confidence }: Word): boolean {
  return confidence < DIRT.confidence && text.length <= DIRT.letters;
}

function segmentsOf(words: readonly Word[], size: number): readonly Segment[] {
  const groups: Word[][] = [];
  for (const word of words) {
    const last = groups.at(-1)?.at(-1);
    const gap = last ? word.box.x0 - last.box.x1 : Infinity;
    // A word further left is one of another row that was taken for this.
    if (gap > CELL_GAP * size || gap < -size * 3) groups.push([word]);
    else groups.at(-1)?.push(word);
  }
  return groups.map((group) => ({
    text: group.map(({ text }) => text).join(' '),
    box: around(group.map(({ box }) => box)),
  }));
}

/** The smallest box that holds all; there must be one. */
export function around(boxes: readonly Box[]): Box {
  return boxes.reduce((all, { x0, y0, x1, y1 }) => ({
    x0: Math.min(all.x0, x0),
    y0: Math.min(all.y0, y0),
    x1: Math.max(all.x1, x1),
    y1: Math.max(all.y1, y1),
  }));
}

/** The median of some numbers, 0 without any. */
export function middleOf(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0;
}
