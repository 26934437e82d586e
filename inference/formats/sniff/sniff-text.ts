import { DocumentFault, type DocumentFile } from '#/ports/documents.ts';
import { disguisedKindOf } from '#/values/document-text.ts';
import type { Sniffed } from '../format.ts';

const TEXT: Sniffed = { kind: 'text', mediaType: 'text/plain' };
const MARKDOWN: Sniffed = { kind: 'markdown', mediaType: 'text/markdown' };
const CSV: Sniffed = { kind: 'csv', mediaType: 'text/csv' };
const TSV: Sniffed = { kind: 'csv', mediaType: 'text/tab-separated-values' };
const JSON_TEXT: Sniffed = { kind: 'text', mediaType: 'application/json' };
const HTML: Sniffed = { kind: 'html', mediaType: 'text/html' };

/** What text may be declared to be. */
const DECLARED: Readonly<Record<string, Sniffed>> = {
  'text/markdown': MARKDOWN,
  'text/x-markdown': MARKDOWN,
  'text/csv': CSV,
  'application/csv': CSV,
  'text/tab-separated-values': TSV,
  'application/json': JSON_TEXT,
  'text/html': HTML,
  'application/xhtml+xml': HTML,
};

/** Ends of names, for text that was declared as nothing more than text. */
const ENDINGS: Readonly<Record<string, Sniffed>> = {
  md: MARKDOWN,
  markdown: MARKDOWN,
  csv: CSV,
  tsv: TSV,
  json: JSON_TEXT,
  htm: HTML,
  html: HTML,
  xhtml: HTML,
};

/**
 * Tells kinds of text apart: what reads as HTML is HTML whatever it was declared as, since its entities would hide what
 * it says from a search; so is mail; then the declared type counts, then the end of the name. Throws `unsupported` for
 * other data, and for XML, which can name letters in its own ways.
 */
export function sniffText({ name, mediaType, bytes }: DocumentFile): Sniffed {
  if (mediaType === 'message/rfc822' || /\.eml$/i.test(name)) return sniffMail(bytes);
  const wide = (bytes[0] === 0xff && bytes[1] === 0xfe) || (bytes[0] === 0xfe && bytes[1] === 0xff);
  if (!wide && bytes.some(isControl)) throw new DocumentFault('unsupported', 'this file format is not supported');
  const encoding = wide ? (bytes[0] === 0xff ? 'utf-16le' : 'utf-16be') : 'utf-8';
  const content = new TextDecoder(encoding).decode(bytes);
  const disguised = disguisedKindOf(content, mediaType);
  if (disguised === 'html') return HTML;
  if (disguised === 'mail') return sniffMail(bytes);
  if (disguised === 'rtf') return RICH;
  if (disguised === 'card')
    throw new DocumentFault('unsupported', 'contact cards that declare their own text encoding are not supported');
  const declared = DECLARED[mediaType] ?? ENDINGS[/\.([^.]+)$/.exec(name)?.[1]?.toLowerCase() ?? ''];
  if (disguised === 'xml' || (!declared && content.trimStart().startsWith('<?xml')))
    throw new DocumentFault('unsupported', 'XML is not supported');
  return declared ?? TEXT;
}

const RICH: Sniffed = { kind: 'rtf', mediaType: 'application/rtf' };
const MAIL: Sniffed = { kind: 'mail', mediaType: 'message/rfc822' };
/** A line of a head; blanks and marks of the encoding may stand before it. */
const HEAD_LINE = /^(?:\xef\xbb\xbf)?\s*[!-9;-~]{1,76}:/;

/** Bytes that were said to be mail, or read as such. A file of several mails begins with a line that is in no mail. */
function sniffMail(bytes: Uint8Array): Sniffed {
  const head = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, 200)).toString('latin1');
  if (/^\s*From /.test(head))
    throw new DocumentFault('unsupported', 'mailboxes are not supported: send the mails one by one');
  if (!HEAD_LINE.test(head)) throw new DocumentFault('unsupported', 'the mail has no header');
  return MAIL;
}

/** A byte that no text has: anything below a blank but tab, line ends, form feed and escape. */
function isControl(byte: number): boolean {
  return byte < 0x20 && byte !== 0x09 && byte !== 0x0a && byte !== 0x0c && byte !== 0x0d && byte !== 0x1b;
}
