import { DocumentFault, type DocumentFile } from '#ports/documents.ts';
import type { Sniffed } from './sniff.ts';

const TEXT: Sniffed = { kind: 'text', mediaType: 'text/plain' };
const MARKDOWN: Sniffed = { kind: 'markdown', mediaType: 'text/markdown' };
const CSV: Sniffed = { kind: 'csv', mediaType: 'text/csv' };
const TSV: Sniffed = { kind: 'csv', mediaType: 'text/tab-separated-values' };
const HTML: Sniffed = { kind: 'html', mediaType: 'text/html' };

/** What text may be declared to be. */
const DECLARED: Readonly<Record<string, Sniffed>> = {
  'text/markdown': MARKDOWN,
  'text/x-markdown': MARKDOWN,
  'text/csv': CSV,
  'application/csv': CSV,
  'text/tab-separated-values': TSV,
  'text/html': HTML,
  'application/xhtml+xml': HTML,
};

/** Ends of names, for text that was declared as nothing more than text. */
const ENDINGS: Readonly<Record<string, Sniffed>> = {
  md: MARKDOWN,
  markdown: MARKDOWN,
  csv: CSV,
  tsv: TSV,
  htm: HTML,
  html: HTML,
  xhtml: HTML,
};

/** A comment ends at its first end: were that left open, a head of many comments would take for ever. */
const HTML_HEAD = /^(?:<\?xml[^>]*>\s*)?(?:<!--(?:(?!-->)[^])*-->\s*)*<(?:!doctype\s+html|html|head|body)\b/i;
const HEAD_BYTES = 4096;

/**
 * Tells kinds of text apart: what reads as HTML is HTML whatever it was declared as, since its entities would hide what
 * it says from a search; then what was declared, then the end of the name. Throws `unsupported` for what is no text.
 */
export function sniffText({ name, mediaType, bytes }: DocumentFile): Sniffed {
  const wide = (bytes[0] === 0xff && bytes[1] === 0xfe) || (bytes[0] === 0xfe && bytes[1] === 0xff);
  if (!wide && bytes.some(isControl)) throw new DocumentFault('unsupported', 'this kind of file is not read');
  const encoding = wide ? (bytes[0] === 0xff ? 'utf-16le' : 'utf-16be') : 'utf-8';
  const head = new TextDecoder(encoding).decode(bytes.subarray(0, HEAD_BYTES)).trimStart();
  if (HTML_HEAD.test(head)) return HTML;
  const declared = DECLARED[mediaType] ?? ENDINGS[/\.([^.]+)$/.exec(name)?.[1]?.toLowerCase() ?? ''];
  if (declared) return declared;
  if (head.startsWith('<?xml')) throw new DocumentFault('unsupported', 'XML is not read');
  return TEXT;
}

/** A byte that no text has: anything below a blank but tab, line ends, form feed and escape. */
function isControl(byte: number): boolean {
  return byte < 0x20 && byte !== 0x09 && byte !== 0x0a && byte !== 0x0c && byte !== 0x0d && byte !== 0x1b;
}
