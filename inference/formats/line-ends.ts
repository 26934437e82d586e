import type { Box, Line } from '../page/page.ts';

/** A line whose end comes so close to that of its block, by its share of the block's width, was broken there. */
const WRAPPED = 0.15;
/** Between words, in heights of their letters: a line with a wider gap is a row of cells. */
const CELL_GAP = 1.6;

/**
 * The separator of two lines of a block, with `text` before it: a blank where the line was broken, so
 * that a name or number over its end is found; a new line where it ended; nothing within a word that was hyphenated.
 */
export function separatorOf(text: string, before: Line, next: Line, block: Box): string {
  const wrapped = !isRow(before) && !isRow(next) && before.box.x1 > block.x1 - WRAPPED * (block.x1 - block.x0);
  if (!wrapped) return '\n';
  // It is unknown whether a hyphen belongs to the word or to the break: it stays.
  const broken = /\p{L}-$/u.test(text) && /^\p{L}/u.test(next.words[0]?.text ?? '');
  return broken ? '' : ' ';
}

function isRow({ words }: Line): boolean {
  return words.some((word, index) => {
    const before = words[index - 1];
    return before !== undefined && word.box.x0 - before.box.x1 > CELL_GAP * (word.size ?? 0);
  });
}
