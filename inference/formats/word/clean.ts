import { reachable, type OfficePackage, type Part } from '../ooxml/package.ts';
import { allElements, isElement, localOf, nameDrawing, rewrite, type XmlElement, type XmlNode } from '../ooxml/xml.ts';
import { disarmFields } from './fields.ts';
import { SETTINGS } from './kept-parts.ts';

/** Marks of who changed what, when, and of what programs know of a document; nothing that is seen. */
const MARKS =
  /PrChange$|^(?:tblGridChange|numberingChange|cellIns|cellDel|cellMerge|moveFromRange(?:Start|End)|moveToRange(?:Start|End)|customXml(?:Ins|Del|MoveFrom|MoveTo)Range(?:Start|End)|proofErr|permStart|permEnd|dataBinding|placeholder|entryMacro|exitMacro|delText|delInstrText|smartTagPr|customXmlPr|docVars|attachedTemplate|dataModelExt|fldData|embed(?:Regular|Bold|Italic|BoldItalic))$/;
/** Identifiers by which edits of a person are known, when they were made, and copies of drawings for other programs. */
const TRACES =
  /^(?:rsid\w*|paraId(?:Parent)?|textId|durableId|date|dateUtc|userId|providerId|editId|anchorId|gfxdata)$/;

/**
 * Removes invisible parts of a document: deleted text and marks of revisions, which are accepted; names of
 * authors, which become numbers; settings, fields and bindings that reach out of it.
 */
export function cleanDocument({ main }: OfficePackage): void {
  const authors = new Map<string, number>();
  for (const part of reachable(main, () => true)) {
    if (!part.xml) continue;
    if (isSettings(part)) keepSettings(part.xml);
    acceptRevisions(part.xml);
    disarmFields(part.xml);
    for (const element of allElements(part.xml)) nameNobody(element, authors);
  }
}

function isSettings({ type }: Part): boolean {
  return type.endsWith('wordprocessingml.settings+xml');
}

function keepSettings(root: XmlElement): void {
  root.children = root.children.filter((child) => isElement(child) && SETTINGS.has(child.local));
}

function acceptRevisions(root: XmlElement): void {
  const deletedRows = new WeakSet<XmlElement>();
  rewrite(root, (element, parent): readonly XmlNode[] => {
    const { local, children } = element;
    if (MARKS.test(local)) return [];
    switch (local) {
      case 'del':
        if (parent.local === 'trPr') deletedRows.add(parent);
        return [];
      case 'moveFrom':
        return [];
      case 'ins':
      case 'moveTo':
      case 'smartTag':
      case 'customXml':
        return children;
      case 'trPr':
        if (deletedRows.has(element)) deletedRows.add(parent);
        return [element];
      case 'tr':
        return deletedRows.has(element) ? [] : [element];
      case 'tbl':
        return children.some((child) => isElement(child) && child.local === 'tr') || hadNoRows(element)
          ? [element]
          : [];
      default:
        return [element];
    }
  });
}

/** A table whose rows stand within something else, such as a content control. */
function hadNoRows({ children }: XmlElement): boolean {
  return children.some((child) => isElement(child) && !['tblPr', 'tblGrid'].includes(child.local));
}

function nameNobody(element: XmlElement, authors: Map<string, number>): void {
  element.attributes = element.attributes.filter(({ name }) => !TRACES.test(localOf(name)));
  nameDrawing(element);
  const author = element.attributes.find(({ name }) => localOf(name) === 'author');
  const number = authors.get(author?.text ?? '') ?? authors.size + 1;
  if (author) authors.set(author.text, number);
  for (const attribute of element.attributes) if (localOf(attribute.name) === 'initials') attribute.text = `A${number}`;
  if (author) author.text = `Author ${number}`;
}
