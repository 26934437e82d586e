import {
  PDFArray,
  PDFDict,
  PDFName,
  PDFRawStream,
  PDFRef,
  PDFStream,
  type PDFContext,
  type PDFDocument,
} from '@cantoo/pdf-lib';
import { cleanContent } from './content.ts';
import { anonymizeFonts } from './fonts.ts';
import { decoded } from './streams.ts';
import { dictOf, reachable } from './structure.ts';

/** All that is kept of a page, and of the catalog. */
const OF_PAGE: ReadonlySet<string> = new Set([
  ...['Type', 'Parent', 'Resources', 'MediaBox', 'CropBox', 'Contents', 'Rotate', 'Group', 'UserUnit'],
]);
const OF_CATALOG: ReadonlySet<string> = new Set(['Type', 'Pages', 'Version']);
/** Of a drawing that pages use: TeX also writes the original file and its author. */
const OF_FORM: ReadonlySet<string> = new Set([
  ...['Type', 'Subtype', 'FormType', 'BBox', 'Matrix', 'Resources', 'Group', 'Filter', 'DecodeParms', 'Length'],
]);
/** Keys to remove from any other object: not needed to draw it, or they make the drawing depend on the viewer. */
const DROPPED = [
  ...['Metadata', 'PieceInfo', 'StructParents', 'StructParent', 'Thumb', 'AA', 'LastModified', 'OPI', 'Properties'],
  ...['Alternates', 'Annots', 'ActualText', 'PtData'],
].map((name) => PDFName.of(name));
/** The same, of what says what it is: where names are free, these may be names. */
const DROPPED_OF_TYPED = ['A', 'OC', 'Alt', 'ID', 'Measure', 'Ref', 'AF'].map((name) => PDFName.of(name));
/** Kinds of resources of which those go that no operator names. */
const NAMED = ['XObject', 'Pattern', 'Font', 'Shading', 'ExtGState'].map((name) => PDFName.of(name));

const [TYPE, SUBTYPE, RESOURCES, CONTENTS] = ['Type', 'Subtype', 'Resources', 'Contents'].map((name) =>
  PDFName.of(name),
) as [PDFName, PDFName, PDFName, PDFName];
const [CHAR_PROCS, PATTERN_TYPE, FORM] = ['CharProcs', 'PatternType', 'Form'].map((name) => PDFName.of(name)) as [
  PDFName,
  PDFName,
  PDFName,
];

/** Leaves of a document what draws its pages, and nothing else. Says how many pictures stood in content. */
export function stripDocument(document: PDFDocument): { readonly inlinePictures: number } {
  const { context, catalog } = document;
  keepOnly(catalog, OF_CATALOG);
  delete context.trailerInfo.Info;
  delete context.trailerInfo.ID;
  delete context.trailerInfo.Encrypt;
  for (const { node } of document.getPages()) keepOnly(node, OF_PAGE);
  for (const [, object] of context.enumerateIndirectObjects()) {
    if (object === catalog) continue;
    dropFrom(object, 0);
  }
  anonymizeFonts(context);
  const inlinePictures = cleanContents(document);
  dropUnreachable(document);
  return { inlinePictures };
}

/** Removes all objects that nothing refers to. */
export function dropUnreachable({ context }: PDFDocument): void {
  const { Root: root } = context.trailerInfo;
  const kept = reachable(context, root ? [root] : []);
  for (const [ref] of context.enumerateIndirectObjects()) if (!kept.has(ref)) context.delete(ref);
}

function keepOnly(dict: PDFDict, names: ReadonlySet<string>): void {
  for (const key of dict.keys()) if (!names.has(key.decodeText())) dict.delete(key);
}

function dropFrom(object: unknown, depth: number): void {
  const dict = object instanceof PDFDict || object instanceof PDFStream ? dictOf(object) : undefined;
  if (!dict || depth > 20) return;
  for (const key of DROPPED) dict.delete(key);
  if (dict.get(SUBTYPE) === FORM) keepOnly(dict, OF_FORM);
  if (dict.has(TYPE) || dict.has(SUBTYPE)) for (const key of DROPPED_OF_TYPED) dict.delete(key);
  for (const value of dict.values()) if (value instanceof PDFDict) dropFrom(value, depth + 1);
}

interface Content {
  readonly resources: PDFDict | undefined;
  readonly names: ReadonlySet<string>;
}

/** Removes invisible parts from all content, and resources that it does not name. */
function cleanContents(document: PDFDocument): number {
  const { context } = document;
  const contents: Content[] = [];
  let inlinePictures = 0;
  for (const { node } of document.getPages()) {
    const { bytes, ...found } = cleanContent(pageContent(context, node));
    inlinePictures += found.inlinePictures;
    node.set(CONTENTS, context.register(context.flateStream(bytes)));
    contents.push({ resources: node.Resources(), names: found.names });
  }
  for (const [ref, object] of context.enumerateIndirectObjects()) {
    if (object instanceof PDFRawStream && isContent(object.dict)) {
      const found = cleanStream(context, ref, object, false);
      inlinePictures += found.inlinePictures;
      contents.push(found);
    }
    const glyphs = context.lookup(dictOf(object)?.get(CHAR_PROCS));
    if (!(glyphs instanceof PDFDict)) continue;
    for (const glyph of glyphs.values()) {
      const stream = context.lookup(glyph);
      if (glyph instanceof PDFRef && stream instanceof PDFRawStream) {
        const { names } = cleanStream(context, glyph, stream, true);
        contents.push({ names, resources: dictOf(context.lookup(dictOf(object)?.get(RESOURCES))) });
      }
    }
  }
  dropUnnamed(context, contents);
  return inlinePictures;
}

/** The parts of a page's content are one, cut anywhere between two words. */
function pageContent(context: PDFContext, node: PDFDict): Uint8Array {
  const contents = context.lookup(node.get(CONTENTS));
  const streams = contents instanceof PDFStream ? [contents] : [];
  for (const part of contents instanceof PDFArray ? contents.asArray() : []) {
    const stream = context.lookup(part);
    if (stream instanceof PDFStream) streams.push(stream);
  }
  return Buffer.concat(streams.flatMap((stream) => [decoded(stream) ?? new Uint8Array(), Buffer.from('\n')]));
}

function isContent(dict: PDFDict): boolean {
  return dict.get(SUBTYPE) === FORM || dict.has(PATTERN_TYPE);
}

function cleanStream(context: PDFContext, ref: PDFRef, stream: PDFRawStream, keepPictures: boolean) {
  const source = decoded(stream);
  const found = cleanContent(source ?? new Uint8Array(), keepPictures);
  // Shadings are no content, though they are patterns.
  if (source) {
    const clean = context.flateStream(found.bytes);
    for (const [key, value] of stream.dict.entries())
      if (!['Filter', 'DecodeParms', 'Length'].includes(key.decodeText())) clean.dict.set(key, value);
    context.assign(ref, clean);
  }
  return { resources: dictOf(context.lookup(stream.dict.get(RESOURCES))), ...found };
}

function dropUnnamed(context: PDFContext, contents: readonly Content[]): void {
  // Content without resources uses those of whatever draws it.
  const anywhere = new Set(contents.filter(({ resources }) => !resources).flatMap(({ names }) => [...names]));
  const named = new Map<PDFDict, Set<string>>();
  for (const { resources, names } of contents) {
    if (!resources) continue;
    for (const kind of NAMED) {
      const entries = context.lookup(resources.get(kind));
      if (!(entries instanceof PDFDict)) continue;
      const all = named.get(entries) ?? new Set(anywhere);
      for (const name of names) all.add(name);
      named.set(entries, all);
    }
  }
  for (const [entries, names] of named)
    for (const key of entries.keys()) if (!names.has(key.decodeText())) entries.delete(key);
}
