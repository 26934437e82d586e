import type { Slot } from '../slots.ts';

/** A delimiter is guessed by the first lines. */
const HEAD_LENGTH = 16_384;
const DELIMITERS = [',', ';', '\t', '|'] as const;

/** A table as text: separators stay unchanged. */
export interface Table {
  readonly cells: readonly Slot[];
  /** The table as text, with what its cells hold now. */
  readonly write: () => string;
}

/** A piece of the text: a cell, or a separator. */
interface Cell extends Slot {
  readonly before: string;
  readonly written: string;
  readonly original: string;
  readonly quoted: boolean;
}

/**
 * Reads a table of separated values in the dialect it is in: the delimiter that its head has most of, quotes doubled within
 * quotes, any ends of lines. A cell that is not given another text stays as it was written.
 */
export function parseCsv(text: string, mediaType: string): Table {
  const delimiter = mediaType === 'text/tab-separated-values' ? '\t' : delimiterOf(text.slice(0, HEAD_LENGTH));
  const cell = new RegExp(`"((?:[^"]|"")*)"(?=[${delimiter}\\r\\n]|$)|[^${delimiter}\\r\\n]+`, 'y');
  const gap = new RegExp(`[${delimiter}\\r\\n]+`, 'y');
  const cells: Cell[] = [];
  let at = 0;
  let before = '';
  while (at < text.length) {
    gap.lastIndex = at;
    before = gap.exec(text)?.[0] ?? '';
    at += before.length;
    if (at >= text.length) break;
    cell.lastIndex = at;
    const [written = '', inner] = cell.exec(text) ?? [text.slice(at)];
    const original = inner === undefined ? written : inner.replaceAll('""', '"');
    cells.push({ before, written, original, quoted: inner !== undefined, text: original });
    before = '';
    at += written.length;
  }
  const last = before;
  return { cells, write: () => cells.map((own) => own.before + writtenOf(own, delimiter)).join('') + last };
}

function writtenOf({ text, original, written, quoted }: Cell, delimiter: string): string {
  if (text === original) return written;
  const quotes = quoted || text.includes('"') || text.includes(delimiter) || /[\r\n]/.test(text);
  return quotes ? `"${text.replaceAll('"', '""')}"` : text;
}

function delimiterOf(head: string): string {
  const bare = head.replace(/"[^"]*"/g, '');
  const counts = DELIMITERS.map((delimiter) => bare.split(delimiter).length);
  return DELIMITERS[counts.indexOf(Math.max(...counts))] ?? ',';
}
