import Type, { type Static } from 'typebox';
import { Compile } from 'typebox/compile';
import { DocumentFault, type TextUnit } from '#/ports/documents.ts';
import { around } from '../../ocr/segments.ts';
import type { Box, Line } from '../../page/page.ts';
import { separatorOf } from '../line-ends.ts';

const NUMBER = Type.Number();

/** Where each word of a picture stands: in its unit's text and in the frame, with how sure it is. */
const LAYOUT = Type.Object({
  frames: Type.Array(
    Type.Object({
      width: NUMBER,
      height: NUMBER,
      units: Type.Array(
        Type.Object({
          id: Type.String(),
          words: Type.Array(
            Type.Object({
              text: Type.String(),
              start: NUMBER,
              end: NUMBER,
              box: Type.Object({ x0: NUMBER, y0: NUMBER, x1: NUMBER, y1: NUMBER }),
              confidence: NUMBER,
            }),
          ),
        }),
      ),
    }),
  ),
});

const CHECK = Compile(LAYOUT);

export type Layout = Static<typeof LAYOUT>;
export type FrameLayout = Layout['frames'][number];
export type PlacedWord = FrameLayout['units'][number]['words'][number];

/** Units of a frame, one a block of lines, and where their words stand. */
export function layOut(
  frame: number,
  lines: readonly Line[],
  { width, height }: { readonly width: number; readonly height: number },
): { readonly units: readonly TextUnit[]; readonly layout: FrameLayout } {
  const units: TextUnit[] = [];
  const placed: FrameLayout['units'] = [];
  for (const [index, block] of blocksOf(lines).entries()) {
    const id = `f${frame}b${index}`;
    const { text, words } = textOfBlock(block);
    if (text.trim() === '') continue;
    units.push({ id, text, page: frame, visibility: 'shown' });
    placed.push({ id, words });
  }
  return { units, layout: { width, height, units: placed } };
}

/** Lines of a block that follow each other. */
function blocksOf(lines: readonly Line[]): readonly (readonly Line[])[] {
  const blocks: Line[][] = [];
  for (const line of lines) {
    const last = blocks.at(-1);
    if (last && last[0]?.block === line.block) last.push(line);
    else blocks.push([line]);
  }
  return blocks;
}

function textOfBlock(lines: readonly Line[]): { readonly text: string; readonly words: PlacedWord[] } {
  const block = around(lines.map(({ box }) => box));
  const words: PlacedWord[] = [];
  let text = '';
  for (const [index, line] of lines.entries()) {
    const before = lines[index - 1];
    if (before) text += separatorOf(text, before, line, block);
    for (const [at, word] of line.words.entries()) {
      if (at > 0) text += ' ';
      const start = text.length;
      text += word.text;
      words.push({ text: word.text, start, end: text.length, box: { ...word.box }, confidence: word.confidence });
    }
  }
  return { text, words };
}

/** The boxes around the words that a span touches, one a line, from above. */
export function stretchesOf(words: readonly PlacedWord[], start: number, end: number): readonly Box[] {
  const rows: Box[][] = [];
  for (const { box } of words.filter((word) => word.start < end && start < word.end)) {
    const last = rows.at(-1)?.at(-1);
    // In the next line it goes on further left.
    if (last && box.x0 >= (last.x0 + last.x1) / 2 && box.y0 < last.y1) rows.at(-1)?.push(box);
    else rows.push([box]);
  }
  return rows.map(around);
}

/** Reads a layout that `read` gave. Throws `unreadable`. */
export function parseLayout(text: string): Layout {
  try {
    const layout: unknown = JSON.parse(text);
    if (CHECK.Check(layout)) return layout;
  } catch {
    // Said below.
  }
  throw new DocumentFault('unreadable', 'the layout does not belong to this document');
}
