import { unzipSync } from 'fflate';
import { DocumentFault } from '#/ports/documents.ts';
import type { Sniffed } from '../format.ts';

const CONTENT_TYPES = '[Content_Types].xml';
/** Of the part that names the others; real ones have a few KiB. */
const MAX_PART = 1024 * 1024;
const OOXML = 'application/vnd.openxmlformats-officedocument';
const MACROS = /ContentType\s*=\s*["'][^"']*(?:macroEnabled|vbaProject)/i;
const MAIN =
  /ContentType\s*=\s*["']application\/vnd\.[^"']*?(wordprocessingml|spreadsheetml|presentationml)\.[a-z]+\.main\+xml["']/i;

/** Kinds of Office documents by what their main part is called after. */
const OFFICE: Readonly<Record<string, Sniffed>> = {
  wordprocessingml: { kind: 'word', mediaType: `${OOXML}.wordprocessingml.document` },
  spreadsheetml: { kind: 'spreadsheet', mediaType: `${OOXML}.spreadsheetml.sheet` },
  presentationml: { kind: 'presentation', mediaType: `${OOXML}.presentationml.presentation` },
};
/** The first entry of other kinds is stored, and says what the file is. */
const SAID = /^mimetype(?:.{0,64}?)application\/(epub\+zip|vnd\.oasis\.opendocument\.[a-z-]{1,40})/s;
const OPEN = /opendocument\.(text|spreadsheet|presentation)(?:-template)?$/;
/** Of an entry before its name. */
const ENTRY_HEAD = 30;

/** Tells the formats that are zip files apart: by the part that lists the types of the others, or by what the first entry says. */
export function sniffZip(bytes: Uint8Array): Sniffed {
  const types = contentTypes(bytes);
  if (types === undefined) return sniffSaid(bytes);
  if (MACROS.test(types)) throw new DocumentFault('active_content', 'the document has macros: save it without them');
  const found = OFFICE[MAIN.exec(types)?.[1]?.toLowerCase() ?? ''];
  if (!found) throw new DocumentFault('unsupported', 'this file format is not supported');
  return found;
}

function sniffSaid(bytes: Uint8Array): Sniffed {
  const head = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, 200)).toString('latin1');
  const said = SAID.exec(head.slice(ENTRY_HEAD))?.[1];
  if (said === undefined) throw new DocumentFault('unsupported', 'this file format is not supported');
  if (said === 'epub+zip') return { kind: 'epub', mediaType: `application/${said}` };
  const open = OPEN.exec(said)?.[1];
  if (open === undefined)
    throw new DocumentFault(
      'unsupported',
      'only OpenDocument texts, spreadsheets and presentations are supported: save it as one of them',
    );
  return { kind: 'opendocument', mediaType: `application/vnd.oasis.opendocument.${open}` };
}

/** The part's text, or undefined without the part. Nothing else is inflated, and no more than its declared size. */
function contentTypes(bytes: Uint8Array): string | undefined {
  try {
    const parts = unzipSync(bytes, {
      filter: ({ name, originalSize }) => name === CONTENT_TYPES && originalSize <= MAX_PART,
    });
    const part = parts[CONTENT_TYPES];
    return part && new TextDecoder().decode(part);
  } catch (cause) {
    throw new DocumentFault('unreadable', 'the document is damaged or incomplete', { cause });
  }
}
