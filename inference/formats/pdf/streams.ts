import { inflateSync, constants } from 'node:zlib';
import {
  decodePDFRawStream,
  PDFArray,
  PDFDict,
  PDFName,
  PDFRawStream,
  type PDFObject,
  type PDFStream,
} from '@cantoo/pdf-lib';
import { DocumentFault } from '#/ports/documents.ts';

/** Of one stream after each of its filters: no normal page has more. */
const MAX_DECODED = 96 * 1024 * 1024;
/** Given to a filter that is undone piece by piece, which takes a hundred times as long as zlib. */
const MAX_SLOW = 4 * 1024 * 1024;
/** And what such a filter may give out. */
const MAX_SLOWLY_DECODED = 16 * 1024 * 1024;
/** Filters of one stream. Programs write one, or one for text before it. */
const MAX_FILTERS = 4;
const PICTURES: ReadonlySet<string> = new Set([
  'DCTDecode',
  'JPXDecode',
  'JBIG2Decode',
  'CCITTFaxDecode',
  'DCT',
  'CCF',
]);

/**
 * What a stream holds; undefined for a picture, and for what cannot be decoded. Throws `too_large` when it is more than a
 * stream may be.
 */
export function decoded(stream: PDFStream): Uint8Array | undefined {
  if (!(stream instanceof PDFRawStream)) return stream.getContents();
  const filters = filtersOf(stream);
  if (filters.length === 0) return stream.contents;
  if (filters.some((filter) => PICTURES.has(filter))) return undefined;
  if (filters.length > MAX_FILTERS) throw tooLarge();
  try {
    return filters.reduce((bytes, filter, at) => undone(bytes, filter, stream, at), stream.contents);
  } catch (error) {
    if (error instanceof DocumentFault) throw error;
    if (error instanceof RangeError) throw tooLarge(error);
    return undefined;
  }
}

/** What one filter has made of the bytes. Each is bounded by itself, whatever the next one would leave of it. */
function undone(bytes: Uint8Array, filter: string, stream: PDFRawStream, at: number): Uint8Array {
  if (/^(?:FlateDecode|Fl)$/.test(filter)) {
    return inflateSync(bytes, { maxOutputLength: MAX_DECODED, finishFlush: constants.Z_SYNC_FLUSH });
  }
  if (bytes.length > MAX_SLOW) throw tooLarge();
  const dict = stream.dict.context.obj({ Filter: filter });
  const parameters = stream.dict.lookup(PARAMETERS);
  const own = parameters instanceof PDFArray ? parameters.lookup(at) : parameters;
  if (own instanceof PDFDict) dict.set(PARAMETERS, own);
  const found = decodePDFRawStream(PDFRawStream.of(dict, bytes)).getBytes(MAX_SLOWLY_DECODED + 1);
  if (found.length > MAX_SLOWLY_DECODED) throw tooLarge();
  return Uint8Array.from(found);
}

const FILTER = PDFName.of('Filter');
const PARAMETERS = PDFName.of('DecodeParms');

function filtersOf(stream: PDFRawStream): readonly string[] {
  const filter = stream.dict.lookup(FILTER);
  const names: readonly (PDFObject | undefined)[] =
    filter instanceof PDFArray ? filter.asArray().map((_, index) => filter.lookup(index)) : [filter];
  return names.filter((name) => name instanceof PDFName).map((name) => name.decodeText());
}

function tooLarge(cause?: unknown): DocumentFault {
  return new DocumentFault('too_large', 'a part of the document is too large', { cause });
}
