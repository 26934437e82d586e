import { DocumentFault } from '#/ports/documents.ts';
import { openPackage, reachable, rootOf, type OfficePackage, type Part } from '../ooxml/package.ts';
import { attributeOf, childOf, elementsIn, isElement, type XmlElement } from '../ooxml/xml.ts';
import { numberFormat, type NumberFormat } from './number-format.ts';

/** A sheet of a workbook. */
interface Sheet {
  readonly part: Part;
  readonly name: string;
  readonly hidden: boolean;
}

/** A workbook, with everything needed to show its cells. */
export interface Workbook {
  readonly package: OfficePackage;
  /** In their order. */
  readonly sheets: readonly Sheet[];
  /** Texts that cells share, as the nodes of an inline string. */
  readonly shared: readonly XmlElement[];
  /** How numbers are shown, by the style of a cell. */
  readonly formats: readonly NumberFormat[];
}

const WORKSHEET = /spreadsheetml\.(?:work|chart)sheet\+xml$/;
const MAIN = /spreadsheetml\.(?:sheet|template)\.main\+xml$/;

/** Opens a workbook. Throws what `openPackage` does. */
export function openWorkbook(bytes: Uint8Array, checkTime: () => void): Workbook {
  const opened = openPackage(bytes, checkTime);
  const { main } = opened;
  if (!MAIN.test(main.type)) throw new DocumentFault('unreadable', 'the document has no workbook');
  const of = (type: string): Part | undefined => main.relations.find((relation) => relation.type === type)?.target;
  const strings = of('sharedStrings')?.xml;
  return {
    package: opened,
    sheets: sheetsOf(main),
    shared: strings ? elementsIn(strings).filter(({ local }) => local === 'si') : [],
    formats: formatsOf(of('styles')?.xml, is1904(rootOf(main))),
  };
}

/** Parts of a workbook other than sheets and texts of cells that may be kept or read, in the order they are referred to. */
export function otherParts({ package: { main, parts }, sheets }: Workbook): readonly Part[] {
  const own = new Set(sheets.map(({ part }) => part));
  const ordered = new Set([...reachable(main, () => true), ...parts]);
  return [...ordered].filter((part) => !own.has(part) && !part.type.endsWith('.sharedstrings+xml'));
}

function sheetsOf(main: Part): readonly Sheet[] {
  const listed = childOf(rootOf(main), 'sheets');
  const found = (listed ? elementsIn(listed) : []).flatMap((element): readonly Sheet[] => {
    const ids = element.attributes.filter(({ name }) => name.endsWith(':id')).map(({ text }) => text);
    const part = main.relations.find(({ id, target }) => target && ids.includes(id))?.target;
    if (!part?.xml || !WORKSHEET.test(part.type)) return [];
    const state = attributeOf(element, 'state') ?? 'visible';
    return [{ part, name: attributeOf(element, 'name') ?? '', hidden: state !== 'visible' }];
  });
  if (new Set(found.map(({ part }) => part)).size !== found.length || found.length === 0)
    throw new DocumentFault('unreadable', 'the document has no sheets, or lists one twice');
  return found;
}

function is1904(workbook: XmlElement): boolean {
  const properties = childOf(workbook, 'workbookPr');
  return /^(?:1|true)$/.test((properties && attributeOf(properties, 'date1904')) ?? '');
}

function formatsOf(styles: XmlElement | undefined, from1904: boolean): readonly NumberFormat[] {
  if (!styles) return [];
  const codes = new Map<string, string>();
  for (const element of styles.children.filter(isElement).filter(({ local }) => local === 'numFmts'))
    for (const format of elementsIn(element))
      codes.set(attributeOf(format, 'numFmtId') ?? '', attributeOf(format, 'formatCode') ?? '');
  const cells = childOf(styles, 'cellXfs');
  return (cells ? elementsIn(cells) : []).map((cell) => {
    const id = attributeOf(cell, 'numFmtId') ?? '0';
    return numberFormat(Number(id), codes.get(id), from1904);
  });
}
