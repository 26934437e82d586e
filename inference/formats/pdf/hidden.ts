import { PDFArray, PDFName, PDFRef, PDFStream, type PDFDict, type PDFDocument, type PDFObject } from '@cantoo/pdf-lib';
import type { PdfiumFile } from './pdfium.ts';
import { decoded } from './streams.ts';
import { dictOf, openObjects, textOf } from './structure.ts';

/** Maximum length of all hidden texts of a document; a rewritten document contains none of them anyway. */
const MAX_LETTERS = 400_000;
const MAX_TEXT = 20_000;
/** Entries whose strings are keys to other objects, checksums or dates, not texts. */
const NO_TEXT: ReadonlySet<string> = new Set([
  ...['ID', 'CheckSum', 'CreationDate', 'ModDate', 'M', 'DA', 'ByteRange', 'Cert', 'Registry', 'Ordering'],
]);
/** Entries whose streams are texts. */
const TEXT_STREAMS: ReadonlySet<string> = new Set(['Metadata', 'JS', 'XFA', 'RC', 'RV', 'V', 'DV', 'F', 'UF', 'Desc']);
const BINARY = /[\p{Cc}\ufffd]/u;

/**
 * Every text in a document's objects that is not drawn: information, metadata, outlines, comments, names and values of
 * fields, alternative texts, scripts, names and content of layers and attachments. Rejects with `unreadable`.
 */
export async function hiddenTexts(file: PdfiumFile, bytes: Uint8Array): Promise<readonly string[]> {
  const document = await objectsOf(file, bytes);
  const texts = new Set<string>();
  let letters = 0;
  const add = (text: string): void => {
    const clean = text.replace(/\s+/g, ' ').trim().slice(0, MAX_TEXT);
    if (clean.length < 2 || texts.has(clean) || letters > MAX_LETTERS || BINARY.test(clean)) return;
    if (!/\p{L}{2}|\d{4}/u.test(clean)) return;
    letters += clean.length;
    texts.add(clean);
  };
  const { Info: info } = document.context.trailerInfo;
  if (info && !(info instanceof PDFRef)) collect(info, '', document, add);
  for (const [, object] of document.context.enumerateIndirectObjects()) collect(object, '', document, add);
  return [...texts];
}

/** As it was sent: unreferenced objects are included. */
async function objectsOf(file: PdfiumFile, bytes: Uint8Array): Promise<PDFDocument> {
  if (!file.lib.EPDF_IsEncrypted(file.document)) {
    const document = await openObjects(bytes).catch(() => undefined);
    if (document && document.context.enumerateIndirectObjects().length > 0) return document;
  }
  return openObjects(file.save());
}

function collect(object: PDFObject, key: string, document: PDFDocument, add: (text: string) => void): void {
  const text = textOf(object);
  if (text !== '') return add(text);
  if (object instanceof PDFArray) {
    for (const part of object.asArray()) {
      if (TEXT_STREAMS.has(key)) addStream(part, document, add);
      if (!(part instanceof PDFRef)) collect(part, key, document, add);
    }
    return;
  }
  if (object instanceof PDFStream && isMetadata(object.dict)) addStream(object, document, add);
  for (const [name, value] of dictOf(object)?.entries() ?? []) {
    const entry = name.decodeText();
    if (NO_TEXT.has(entry)) continue;
    if (TEXT_STREAMS.has(entry)) addStream(value, document, add);
    if (!(value instanceof PDFRef)) collect(value, entry, document, add);
  }
}

function addStream(value: PDFObject, document: PDFDocument, add: (text: string) => void): void {
  const stream = document.context.lookup(value);
  if (!(stream instanceof PDFStream)) return;
  const content = decoded(stream);
  if (!content) return;
  const start = Buffer.from(content.subarray(0, MAX_TEXT * 4));
  const utf16 = start[0] === 0xfe || start[0] === 0xff;
  const text = utf16 ? start.subarray(2).toString('utf16le') : start.toString('utf8');
  for (const piece of text.split(/<[^<>]*>/)) add(piece);
  // Metadata may be written as attributes; those that are addresses name vocabularies.
  for (const [, told = ''] of text.matchAll(/=\s*"([^"<>]*)"/g)) if (!told.startsWith('http')) add(told);
}

function isMetadata(dict: PDFDict): boolean {
  return dict.get(TYPE) === PDFName.of('Metadata') || dict.get(TYPE) === PDFName.of('EmbeddedFile');
}

const TYPE = PDFName.of('Type');
