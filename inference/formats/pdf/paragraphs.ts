import type { Box } from '../format.ts';
import { around } from './geometry.ts';
import type { Glyph } from './glyphs.ts';
import type { GlyphLine } from './lines.ts';

/** A text that is read as a whole, with the letter that each of its UTF-16 units comes from (none: a blank). */
export interface Paragraph {
  readonly text: string;
  readonly glyphs: readonly (Glyph | undefined)[];
  /** Whether it is invisible, or outside of what is shown. */
  readonly hidden: boolean;
}

/** A line whose end comes so close to that of its block, by its share of the block's width, was broken there. */
const WRAPPED = 0.15;
/** Between words, in heights of their letters: a line with a wider gap is a row of cells. */
const CELL_GAP = 1.6;

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

function separatorOf(text: string, before: GlyphLine, next: GlyphLine, box: Box): string {
  const wrapped = !isRow(before) && !isRow(next) && before.box.x1 > box.x1 - WRAPPED * (box.x1 - box.x0);
  if (!wrapped) return '\n';
  // Whether a hyphen is of the word or of its break cannot be told: it stays.
  const broken = /\p{L}-$/u.test(text) && /^\p{L}/u.test(next.words[0]?.text ?? '');
  return broken ? '' : ' ';
}

function isRow({ words }: GlyphLine): boolean {
  return words.some((word, index) => {
    const before = words[index - 1];
    return before !== undefined && word.box.x0 - before.box.x1 > CELL_GAP * (word.size ?? 0);
  });
}
