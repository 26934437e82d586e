import {
  DocumentFault,
  type DocumentFile,
  type ReadDocument,
  type ReadOptions,
  type RedactedDocument,
  type RedactOptions,
} from '#/ports/documents.ts';
import type { Format, Tools } from '../format.ts';
import { isInTree, judgedText, sweepTree, unitsIn, type Said } from '../markup.ts';
import { allElements, type XmlElement } from '../ooxml/xml.ts';
import { leftOver, Search } from '../search.ts';
import { checkLayout, inOrder, layoutOf, replaceIn, toTextUnits, type SlottedUnit } from '../slots.ts';
import { cellTexts, cleanTree } from './clean.ts';
import { openDocumentPackage, type OpenPackage } from './package.ts';
import { unseenStyles, vocabularyOf } from './vocabulary.ts';
import { writeOpenDocument } from './write.ts';

/** Texts, sheets and slides of OpenDocument (.odt, .ods, .odp). Revisions are accepted, notes keep numbers for authors. */
export const opendocument: Format = { read, redact };

const PICTURE = /^(?:Pictures|media)\/.|\.(?:png|jpe?g|gif|tiff?|webp|svg|[ew]mf)$/i;
/** With something in them, as in other workbooks: each may be repeated, which takes no room here. */
const MAX_CELLS = 200_000;

async function read(file: DocumentFile, _: ReadOptions, tools: Tools): Promise<ReadDocument> {
  const opened = open(file.bytes, tools);
  const units = unitsOf(opened);
  return {
    kind: 'opendocument',
    pages: pagesOf(opened),
    images: [...opened.entries.keys()].filter((name) => PICTURE.test(name) && !name.startsWith('Thumbnails/')).length,
    units: toTextUnits(units),
    recognizedPages: [],
    layout: layoutOf(units),
  };
}

async function redact(file: DocumentFile, options: RedactOptions, tools: Tools): Promise<RedactedDocument> {
  const checkTime = (): void => tools.checkTime();
  const opened = open(file.bytes, tools);
  const pages = pagesOf(opened);
  const units = unitsOf(opened);
  checkLayout(options.layout, units);
  const search = new Search(options, units);
  const trees = treesOf(opened);
  const before = trees.map(cellTexts);
  replaceIn(units, options.replacements);
  for (const said of saidInAll(trees)) sweepTree(said, search);
  for (const [at, tree] of trees.entries()) {
    checkTime();
    cleanTree(tree, before[at] ?? new Map(), search);
  }
  // Once more: removed text may have separated two halves.
  for (const said of saidInAll(trees)) sweepTree(said, search);
  const { bytes, images } = await writeOpenDocument(opened, file.mediaType, checkTime);
  const again = openDocumentPackage(bytes, checkTime);
  for (const said of saidInAll(treesOf(again))) if (isInTree(said, search)) throw leftOver();
  if (again.others.length > 0) throw leftOver();
  return { bytes, mediaType: file.mediaType, pages, images, downgraded: false };
}

function open(bytes: Uint8Array, tools: Tools): OpenPackage {
  const opened = openDocumentPackage(bytes, () => tools.checkTime());
  let cells = 0;
  for (const { local, children } of allElements(opened.content))
    if (local === 'table-cell' && children.length > 0 && ++cells > MAX_CELLS)
      throw new DocumentFault('too_large', `the workbook has more than ${MAX_CELLS / 1000},000 cells: split it`);
  return opened;
}

function treesOf({ content, styles }: OpenPackage): readonly XmlElement[] {
  return styles ? [content, styles] : [content];
}

function unitsOf(opened: OpenPackage): readonly SlottedUnit[] {
  return inOrder([...saidInAll(treesOf(opened)), ...saidInAll(opened.others, 'hidden')].flatMap(unitsIn));
}

function saidInAll(trees: readonly XmlElement[], visibility: SlottedUnit['visibility'] = 'shown'): readonly Said[] {
  const unseen = unseenStyles(trees);
  return trees.map((tree) => judgedText(tree, vocabularyOf(tree, unseen), visibility));
}

/** Sheets or slides; a text is one. */
function pagesOf({ content }: OpenPackage): number {
  for (const { local, children } of allElements(content)) {
    const own = (wanted: string): number =>
      children.filter((child) => child.name !== undefined && child.local === wanted).length;
    if (local === 'spreadsheet') return Math.max(1, own('table'));
    if (local === 'presentation') return Math.max(1, own('page'));
  }
  return 1;
}
