import type { DocumentFile, ReadDocument, ReadOptions, RedactedDocument, RedactOptions } from '#ports/documents.ts';
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
  verifyPackage(bytes, search, checkTime);
  verifyCells(bytes, search, checkTime);
  return { bytes, mediaType: file.mediaType, pages: workbook.sheets.length, images, downgraded: false };
}

interface Read {
  readonly units: readonly SlottedUnit[];
  readonly grids: readonly ReturnType<typeof cellsOf>[];
}

function unitsOf(workbook: Workbook, checkTime: () => void): Read {
  const units: SlottedUnit[] = [];
  const grids: ReturnType<typeof cellsOf>[] = [];
  for (const [page, { part, hidden }] of workbook.sheets.entries()) {
    const root = rootOf(part);
    const grid = cellsOf(root, workbook, checkTime);
    grids.push(grid);
    for (const unit of cellUnits(grid, { page, hidden })) units.push(unit);
    const visibility = hidden ? 'hidden' : 'shown';
    const prose = proseOf(withoutCells(root), visibility);
    const others = [...prose.units, ...nameUnits(prose), ...identifierUnits(formulasOf(root))];
    units.push(...others.map((unit) => ({ ...unit, page })), ...addressUnits(part));
  }
  for (const part of otherParts(workbook)) {
    checkTime();
    const prose = part.xml && proseOf(part.xml, SHOWN.test(part.type) ? 'shown' : 'hidden');
    if (prose) units.push(...prose.units, ...nameUnits(prose));
    units.push(...addressUnits(part));
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
function verifyCells(bytes: Uint8Array, search: Search, checkTime: () => void): void {
  const workbook = openWorkbook(bytes, checkTime);
  for (const { part } of workbook.sheets) {
    const { cells } = cellsOf(rootOf(part), workbook, checkTime);
    if (search.isIn(cells.map(({ text }) => text).join('\n'))) throw leftOver();
  }
}
