import { defaultTreeAdapter, html as htmlNames, parse, type DefaultTreeAdapterTypes } from 'parse5';
import { DocumentFault } from '#/ports/documents.ts';

export type Node = DefaultTreeAdapterTypes.ChildNode;
export type Element = DefaultTreeAdapterTypes.Element;
export type Parent = DefaultTreeAdapterTypes.ParentNode;
export type Document = DefaultTreeAdapterTypes.Document;

const MAX_NODES = 100_000;
/** Elements in each other: what reads or writes a tree goes as deep. */
const MAX_DEPTH = 400;
/** Of one element. */
const MAX_ATTRIBUTES = 512;
const CHECK_EVERY = 5000;

/** Parses HTML as browsers without scripts do. Throws `too_large` for a tree that is too deep, has too many nodes, or an element with too many attributes. */
export function parseHtml(text: string, checkTime: () => void): Document {
  const depths = new Map<Parent, number>();
  let nodes = 0;
  const grown = (parent: Parent, child?: Node): void => {
    if (++nodes % CHECK_EVERY === 0) checkTime();
    const depth = (depths.get(parent) ?? 0) + 1;
    if (nodes > MAX_NODES || depth > MAX_DEPTH)
      throw new DocumentFault('too_large', 'the document has too many elements, or they are nested too deeply');
    if (child && 'childNodes' in child) depths.set(child, depth);
  };
  return parse(text, {
    scriptingEnabled: false,
    treeAdapter: {
      ...defaultTreeAdapter,
      createElement: (name, namespace, attributes) => {
        boundAttributes(attributes.length);
        return defaultTreeAdapter.createElement(name, namespace, attributes);
      },
      // Each further <html> and <body> gives its attributes to the first one.
      adoptAttributes: (recipient, attributes) => {
        boundAttributes(recipient.attrs.length + attributes.length);
        defaultTreeAdapter.adoptAttributes(recipient, attributes);
      },
      appendChild: (parent, child) => {
        grown(parent, child);
        defaultTreeAdapter.appendChild(parent, child);
      },
      insertBefore: (parent, child, before) => {
        grown(parent, child);
        defaultTreeAdapter.insertBefore(parent, child, before);
      },
    },
  });
}

function boundAttributes(count: number): void {
  if (count > MAX_ATTRIBUTES)
    throw new DocumentFault('too_large', 'an element of the document has too many attributes');
}

/** An element of a name with these children. */
export function makeElement(name: string, attributes: Readonly<Record<string, string>>): Element {
  const attrs = Object.entries(attributes).map(([key, value]) => ({ name: key, value }));
  return defaultTreeAdapter.createElement(name, htmlNames.NS.HTML, attrs);
}
