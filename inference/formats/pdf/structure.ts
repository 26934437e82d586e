import {
  PDFArray,
  PDFDict,
  PDFDocument,
  PDFHexString,
  PDFRef,
  PDFStream,
  PDFString,
  type PDFContext,
  type PDFObject,
} from '@cantoo/pdf-lib';
import { DocumentFault } from '#/ports/documents.ts';

/** Opens a document as its objects. Rejects with `unreadable`. */
export async function openObjects(bytes: Uint8Array): Promise<PDFDocument> {
  try {
    return await PDFDocument.load(bytes, { updateMetadata: false, capNumbers: true, throwOnInvalidObject: false });
  } catch (cause) {
    throw new DocumentFault('unreadable', 'the objects of the document are damaged', { cause });
  }
}

/** The dictionary of an object that is one or has one. */
export function dictOf(object: PDFObject | undefined): PDFDict | undefined {
  if (object instanceof PDFDict) return object;
  return object instanceof PDFStream ? object.dict : undefined;
}

/** The objects that are part of another one. */
export function partsOf(object: PDFObject): readonly PDFObject[] {
  if (object instanceof PDFArray) return object.asArray();
  const dict = dictOf(object);
  return dict ? dict.values() : [];
}

/** All that can be reached from some objects, themselves included; references are followed once. */
export function reachable(context: PDFContext, from: readonly PDFObject[], skip?: ReadonlySet<PDFRef>): Set<PDFRef> {
  const seen = new Set<PDFRef>();
  const open = [...from];
  for (let object = open.pop(); object; object = open.pop()) {
    if (!(object instanceof PDFRef)) {
      for (const part of partsOf(object)) open.push(part);
      continue;
    }
    if (seen.has(object) || skip?.has(object)) continue;
    seen.add(object);
    const target = context.lookup(object);
    if (target) open.push(target);
  }
  return seen;
}

/** The text of a string; empty where it is no text. */
export function textOf(object: PDFObject | undefined): string {
  if (!(object instanceof PDFString || object instanceof PDFHexString)) return '';
  try {
    return object.decodeText();
  } catch {
    return '';
  }
}
