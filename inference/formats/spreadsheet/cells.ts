import { allTexts, attributeOf, childOf, element, elementsIn, type XmlElement, type XmlNode } from '../ooxml/xml.ts';
import type { Slot, SlottedUnit } from '../slots.ts';
import type { Workbook } from './workbook.ts';

/** A cell as a slot: what it shows. Given another text, it holds that and nothing else: no number, formula or format of letters. */
class Cell implements Slot {
  readonly #element: XmlElement;
  readonly #workbook: Workbook;
  #text: string;

  constructor(cell: XmlElement, workbook: Workbook) {
    this.#element = cell;
    this.#workbook = workbook;
    this.#text = shownIn(cell, workbook);
  }

  get text(): string {
    return this.#text;
  }

  set text(text: string) {
    this.#text = text;
    write(this.#element, [element(nameLike(this.#element, 't'), {}, [{ text }])]);
  }

  /** A text that was shared becomes the cell's own, with its formats. */
  unshare(): void {
    if (attributeOf(this.#element, 't') !== 's') return;
    const shared = this.#workbook.shared[Number(valueOf(this.#element))];
    // Its phonetic reading is not part of the shown text.
    const nodes = (shared?.children ?? []).filter((node) => node.name === undefined || /^(?:t|r)$/.test(node.local));
    write(this.#element, nodes.map(copy));
  }

  /** What the file says before it is shown, such as the number of a day. As a slot it is the same cell. */
  get raw(): Slot {
    const put = (text: string): void => {
      this.text = text;
    };
    const value = valueOf(this.#element);
    return {
      get text() {
        return value;
      },
      set text(text) {
        put(text);
      },
    };
  }

  /** Whatever was put into a number makes it a text. */
  settle(): void {
    const type = attributeOf(this.#element, 't') ?? 'n';
    const value = valueOf(this.#element);
    if (type === 'inlineStr' || type === 'str' || value === '' || Number.isFinite(Number(value))) return;
    if (!/^(?:e|d)$/.test(type) || /[«»]/.test(value)) this.text = value;
  }
}

function copy(node: XmlNode): XmlNode {
  if (node.name === undefined) return { text: node.text };
  return { ...node, attributes: node.attributes.map((own) => ({ ...own })), children: node.children.map(copy) };
}

/** The cells of a sheet, row by row, each a unit. */
export function cellsOf(
  root: XmlElement,
  workbook: Workbook,
  checkTime: () => void,
): { readonly cells: readonly Cell[]; readonly hidden: readonly boolean[] } {
  const cells: Cell[] = [];
  const hidden: boolean[] = [];
  const columns = hiddenColumns(root);
  for (const data of elementsIn(root).filter(({ local }) => local === 'sheetData')) {
    for (const [index, row] of elementsIn(data).entries()) {
      if (index % 1000 === 0) checkTime();
      const unseen = isTrue(attributeOf(row, 'hidden'));
      for (const cell of elementsIn(row)) {
        if (cell.local !== 'c' || cell.children.length === 0) continue;
        cells.push(new Cell(cell, workbook));
        hidden.push(unseen || (columns.length > 0 && isIn(columns, attributeOf(cell, 'r') ?? '')));
      }
    }
  }
  return { cells, hidden };
}

/** Formulas of a sheet in which something is written: texts, names, other sheets. */
export function formulasOf(root: XmlElement): ReadonlySet<string> {
  const formulas = new Set<string>();
  for (const data of elementsIn(root).filter(({ local }) => local === 'sheetData'))
    for (const row of elementsIn(data))
      for (const cell of elementsIn(row)) {
        const formula = childOf(cell, 'f');
        const text = formula ? textIn(formula) : '';
        if (/["'@_]/.test(text)) formulas.add(text);
      }
  return formulas;
}

/** Cells as units of a page. */
export function cellUnits(
  { cells, hidden }: ReturnType<typeof cellsOf>,
  sheet: { readonly page: number; readonly hidden: boolean },
): readonly SlottedUnit[] {
  return cells.map((cell, index) => ({
    slots: [cell],
    visibility: sheet.hidden || hidden[index] ? 'hidden' : 'shown',
    page: sheet.page,
  }));
}

function shownIn(cell: XmlElement, { shared, formats }: Workbook): string {
  const value = valueOf(cell);
  switch (attributeOf(cell, 't')) {
    case 's':
      return stringOf(shared[Number(value)]);
    case 'inlineStr':
      return stringOf(childOf(cell, 'is'));
    case 'b':
      return value === '1' ? 'TRUE' : 'FALSE';
    case 'str':
    case 'e':
    case 'd':
      return value;
    default:
      return (formats[Number(attributeOf(cell, 's') ?? 0)] ?? String)(value);
  }
}

/** The texts of a string, without how it is spoken. */
function stringOf(string: XmlElement | undefined): string {
  if (!string) return '';
  return elementsIn(string)
    .filter(({ local }) => local === 't' || local === 'r')
    .flatMap((node) => allTexts(textOfRun(node)))
    .map(({ text }) => text)
    .join('');
}

/** Of a run only its text: its properties have none. */
function textOfRun(node: XmlElement): XmlElement {
  return node.local === 'r' ? (childOf(node, 't') ?? element('t', {}, [])) : node;
}

function valueOf(cell: XmlElement): string {
  const value = childOf(cell, 'v');
  return value ? textIn(value) : '';
}

function textIn(parent: XmlElement): string {
  return allTexts(parent)
    .map(({ text }) => text)
    .join('');
}

function write(cell: XmlElement, string: XmlNode[]): void {
  cell.attributes = cell.attributes.filter(({ name }) => name !== 't');
  cell.attributes.push({ name: 't', text: 'inlineStr' });
  cell.children = [element(nameLike(cell, 'is'), {}, string)];
}

/** A name with the prefix that an element has. */
function nameLike({ name }: XmlElement, wanted: string): string {
  return name.slice(0, name.lastIndexOf(':') + 1) + wanted;
}

type Columns = readonly { readonly from: number; readonly to: number }[];

function hiddenColumns(root: XmlElement): Columns {
  const columns = childOf(root, 'cols');
  return (columns ? elementsIn(columns) : [])
    .filter((column) => isTrue(attributeOf(column, 'hidden')))
    .map((column) => ({ from: Number(attributeOf(column, 'min')), to: Number(attributeOf(column, 'max')) }));
}

function isIn(columns: Columns, reference: string): boolean {
  let number = 0;
  for (const letter of /^[A-Z]{1,3}/i.exec(reference)?.[0].toUpperCase() ?? '')
    number = number * 26 + letter.charCodeAt(0) - 64;
  return columns.some(({ from, to }) => from <= number && number <= to);
}

function isTrue(value: string | undefined): boolean {
  return value === '1' || value === 'true';
}
