import type { Box, Line } from '../formats/format.ts';

/** A picture on a page, which the text refers to by its id. */
export interface Figure {
  readonly id: string;
  readonly box: Box;
}

/** The text of a page as markdown: lines as they stand, then its figures. */
export function toMarkdown(lines: readonly Line[], figures: readonly Figure[] = []): string {
  const text = lines.map((line) => line.words.map((word) => word.text).join(' '));
  return [...text, ...figures.map(({ id }) => `![${id}](${id})`)].join('\n');
}
