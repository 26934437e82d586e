import { inflateSync, constants } from 'node:zlib';
import { decodePDFRawStream, PDFArray, PDFName, PDFRawStream, type PDFObject, type PDFStream } from '@cantoo/pdf-lib';
import { DocumentFault } from '#ports/documents.ts';

/** Of one stream when it is decoded: no page that anybody reads has more. */
const MAX_DECODED = 96 * 1024 * 1024;
/** Filters that the library undoes piece by piece are only given what cannot grow beyond that. */
const MAX_ENCODED = 4 * 1024 * 1024;
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
  const plain = filters.length === 1 && /^(?:FlateDecode|Fl)$/.test(filters[0] ?? '') && !stream.dict.has(PARAMETERS);
  try {
    if (plain)
      return inflateSync(stream.contents, { maxOutputLength: MAX_DECODED, finishFlush: constants.Z_SYNC_FLUSH });
    if (stream.contents.length > MAX_ENCODED) throw tooLarge();
    return decodePDFRawStream(stream).decode();
  } catch (error) {
    if (error instanceof DocumentFault) throw error;
    if (error instanceof RangeError) throw tooLarge(error);
    return undefined;
  }
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
  return new DocumentFault('too_large', 'a part of the document is larger than a part may be', { cause });
}
