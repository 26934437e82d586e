import { unzipSync } from 'fflate';
import { DocumentFault } from '#ports/documents.ts';
import type { Sniffed } from './sniff.ts';

const CONTENT_TYPES = '[Content_Types].xml';
/** Of the part that names the others; real ones have a few KiB. */
const MAX_PART = 1024 * 1024;
const OOXML = 'application/vnd.openxmlformats-officedocument';
const MACROS = /ContentType\s*=\s*["'][^"']*(?:macroEnabled|vbaProject)/i;
const MAIN =
  /ContentType\s*=\s*["']application\/vnd\.[^"']*?(wordprocessingml|spreadsheetml|presentationml)\.[a-z]+\.main\+xml["']/i;

const WORD: Sniffed = { kind: 'word', mediaType: `${OOXML}.wordprocessingml.document` };
const SPREADSHEET: Sniffed = { kind: 'spreadsheet', mediaType: `${OOXML}.spreadsheetml.sheet` };

/** Tells the office formats that are zip files apart by the part that lists the types of the others. */
export function sniffZip(bytes: Uint8Array): Sniffed {
  const types = contentTypes(bytes);
  if (types === undefined) {
    // The first entry of an OpenDocument file is stored, and says what it is.
    const head = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, 200)).toString('latin1');
    const open = head.includes('mimetypeapplication/vnd.oasis.opendocument');
    throw new DocumentFault(
      'unsupported',
      open ? 'OpenDocument is not read: save it as .docx or .xlsx' : 'this kind of file is not read',
    );
  }
  if (MACROS.test(types)) throw new DocumentFault('active_content', 'the document has macros: save it without');
  switch (MAIN.exec(types)?.[1]?.toLowerCase()) {
    case 'wordprocessingml':
      return WORD;
    case 'spreadsheetml':
      return SPREADSHEET;
    case 'presentationml':
      throw new DocumentFault('unsupported', 'presentations are not read: save it as PDF');
    default:
      throw new DocumentFault('unsupported', 'this kind of file is not read');
  }
}

/** The part's text, or undefined where there is none. Nothing else is inflated, and of it no more than it declares. */
function contentTypes(bytes: Uint8Array): string | undefined {
  try {
    const parts = unzipSync(bytes, {
      filter: ({ name, originalSize }) => name === CONTENT_TYPES && originalSize <= MAX_PART,
    });
    const part = parts[CONTENT_TYPES];
    return part && new TextDecoder().decode(part);
  } catch (cause) {
    throw new DocumentFault('unreadable', 'the document is damaged or not complete', { cause });
  }
}
