import type { Box, Line } from '../page/page.ts';
import { escapeInline } from './markdown-escape.ts';
import { baseSize, piecesOf, type Piece } from './paragraphs.ts';
import { textLines, type TextLine } from './segments.ts';
import { tablesIn, type Table } from './tables.ts';

/** A picture on a page, which the text refers to by its id. */
export interface Figure {
  readonly id: string;
  readonly box: Box;
}

/**
 * The text of a page as markdown: headings by the size of letters, paragraphs whole, lists and tables as such, figures
 * where they stand. Lines come in reading order; whatever they say is text and never markup.
 */
export function toMarkdown(lines: readonly Line[], figures: readonly Figure[] = []): string {
  const all = textLines(lines);
  const base = baseSize(all);
  const tables = tablesIn(all);
  const tableOf = new Map(tables.flatMap((table) => table.lines.map((line) => [line, table] as const)));
  const pieces: Piece[] = [];
  const written = new Set<Table>();
  let run: TextLine[] = [];
  const close = (): void => {
    for (const one of piecesOf(run, base)) pieces.push(one);
    run = [];
  };
  for (const line of all) {
    const table = tableOf.get(line);
    if (!table) run.push(line);
    else if (!written.has(table)) {
      close();
      written.add(table);
      pieces.push({ kind: 'table', markdown: tableMarkdown(table), box: table.box });
    }
  }
  close();
  for (const figure of figures) place(pieces, figure);
  return together(pieces);
}

function tableMarkdown({ cells }: Table): string {
  const row = (texts: readonly string[]): string => `| ${texts.map(escapeInline).join(' | ')} |`;
  const [head = [], ...rest] = cells;
  return [row(head), `|${' --- |'.repeat(head.length)}`, ...rest.map(row)].join('\n');
}

/** Puts a figure behind the last piece that stands above it in its column, or else before the first one below it. */
function place(pieces: Piece[], { id, box }: Figure): void {
  const piece: Piece = { kind: 'figure', markdown: `![${id}](${id})`, box };
  const above = (other: Piece): boolean => other.box.y0 + other.box.y1 < box.y0 + box.y1;
  const beside = (other: Piece): boolean => other.box.x0 < box.x1 && other.box.x1 > box.x0;
  const last = pieces.findLastIndex((other) => beside(other) && above(other));
  if (last >= 0) return void pieces.splice(last + 1, 0, piece);
  const below = pieces.findIndex(beside);
  if (below >= 0) return void pieces.splice(below, 0, piece);
  pieces.splice(pieces.findLastIndex(above) + 1, 0, piece);
}

function together(pieces: readonly Piece[]): string {
  let text = '';
  for (const [index, piece] of pieces.entries()) {
    const tight = piece.kind === 'item' && pieces[index - 1]?.kind === 'item';
    text += `${index === 0 ? '' : tight ? '\n' : '\n\n'}${piece.markdown}`;
  }
  return text;
}
