import { DocumentFault, type DocumentFile } from '#/ports/documents.ts';
import type { Sniffed } from '../format.ts';
import { sniffText } from './sniff-text.ts';
import { sniffZip } from './sniff-zip.ts';

/** Leading bytes of supported formats, in hexadecimal. */
const READ: readonly (readonly [RegExp, Sniffed])[] = [
  [/^255044462d/, { kind: 'pdf', mediaType: 'application/pdf' }],
  [/^89504e470d0a1a0a/, { kind: 'image', mediaType: 'image/png' }],
  [/^ffd8ff/, { kind: 'image', mediaType: 'image/jpeg' }],
  [/^474946383[79]61/, { kind: 'image', mediaType: 'image/gif' }],
  [/^(?:49492[ab]00|4d4d002[ab])/, { kind: 'image', mediaType: 'image/tiff' }],
  [/^52494646.{8}57454250/, { kind: 'image', mediaType: 'image/webp' }],
  [/^7b5c727466/, { kind: 'rtf', mediaType: 'application/rtf' }],
];

/** Leading bytes of known formats that are not supported, with advice to the sender. */
const REFUSED: readonly (readonly [RegExp, string])[] = [
  [/^[^]{4}ftyp(?:hei[cxmsf]|hev[cxms]|mif1|msf1|avi[fs])/, 'HEIC and AVIF images are not supported: send JPEG or PNG'],
  [
    /^(?:ï»¿)?\s*(?:<\?xml[^>]*>\s*)?(?:<!--(?:(?!-->)[^])*-->\s*)*<(?:!DOCTYPE svg|svg)/i,
    'SVG is not supported: send JPEG or PNG',
  ],
];

/** The container of Office before 2007, and of documents with a password, in hexadecimal. */
const OLE = 'd0cf11e0a1b11ae1';
const ZIP = /^504b(?:0304|0506)/;
/** Readers of PDF look for its header this far in. */
const PDF_WITHIN = 1024;

/**
 * Detects the format of a file by its bytes. The declared type and the end of the name count only between kinds of
 * text. A file with two formats at once has the format of its first bytes, and nothing of the other one survives
 * rewriting. Throws `unsupported`, `unreadable`, `encrypted` or `active_content`.
 */
export function sniff(file: DocumentFile): Sniffed {
  const { bytes } = file;
  if (bytes.length === 0) throw new DocumentFault('unreadable', 'the document is empty');
  const first = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, PDF_WITHIN));
  const hex = first.toString('hex', 0, 16);
  const head = first.toString('latin1');
  for (const [leading, found] of READ) if (leading.test(hex)) return found;
  for (const [leading, message] of REFUSED) if (leading.test(head)) throw new DocumentFault('unsupported', message);
  if (hex.startsWith(OLE)) throw oleFault(bytes);
  if (ZIP.test(hex)) return sniffZip(bytes);
  if (head.includes('%PDF-')) return lateHeader(file, head);
  return sniffText(file);
}

function oleFault(bytes: Uint8Array): DocumentFault {
  const all = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  if (all.includes(Buffer.from('EncryptedPackage', 'utf16le')))
    return new DocumentFault('encrypted', 'the document needs a password');
  return new DocumentFault('unsupported', 'old Office formats are not supported: save it as .docx or .xlsx');
}

/**
 * A PDF after other bytes: fine if they are blank or it was sent as PDF; otherwise readers may disagree on the format.
 */
function lateHeader({ name, mediaType }: DocumentFile, head: string): Sniffed {
  const before = head.slice(0, head.indexOf('%PDF-')).replace(/^ï»¿/, '');
  const declared = mediaType === 'application/pdf' || /\.pdf$/i.test(name);
  if (declared || before.trim() === '') return { kind: 'pdf', mediaType: 'application/pdf' };
  throw new DocumentFault('unreadable', 'the document is both a PDF and another format');
}
