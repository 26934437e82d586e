import type { DocumentFile, RecognizeOptions } from '#/ports/documents.ts';
import { BadRequestShape } from '#/wire/hub/codec.ts';
import { isObject, type Json, type JsonObject } from '#/wire/document/json.ts';
import { readDataUrl } from '#/wire/request/media.ts';
import { addressOf } from '#/wire/ocr/codec.ts';
import { isOnePicture, pageRanges, pagesAtMost } from '#/wire/ocr/pages.ts';
import { isArray } from '#/wire/request/request-shape.ts';

/** A document to be read, still as base64, and how. */
export interface OcrRequest {
  readonly file: Omit<DocumentFile, 'bytes'> & { readonly base64: string };
  readonly options: RecognizeOptions;
  /** Maximum pages to hold and bill: a document with more pages than its size allows must name them. */
  readonly pagesAtMost: number;
}

/** Languages that can be named, by ISO 639-1; ISO 639-3 is understood too. */
const LANGUAGES: Readonly<Record<string, string>> = {
  en: 'eng',
  de: 'deu',
  fr: 'fra',
  es: 'spa',
  it: 'ita',
  nl: 'nld',
  pl: 'pol',
  pt: 'por',
};
const MOST_PAGES = 1000;
/** Output of other engines besides the text. */
const NOT_SERVED = ['bbox_annotation_format', 'document_annotation_format'];

/** Reads a request for the gateway's own text recognition. Throws `BadRequestShape`. // spec 2.4 */
export function readOcrRequest(body: JsonObject): OcrRequest {
  const document = isObject(body['document']) ? body['document'] : {};
  const inline = readDataUrl(addressOf(document));
  if (!inline) {
    throw new BadRequestShape('gw/ocr fetches no documents: send the document itself as a data: URL', 'document');
  }
  for (const name of NOT_SERVED) {
    if ((body[name] ?? undefined) !== undefined) throw new BadRequestShape(`${name} is not supported by gw/ocr`, name);
  }
  const pages = pagesOf(body['pages'] ?? undefined);
  const languages = languagesOf(body['languages'] ?? undefined);
  const imageLimit = countOf(body, 'image_limit');
  const imageMinSize = countOf(body, 'image_min_size');
  const { mediaType, data } = inline;
  const name = document['document_name'];
  return {
    file: { name: typeof name === 'string' ? name.slice(0, 255) : '', mediaType, base64: data },
    options: {
      includeImages: flagOf(body, 'include_image_base64'),
      ...(pages && { pages }),
      ...(languages && { languages }),
      ...(imageLimit !== undefined && { imageLimit }),
      ...(imageMinSize !== undefined && { imageMinSize }),
    },
    pagesAtMost: pages?.length ?? (isOnePicture(data) ? 1 : pagesAtMost(data.length)),
  };
}

function pagesOf(value: Json | undefined): readonly number[] | undefined {
  if (value === undefined || (isArray(value) && value.length === 0)) return undefined;
  const ranges = pageRanges(value);
  if (!ranges) throw new BadRequestShape('pages must be page numbers from 0: [0, 2] or "0-4,7"', 'pages');
  const count = ranges.reduce((sum, [first, last]) => sum + last - first + 1, 0);
  if (count > MOST_PAGES) throw new BadRequestShape(`pages may list at most ${MOST_PAGES} pages`, 'pages');
  const numbers = ranges.flatMap(([first, last]) => Array.from({ length: last - first + 1 }, (_, at) => first + at));
  return [...new Set(numbers)].sort((a, b) => a - b);
}

function languagesOf(value: Json | undefined): readonly string[] | undefined {
  if (value === undefined) return undefined;
  const named: readonly Json[] = typeof value === 'string' ? [value] : isArray(value) ? value : [null];
  const codes = named.map((name) => {
    const code = typeof name === 'string' ? name.toLowerCase() : '';
    return Object.hasOwn(LANGUAGES, code) ? LANGUAGES[code] : Object.values(LANGUAGES).find((known) => known === code);
  });
  if (codes.includes(undefined)) {
    const known = Object.keys(LANGUAGES).join(', ');
    throw new BadRequestShape(`languages must be a list of ${known}`, 'languages');
  }
  return codes.length > 0 ? [...new Set(codes as string[])] : undefined;
}

function countOf(body: JsonObject, name: string): number | undefined {
  const value = body[name] ?? undefined;
  if (value === undefined) return undefined;
  if (typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= 1_000_000) return value;
  throw new BadRequestShape(`${name} must be a whole number`, name);
}

function flagOf(body: JsonObject, name: string): boolean {
  const value = body[name] ?? false;
  if (typeof value !== 'boolean') throw new BadRequestShape(`${name} must be true or false`, name);
  return value;
}
