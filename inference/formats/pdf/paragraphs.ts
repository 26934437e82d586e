import { separatorOf } from '../line-ends.ts';
import { around } from './geometry.ts';
import type { Glyph } from './glyphs.ts';
import type { GlyphLine } from './lines.ts';

/** A text that is read as a whole, with the letter that each of its UTF-16 units comes from (none: a blank). */
export interface Paragraph {
  readonly text: string;
  readonly glyphs: readonly (Glyph | undefined)[];
  /** Whether it is invisible, or outside of the visible part. */
  readonly hidden: boolean;
}

/**
 * The text of blocks. A line that was broken goes on after a blank, so that a name or number over its end is found; one that
 * ended goes on in a new line. A word that was hyphenated goes on at once.
 */
export function paragraphsOf(lines: readonly GlyphLine[], hidden: boolean): readonly Paragraph[] {
  const blocks = Map.groupBy(lines, ({ block }) => block);
  return [...blocks.values()].map((block) => paragraphFrom(block, hidden)).filter(({ text }) => text.trim() !== '');
}

function paragraphFrom(lines: readonly GlyphLine[], hidden: boolean): Paragraph {
  const box = around(lines.map((line) => line.box));
  let text = '';
  const glyphs: (Glyph | undefined)[] = [];
  for (const [index, line] of lines.entries()) {
    const before = lines[index - 1];
    if (before && box) {
      const separator = separatorOf(text, before, line, box);
      text += separator;
      if (separator !== '') glyphs.push(undefined);
    }
    for (const [at, word] of line.words.entries()) {
      if (at > 0) {
        text += ' ';
        glyphs.push(undefined);
      }
      for (const glyph of word.glyphs) {
        text += glyph.text;
        for (let unit = 0; unit < glyph.text.length; unit++) glyphs.push(glyph);
      }
    }
  }
  return { text, glyphs, hidden };
}
