import {
  DocumentFault,
  type DocumentFile,
  type ReadDocument,
  type ReadOptions,
  type RedactedDocument,
  type RedactOptions,
} from '#/ports/documents.ts';
import type { Format, Tools } from '../format.ts';
import { reachable, rootOf } from '../ooxml/package.ts';
import { addressUnits, nameUnits, proseOf } from '../ooxml/prose.ts';
import { sweepPart, verifyPackage } from '../ooxml/verify.ts';
import { writePackage } from '../ooxml/write-package.ts';
import type { XmlElement } from '../ooxml/xml.ts';
import { identifierUnits } from '../identifiers.ts';
import { leftOver, Search } from '../search.ts';
import { checkLayout, inOrder, layoutOf, replaceIn, toTextUnits, type SlottedUnit } from '../slots.ts';
import { cellsOf, cellUnits, formulasOf } from './cells.ts';
import { cleanWorkbook, nameSheets } from './clean.ts';
import { KEPT, SHOWN } from './kept-parts.ts';
import { openWorkbook, otherParts, type Workbook } from './workbook.ts';

/** Workbooks (.xlsx, .xltx). A cell is a unit, as it shows its value; comments, pivot tables and tables are left out. */
export const spreadsheet: Format = { read, redact };

/** With something in them, of a whole workbook: to rewrite so many takes a gigabyte. */
const MAX_CELLS = 200_000;
/** That cells show together: one text that is stored once may be shown by each of them. */
const MAX_LETTERS = 64 * 1024 * 1024;

async function read(file: DocumentFile, _: ReadOptions, tools: Tools): Promise<ReadDocument> {
  const checkTime = (): void => tools.checkTime();
  const workbook = openWorkbook(file.bytes, checkTime);
  const { units } = unitsOf(workbook, checkTime);
  return {
    kind: 'spreadsheet',
    pages: workbook.sheets.length,
    images: reachable(workbook.package.main, () => true).filter(({ type }) => type.startsWith('image/')).length,
    units: toTextUnits(units),
    recognizedPages: [],
    layout: layoutOf(units),
  };
}

async function redact(file: DocumentFile, options: RedactOptions, tools: Tools): Promise<RedactedDocument> {
  const checkTime = (): void => tools.checkTime();
  const { search, ...written } = await rewrite(file, options, checkTime);
  // The first workbook is released: both at once would need too much memory.
  const again = openWorkbook(written.bytes, checkTime);
  verifyPackage(again.package, search, checkTime);
  verifyCells(again, search, checkTime);
  return { ...written, mediaType: file.mediaType, downgraded: false };
}

async function rewrite(
  file: DocumentFile,
  options: RedactOptions,
  checkTime: () => void,
): Promise<Pick<RedactedDocument, 'bytes' | 'images' | 'pages'> & { readonly search: Search }> {
  const workbook = openWorkbook(file.bytes, checkTime);
  const { units, grids } = unitsOf(workbook, checkTime);
  checkLayout(options.layout, units);
  const search = new Search(options, units);
  for (const { cells } of grids) for (const cell of cells) cell.unshare();
  replaceIn(units, options.replacements);
  cleanWorkbook(workbook, search);
  for (const { cells } of grids) {
    search.sweep(cells.map((cell) => [cell]));
    search.sweep(cells.map(({ raw }) => [raw]));
  }
  for (const part of reachable(workbook.package.main, () => true)) {
    checkTime();
    if (part.xml) sweepPart(part.xml, search);
  }
  for (const { cells } of grids) for (const cell of cells) cell.settle();
  nameSheets(workbook);
  const { bytes, images } = await writePackage(workbook.package, KEPT, search, checkTime);
  return { bytes, images, pages: workbook.sheets.length, search };
}

interface Read {
  readonly units: readonly SlottedUnit[];
  readonly grids: readonly ReturnType<typeof cellsOf>[];
}

function unitsOf(workbook: Workbook, checkTime: () => void): Read {
  const units: SlottedUnit[] = [];
  const grids: ReturnType<typeof cellsOf>[] = [];
  let count = 0;
  let letters = 0;
  for (const [page, { part, hidden }] of workbook.sheets.entries()) {
    const root = rootOf(part);
    const grid = cellsOf(root, workbook, checkTime);
    grids.push(grid);
    count += grid.cells.length;
    if (count > MAX_CELLS)
      throw new DocumentFault('too_large', `the workbook has more than ${MAX_CELLS / 1000},000 cells: split it`);
    for (const { text } of grid.cells) letters += text.length;
    if (letters > MAX_LETTERS)
      throw new DocumentFault('too_large', 'the cells of the workbook show too much text: split it');
    for (const unit of cellUnits(grid, { page, hidden })) units.push(unit);
    const visibility = hidden ? 'hidden' : 'shown';
    const prose = proseOf(withoutCells(root), visibility);
    const others = [...prose.units, ...nameUnits(prose), ...identifierUnits(formulasOf(root))];
    for (const unit of others) units.push({ ...unit, page });
    for (const unit of addressUnits(part)) units.push(unit);
  }
  for (const part of otherParts(workbook)) {
    checkTime();
    const prose = part.xml && proseOf(part.xml, SHOWN.test(part.type) ? 'shown' : 'hidden');
    if (prose) for (const unit of [...prose.units, ...nameUnits(prose)]) units.push(unit);
    for (const one of addressUnits(part)) units.push(one);
  }
  return { units: inOrder(units), grids };
}

function withoutCells(root: XmlElement): XmlElement {
  return {
    ...root,
    children: root.children.filter((child) => child.name === undefined || child.local !== 'sheetData'),
  };
}

/** What cells show is not always what the file says: a number may be shown as an account. */
function verifyCells(workbook: Workbook, search: Search, checkTime: () => void): void {
  for (const { part } of workbook.sheets) {
    const { cells } = cellsOf(rootOf(part), workbook, checkTime);
    if (search.isIn(cells.map(({ text }) => text).join('\n'))) throw leftOver();
  }
}
