import { reachable } from '../ooxml/package.ts';
import {
  allTexts,
  attributeOf,
  elementsIn,
  isElement,
  localOf,
  nameDrawing,
  rewrite,
  type XmlElement,
  type XmlNode,
} from '../ooxml/xml.ts';
import type { Search } from '../search.ts';
import type { Workbook } from './workbook.ts';

/** Settings of who may and did write, of servers and scenarios, and what extensions keep for themselves. */
const DROPPED =
  /^(?:fileVersion|fileSharing|workbookProtection|sheetProtection|protectedRanges|scenarios|customWorkbookViews|customSheetViews|fileRecoveryPr|webPublishing|webPublishObjects|webPublishItems|smartTagPr|smartTagTypes|smartTags|cellSmartTags|customProperties|functionGroups|volTypes|extLst|phoneticPr|rPh|revisionPtr|absPath|dataConsolidate|legacyDrawing|legacyDrawingHF|AlternateContent|oleObjects|controls)$/;
/** What edits are known by, and what refers to parts that are not kept. */
const TRACES = /^(?:uid|cm|vm|codeName|dataExtractLoad)$/;
/** Another file, or a column of a table. */
const REACHES_OUT = /\[/;

/**
 * Removes invisible parts of a workbook, and every formula that names an original or refers outside: its
 * last result stays.
 */
export function cleanWorkbook({ package: { main }, sheets }: Workbook, search: Search): void {
  const cellParts = new Set(sheets.map(({ part }) => part));
  for (const part of reachable(main, () => true)) {
    if (!part.xml) continue;
    if (cellParts.has(part)) dropFormulas(part.xml, search);
    const drawn = /drawing|theme/.test(part.type);
    for (const child of drawn ? [] : elementsIn(part.xml)) if (child.local !== 'sheetData') clean(child, search);
    if (!drawn)
      part.xml.children = part.xml.children.filter(
        (child) => !isElement(child) || !(DROPPED.test(child.local) || isBroken(child, search)),
      );
    dropTraces(part.xml);
  }
}

function clean(root: XmlElement, search: Search): void {
  rewrite(root, (element): readonly XmlNode[] =>
    DROPPED.test(element.local) || isBroken(element, search) ? [] : [element],
  );
}

/** A name or rule whose formula cannot stay. */
function isBroken(element: XmlElement, search: Search): boolean {
  if (!/^(?:definedName|dataValidation|cfRule)$/.test(element.local)) return false;
  const name = element.local === 'definedName' ? (attributeOf(element, 'name') ?? '') : '';
  const formula = `${name}\n${allTexts(element)
    .map(({ text }) => text)
    .join('\n')}`;
  return REACHES_OUT.test(formula) || /[«»]/.test(formula) || search.isIn(formula);
}

function dropFormulas(root: XmlElement, search: Search): void {
  const broken = new Set<string>();
  const cells = elementsIn(root)
    .filter(({ local }) => local === 'sheetData')
    .flatMap((data) => elementsIn(data).flatMap((row) => elementsIn(row)))
    .flatMap((cell) => elementsIn(cell).flatMap((child) => (child.local === 'f' ? [{ cell, formula: child }] : [])));
  const texts = cells.map(({ formula }) =>
    allTexts(formula)
      .map(({ text }) => text)
      .join(''),
  );
  // One search over all of them first: most workbooks have none to drop.
  const suspected = search.isIn(texts.join('\n'));
  const drop = cells.filter(({ formula }, index) => {
    const text = texts[index] ?? '';
    const bad = REACHES_OUT.test(text) || attributeOf(formula, 't') === 'dataTable' || (suspected && search.isIn(text));
    if (bad) broken.add(attributeOf(formula, 'si') ?? '');
    return bad;
  });
  const orphans = cells.filter(({ formula }) => broken.has(attributeOf(formula, 'si') ?? '-'));
  for (const { cell, formula } of [...drop, ...orphans])
    cell.children = cell.children.filter((child) => child !== formula);
}

function dropTraces(element: XmlElement): void {
  nameDrawing(element);
  if (element.attributes.some(({ name }) => TRACES.test(localOf(name))))
    element.attributes = element.attributes.filter(({ name }) => !TRACES.test(localOf(name)));
  for (const child of element.children) if (isElement(child)) dropTraces(child);
}

/** Gives sheets names that may be: short, without signs that formulas use, and each another. */
export function nameSheets({ package: { main } }: Workbook): void {
  const names = new Set<string>();
  const lists = main.xml ? elementsIn(main.xml).filter(({ local }) => local === 'sheets') : [];
  for (const sheet of lists.flatMap(elementsIn)) {
    const name = sheet.attributes.find((attribute) => localOf(attribute.name) === 'name');
    if (!name) continue;
    const base = name.text.replace(/[[\]:*?/\\]/g, '_').slice(0, 31);
    let unique = base || 'Sheet';
    for (let count = 2; names.has(unique.toLowerCase()); count++) unique = `${base.slice(0, 26)} ${count}`;
    names.add(unique.toLowerCase());
    name.text = unique;
  }
}
