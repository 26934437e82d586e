import { PDFName, PDFRef, PDFStream, type PDFDocument, type PDFObject } from '@cantoo/pdf-lib';
import { findOriginals } from '../originals.ts';
import { cleanContent } from './content.ts';
import { withoutTags } from './spans.ts';
import { decoded } from './streams.ts';
import { dictOf, partsOf, reachable, textOf } from './structure.ts';

/** Fewer letters are in bytes, names and numbers by chance. */
const LEAST_LETTERS = 6;
/** Signs that no text in an encoding of single bytes has. */
const NO_TEXT = /[^\s!-\u00ff]/;
const [SUBTYPE, IMAGE, PARENT] = ['Subtype', 'Image', 'Parent'].map((name) => PDFName.of(name)) as [
  PDFName,
  PDFName,
  PDFName,
];

/**
 * Pages in whose objects an original is found: in strings, names, decoded streams and the strings in these, in either of
 * the usual encodings, blanks and case apart. All pages, when it is in none of theirs but in the document's.
 */
export function leakingPages(document: PDFDocument, originals: readonly string[]): ReadonlySet<number> {
  const pages = document.getPages();
  const leaking = new Set<number>();
  if (originals.length === 0) return leaking;
  const { context } = document;
  const known = new Map<PDFRef, boolean>();
  const leaks = (ref: PDFRef): boolean => {
    const found = known.get(ref) ?? objectLeaks(context.lookup(ref), originals);
    known.set(ref, found);
    return found;
  };
  const tree = new Set(
    document.getPages().flatMap(({ node }) => [node.get(PARENT)].filter((ref) => ref instanceof PDFRef)),
  );
  for (const [index, { ref }] of pages.entries())
    if ([...reachable(context, [ref], tree)].some(leaks)) leaking.add(index);
  const apart = context.enumerateIndirectObjects().filter(([ref]) => !known.has(ref));
  return apart.some(([ref]) => leaks(ref)) ? new Set(pages.keys()) : leaking;
}

function objectLeaks(object: PDFObject | undefined, originals: readonly string[]): boolean {
  if (!object || object instanceof PDFRef) return false;
  if (textHas(textOf(object), originals)) return true;
  if (object instanceof PDFName) return nameHas(object.decodeText(), originals);
  const dict = dictOf(object);
  if (dict?.keys().some((key) => nameHas(key.decodeText(), originals))) return true;
  if (object instanceof PDFStream && object.dict.get(SUBTYPE) !== IMAGE && streamHas(object, originals)) return true;
  return partsOf(object).some((part) => objectLeaks(part, originals));
}

function textHas(text: string, originals: readonly string[]): boolean {
  return text.length > 1 && findOriginals(withoutTags(text), originals).length > 0;
}

/** Names of the format that are not written like its others. */
const OWN_NAMES: ReadonlySet<string> = new Set([
  ...['XObject', 'SMask', 'BBox', 'FontBBox', 'XStep', 'YStep', 'DeviceRGB', 'DeviceCMYK', 'CalRGB', 'ICCBased'],
  ...['DCTDecode', 'CIDSystemInfo', 'CIDToGIDMap'],
]);

/** Names of the format itself are words too; an original is more than one of them. */
function nameHas(name: string, originals: readonly string[]): boolean {
  if (OWN_NAMES.has(name)) return false;
  if (/^[A-Z][a-z]{1,9}(?:[A-Z][a-z]*){0,3}\d?$/.test(name) && !originals.includes(name)) return false;
  return textHas(name, longOnes(originals));
}

/** Looked for by the same list each time: it is prepared once. */
const LONG_ONES = new WeakMap<readonly string[], readonly string[]>();

function longOnes(originals: readonly string[]): readonly string[] {
  const long = LONG_ONES.get(originals) ?? originals.filter((original) => original.length >= LEAST_LETTERS);
  LONG_ONES.set(originals, long);
  return long;
}

function streamHas(stream: PDFStream, originals: readonly string[]): boolean {
  const content = decoded(stream);
  if (!content) return false;
  const { strings } = cleanContent(content, true);
  // Strings of one line are cut anywhere to place their letters.
  const whole = Buffer.concat(strings).toString('latin1');
  // Data that is not text in this encoding contains short originals by chance, as UTF-16 of `empresa, o` contains
  // `são`.
  if (textHas(whole, NO_TEXT.test(whole) ? longOnes(originals) : originals)) return true;
  if (strings.some((string) => string.length > 3 && textHas(utf16(string), originals))) return true;
  return bytesHave(content, originals);
}

function bytesHave(content: Uint8Array, originals: readonly string[]): boolean {
  const bytes = Buffer.from(content.buffer, content.byteOffset, content.length);
  const texts = [bytes.toString('latin1'), utf16(bytes), utf16(bytes.subarray(1))].map(bare);
  return originals.some((original) => {
    const wanted = bare(original);
    // Digits alone are in every content: it is made of numbers.
    return wanted.length >= LEAST_LETTERS && /\p{L}/u.test(wanted) && texts.some((text) => text.includes(wanted));
  });
}

function bare(text: string): string {
  return text.replace(/\s+/g, '').toLowerCase();
}

function utf16(bytes: Buffer): string {
  return Buffer.from(bytes.subarray(0, bytes.length & ~1))
    .swap16()
    .toString('utf16le');
}
