import { textWithin } from '../markup.ts';
import { unescaped } from '../decode-text.ts';
import { allElements, attributeOf, elementsIn, localOf, rewrite, type XmlElement, type XmlNode } from '../ooxml/xml.ts';
import type { Search } from '../search.ts';

/** Namespaces of the format and of the programs that write it; all others are strangers'. */
const KNOWN =
  /^(?:urn:oasis:names:tc:opendocument:xmlns:[\w.:-]*|urn:org:documentfoundation:names:experimental:[\w.:-]*|http:\/\/www\.w3\.org\/(?:1999\/xlink|1998\/Math\/MathML|2001\/xml-events)|http:\/\/purl\.org\/dc\/elements\/1\.1\/|http:\/\/(?:www\.)?openoffice\.org\/\d{4}\/[\w-]{1,20})$/;
/** Programs, forms, old versions, animations, remote content, and content in separate files. */
const DROPPED = new Set(
  (
    'scripts event-listeners forms control tracked-changes change change-start change-end object object-ole applet plugin ' +
    'floating-frame binary-data dde-source dde-links dde-connection-decls animations sound shows settings par seq ' +
    'data-pilot-tables database-ranges scenario detective cell-range-source table-source alphabetical-index-auto-mark-file ' +
    'hidden-text hidden-paragraph script execute-macro meta font-face-src dc:date meta:date-string embedded-font-face ' +
    'consolidation label-ranges'
  ).split(' '),
);
/** Elements that may be in a paragraph besides text; other elements of this kind are fields filled from elsewhere. */
const INLINE = new Set(
  (
    'p h span a s tab line-break note note-citation note-body list list-item list-header page-number page-count sequence ' +
    'bookmark bookmark-start bookmark-end bookmark-ref reference-mark reference-mark-start reference-mark-end reference-ref ' +
    'sequence-ref note-ref ruby ruby-base ruby-text soft-page-break section table-of-content index-body index-title ' +
    'numbered-paragraph alphabetical-index illustration-index table-index bibliography'
  ).split(' '),
);
/** Who wrote a note, and when. */
const WHO = /^(?:creator|sender-initials|creator-initials)$/;
const WHEN = /^(?:date|date-string)$/;
const VALUES = /^(?:value|string-value|date-value|time-value|boolean-value|currency|value-type|formula)$/;
const SAFE_ADDRESS = /^(?:https?|mailto|tel|ftp):/i;
/** Another file, a service, a macro. */
const REACHES_OUT = /(?:file|https?|ftp|vnd\.sun\.star\.[\w-]+|macro|dde):/i;

/** Texts of cells, to find out later which were changed. */
export function cellTexts(root: XmlElement): ReadonlyMap<XmlElement, string> {
  const texts = new Map<XmlElement, string>();
  for (const element of allElements(root)) if (isCell(element)) texts.set(element, saidBy(element));
  return texts;
}

/**
 * Removes from a tree invisible content, foreign elements, and references out of it. A changed cell (compared with
 * `before`) keeps only its text.
 */
export function cleanTree(root: XmlElement, before: ReadonlyMap<XmlElement, string>, search: Search): void {
  const prefixes = knownPrefixes(root);
  const authors = new Map<string, number>();
  clean(root, prefixes);
  rewrite(root, (element, parent): readonly XmlNode[] => {
    const { name, local } = element;
    const [prefix = ''] = name.split(':');
    if (isDropped(element, prefixes)) return [];
    if (parent.local === 'annotation' && WHEN.test(local)) return [];
    if (parent.local === 'annotation' && WHO.test(local)) nameNobody(element, authors);
    if (/^(?:named-range|named-expression|content-validation)$/.test(local) && isBroken(element, search)) return [];
    if (prefix === 'text' && isText(parent) && !INLINE.has(local)) return element.children;
    if (local === 'a' && !keepsAddress(element, search)) return element.children;
    clean(element, prefixes);
    if (isCell(element)) settle(element, before.get(element), search);
    return [element];
  });
}

/** Whether an element goes with all that is in it. */
export function isDropped({ name, local }: XmlElement, prefixes: ReadonlySet<string>): boolean {
  const [prefix = ''] = name.split(':');
  return !prefixes.has(prefix) || DROPPED.has(local) || DROPPED.has(name);
}

/** Prefixes that stand for namespaces of the format. */
export function knownPrefixes(root: XmlElement): ReadonlySet<string> {
  const prefixes = new Set(['xml', 'xmlns']);
  for (const { attributes } of allElements(root))
    for (const { name, text } of attributes)
      if (name.startsWith('xmlns:') && KNOWN.test(text)) prefixes.add(localOf(name));
  return prefixes;
}

/** Attributes of strangers go, and those that say who has a document open, or had. */
function clean(element: XmlElement, prefixes: ReadonlySet<string>): void {
  element.attributes = element.attributes.filter(({ name, text }) => {
    const [prefix = '', local] = name.split(':');
    if (prefix === 'xmlns') return local !== undefined && prefixes.has(local);
    return local !== undefined && prefixes.has(prefix) && !(local === 'condition' && REACHES_OUT.test(text));
  });
}

function isCell({ local }: XmlElement): boolean {
  return local === 'table-cell' || local === 'covered-table-cell';
}

function isText({ local }: XmlElement): boolean {
  return /^(?:p|h|span|a|ruby-base|meta)$/.test(local);
}

function saidBy(cell: XmlElement): string {
  const values = cell.attributes.filter(({ name }) => VALUES.test(localOf(name))).map(({ text }) => text);
  return [...values, ...elementsIn(cell).map(textWithin)].join('\n');
}

function settle(cell: XmlElement, before: string | undefined, search: Search): void {
  const formula = attributeOf(cell, 'formula') ?? '';
  const value = cell.attributes.filter(({ name }) => VALUES.test(localOf(name))).map(({ text }) => text);
  const changed = before !== undefined && before !== saidBy(cell);
  if (changed || search.isIn(value.join('\n'))) {
    cell.attributes = cell.attributes.filter(({ name }) => !VALUES.test(localOf(name)));
    cell.attributes.push({ name: 'office:value-type', text: 'string' });
  } else if (REACHES_OUT.test(formula) || search.isIn(formula) || /[«»]/.test(formula))
    cell.attributes = cell.attributes.filter(({ name }) => localOf(name) !== 'formula');
}

function isBroken(element: XmlElement, search: Search): boolean {
  const said = element.attributes.map(({ text }) => text).join('\n');
  return REACHES_OUT.test(said) || /[«»]/.test(said) || search.isIn(said);
}

function nameNobody(element: XmlElement, authors: Map<string, number>): void {
  const name = textWithin(element);
  const number = authors.get(name) ?? authors.size + 1;
  authors.set(name, number);
  element.children = [{ text: element.local === 'creator' ? `Author ${number}` : `A${number}` }];
}

/** Links lead to the network, or within the document. */
function keepsAddress({ attributes }: XmlElement, search: Search): boolean {
  const address = attributes.find(({ name }) => localOf(name) === 'href')?.text ?? '';
  if (!SAFE_ADDRESS.test(address) && !address.startsWith('#')) return false;
  return !search.isIn(unescaped(address)) && !/[«»]|%C2%AB/i.test(address);
}
