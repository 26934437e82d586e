import { unescaped } from '../decode-text.ts';
import { attributeKind, isDropped, SAFE_ADDRESS, SAFE_STYLE } from '../html/allowed.ts';
import { localOf, rewrite, type XmlAttribute, type XmlElement, type XmlNode } from '../ooxml/xml.ts';
import type { Search } from '../search.ts';

const XHTML = 'http://www.w3.org/1999/xhtml';
const OPS = 'http://www.idpf.org/2007/ops';
/** Parts of books that readers tell apart. */
const PART = /^(?:toc|landmarks|page-list|noteref|footnote|endnote|bodymatter|frontmatter|backmatter|chapter|cover)$/;

/** What chapters may refer to, by what they call it. */
export interface Places {
  readonly names: ReadonlyMap<string, string>;
  readonly search: Search;
}

/**
 * Keeps only the visible parts of a chapter: known elements and attributes, links within the book or to the network,
 * its images.
 */
export function cleanChapter(root: XmlElement, places: Places): void {
  cleanElement(root, places);
  root.attributes.push({ name: 'xmlns', text: XHTML }, { name: 'xmlns:epub', text: OPS });
  rewrite(root, (element): readonly XmlNode[] => {
    if (isDropped(element.local) || isDropped(element.name)) return [];
    cleanElement(element, places);
    const isPicture = element.local === 'img';
    return isPicture && !element.attributes.some(({ name }) => name === 'src') ? [] : [element];
  });
}

function cleanElement(element: XmlElement, places: Places): void {
  element.attributes = element.attributes.flatMap((attribute): readonly XmlAttribute[] => {
    const { name, text } = attribute;
    if (name === 'epub:type') return PART.test(text) ? [attribute] : [];
    if (name === 'xml:lang') return [attribute];
    if (name.includes(':') || name === 'xmlns') return [];
    const kind = attributeKind(element.local, localOf(name));
    if (kind === 'style') return SAFE_STYLE.test(text) ? [attribute] : [];
    if (kind === 'source') {
      const picture = places.names.get(text);
      return picture === undefined ? [] : [{ name, text: picture }];
    }
    if (kind === 'address') return addressOf(text, places).map((address) => ({ name, text: address }));
    return kind === undefined ? [] : [attribute];
  });
}

function addressOf(text: string, { names, search }: Places): readonly string[] {
  const [name = ''] = text.split('#');
  // Marks are identifiers, which were swept like those that they point to.
  if (text.startsWith('#') || names.has(name)) return [text];
  if (!SAFE_ADDRESS.test(text.trim()) || /[«»]|%C2%AB/i.test(text) || search.isIn(unescaped(text))) return [];
  return [text];
}
