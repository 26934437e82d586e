import Type, { type Static } from 'typebox';
import { Compile } from 'typebox/compile';
import { DocumentFault, type TextUnit } from '#ports/documents.ts';
import type { Line } from '../format.ts';

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

/** Units of a frame, one a line, and where their words stand. */
export function layOut(
  frame: number,
  lines: readonly Line[],
  { width, height }: { readonly width: number; readonly height: number },
): { readonly units: readonly TextUnit[]; readonly layout: FrameLayout } {
  const units: TextUnit[] = [];
  const placed: FrameLayout['units'] = [];
  for (const [index, line] of lines.entries()) {
    const id = `f${frame}l${index}`;
    let text = '';
    const words = line.words.map((word): PlacedWord => {
      if (text !== '') text += ' ';
      const start = text.length;
      text += word.text;
      return { start, end: text.length, box: { ...word.box }, confidence: word.confidence };
    });
    if (text.trim() === '') continue;
    units.push({ id, text, page: frame, visibility: 'shown' });
    placed.push({ id, words });
  }
  return { units, layout: { width, height, units: placed } };
}

/** Reads a layout that `read` gave. Throws `unreadable`. */
export function parseLayout(text: string): Layout {
  try {
    const layout: unknown = JSON.parse(text);
    if (CHECK.Check(layout)) return layout;
  } catch {
    // Said below.
  }
  throw new DocumentFault('unreadable', 'the layout is not one that was read from this document');
}
