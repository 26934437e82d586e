/** Text between tags. It is a slot: other text can be put there. */
export interface XmlText {
  readonly name?: undefined;
  text: string;
}

/** An attribute with its name as written. A slot, too. */
export interface XmlAttribute {
  readonly name: string;
  text: string;
}

/** An element. Names keep their prefixes; `local` is the name without. */
export interface XmlElement {
  readonly name: string;
  readonly local: string;
  attributes: XmlAttribute[];
  children: XmlNode[];
}

export type XmlNode = XmlElement | XmlText;

/** An element of this name with these children. */
export function element(name: string, attributes: Readonly<Record<string, string>>, children: XmlNode[]): XmlElement {
  return {
    name,
    local: localOf(name),
    attributes: Object.entries(attributes).map(([key, text]) => ({ name: key, text })),
    children,
  };
}

export function isElement(node: XmlNode): node is XmlElement {
  return node.name !== undefined;
}

/** Elements right within another. */
export function elementsIn({ children }: XmlElement): readonly XmlElement[] {
  return children.filter(isElement);
}

/** The first element of this local name right within another. */
export function childOf(parent: XmlElement, local: string): XmlElement | undefined {
  return elementsIn(parent).find((child) => child.local === local);
}

/** Gives a drawing a neutral name: an image has that of its original file. */
export function nameDrawing({ local, attributes }: XmlElement): void {
  if (local !== 'docPr' && local !== 'cNvPr') return;
  const id = attributes.find(({ name }) => name === 'id')?.text ?? '';
  for (const attribute of attributes) if (attribute.name === 'name') attribute.text = `Object ${id}`.trim();
}

/** The value of the attribute with this local name. */
export function attributeOf({ attributes }: XmlElement, local: string): string | undefined {
  return attributes.find(({ name }) => localOf(name) === local)?.text;
}

/** A name without its prefix. */
export function localOf(name: string): string {
  return name.slice(name.indexOf(':') + 1);
}

/** An element and all within it, in document order. */
export function* allElements(root: XmlElement): Generator<XmlElement> {
  yield root;
  for (const child of root.children) if (isElement(child)) yield* allElements(child);
}

/** Texts of an element and all within it, in document order. */
export function allTexts(root: XmlElement, texts: XmlText[] = []): XmlText[] {
  for (const child of root.children) {
    if (isElement(child)) allTexts(child, texts);
    else texts.push(child);
  }
  return texts;
}

/**
 * Puts other nodes in the places of elements within `root`, from within: `change` gives the nodes that take an element's
 * place, and the element itself where it stays.
 */
export function rewrite(
  root: XmlElement,
  change: (element: XmlElement, parent: XmlElement) => readonly XmlNode[],
): void {
  for (const child of root.children) if (isElement(child)) rewrite(child, change);
  root.children = root.children.flatMap((child) => (isElement(child) ? change(child, root) : [child]));
}

/** Of these, blanks at the ends count only when that is said. */
const KEEPS_BLANKS = new Set(['t', 'delText', 'instrText']);
const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  '\t': '&#9;',
  '\n': '&#10;',
  '\r': '&#13;',
};

/** An XML file, UTF-8, of an element and all within it. Bytes that XML cannot hold are left out. */
export function toXml(root: XmlElement): Uint8Array {
  const out: string[] = ['<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'];
  write(root, out);
  return new TextEncoder().encode(out.join(''));
}

function write(node: XmlElement, out: string[]): void {
  const { name, local, attributes, children } = node;
  let tag = `<${name}`;
  for (const attribute of attributes) tag += ` ${attribute.name}="${escape(attribute.text, /[&<>"\t\n\r]/g)}"`;
  const [only] = children;
  if (KEEPS_BLANKS.has(local) && only && !isElement(only) && /^\s|\s$/.test(only.text))
    if (attributes.every((attribute) => attribute.name !== 'xml:space')) tag += ' xml:space="preserve"';
  out.push(children.length === 0 ? `${tag}/>` : `${tag}>`);
  for (const child of children) {
    if (isElement(child)) write(child, out);
    else out.push(escape(child.text, /[&<>\r]/g));
  }
  if (children.length > 0) out.push(`</${name}>`);
}

function escape(text: string, what: RegExp): string {
  return text
    .toWellFormed()
    .replace(/(?![\t\n\r])[\p{Cc}\ufffe\uffff]/gu, '')
    .replace(what, (character) => ENTITIES[character] ?? character);
}
