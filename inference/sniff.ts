import { DocumentFault, type DocumentFile, type DocumentKind } from '#ports/documents.ts';
import { sniffText } from './sniff-text.ts';
import { sniffZip } from './sniff-zip.ts';

/** What a document is, and the media type that says so. */
export interface Sniffed {
  readonly kind: DocumentKind;
  readonly mediaType: string;
}

/** Leading bytes, as Latin-1, of what is read. */
const READ: readonly (readonly [RegExp, Sniffed])[] = [
  [/^%PDF-/, { kind: 'pdf', mediaType: 'application/pdf' }],
  [/^\x89PNG\r\n\x1a\n/, { kind: 'image', mediaType: 'image/png' }],
  [/^\xff\xd8\xff/, { kind: 'image', mediaType: 'image/jpeg' }],
  [/^GIF8[79]a/, { kind: 'image', mediaType: 'image/gif' }],
  [/^(?:II[*+]\0|MM\0[*+])/, { kind: 'image', mediaType: 'image/tiff' }],
  [/^RIFF[^]{4}WEBP/, { kind: 'image', mediaType: 'image/webp' }],
];

/** Leading bytes of what is known and not read, with what its sender may do. */
const REFUSED: readonly (readonly [RegExp, string])[] = [
  [/^[^]{4}ftyp(?:hei[cxmsf]|hev[cxms]|mif1|msf1|avi[fs])/, 'HEIC and AVIF pictures are not read: send JPEG or PNG'],
  [/^\{\\rtf/, 'RTF is not read: save it as .docx or PDF'],
  [
    /^(?:BM[^]{8}|8BPS|\0\0\x01\0|\xff\x0a|\0\0\0\x0c(?:jP|JXL) )/,
    'this kind of picture is not read: send JPEG or PNG',
  ],
  [
    /^(?:\xef\xbb\xbf)?\s*(?:<\?xml[^>]*>\s*)?(?:<!--[^]*?-->\s*)*(?:<!DOCTYPE svg|<svg)/i,
    'SVG is not read: send JPEG or PNG',
  ],
  [/^(?:\x7fELF|MZ[^]{2}|\x1f\x8b|7z\xbc\xaf|Rar!|BZh|\xfd7zXZ|%!PS)/, 'this kind of file is not read'],
];

const OLE = /^\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1/;
/** Readers of PDF look for its header this far in. */
const PDF_WITHIN = 1024;

/**
 * Tells what a file is by its bytes. What is declared, or the end of the name, counts only between kinds of text. A file
 * that is two things at once is what its first bytes say, and nothing of its other self survives being rewritten.
 * Throws `unsupported`, `unreadable`, `encrypted` or `active_content`.
 */
export function sniff(file: DocumentFile): Sniffed {
  const { bytes } = file;
  if (bytes.length === 0) throw new DocumentFault('unreadable', 'the document is empty');
  const head = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, PDF_WITHIN)).toString('latin1');
  for (const [leading, found] of READ) if (leading.test(head)) return found;
  for (const [leading, message] of REFUSED) if (leading.test(head)) throw new DocumentFault('unsupported', message);
  if (OLE.test(head)) throw oleFault(bytes);
  if (head.startsWith('PK\x03\x04') || head.startsWith('PK\x05\x06')) return sniffZip(bytes);
  if (head.includes('%PDF-')) return lateHeader(file, head);
  return sniffText(file);
}

/** The container of Office before 2007, and of documents with a password. */
function oleFault(bytes: Uint8Array): DocumentFault {
  const all = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  if (all.includes(Buffer.from('EncryptedPackage', 'utf16le')))
    return new DocumentFault('encrypted', 'the document needs a password');
  return new DocumentFault('unsupported', 'old Office formats are not read: save it as .docx or .xlsx');
}

/** A PDF behind other bytes: fine when they are blank or it was sent as PDF, else nobody can say what a reader would show. */
function lateHeader({ name, mediaType }: DocumentFile, head: string): Sniffed {
  const before = head.slice(0, head.indexOf('%PDF-')).replace(/^\xef\xbb\xbf/, '');
  const declared = mediaType === 'application/pdf' || /\.pdf$/i.test(name);
  if (declared || before.trim() === '') return { kind: 'pdf', mediaType: 'application/pdf' };
  throw new DocumentFault('unreadable', 'the document is a PDF and something else at once');
}
