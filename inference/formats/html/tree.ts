import { defaultTreeAdapter, html as htmlNames, parse, type DefaultTreeAdapterTypes } from 'parse5';
import { DocumentFault } from '#ports/documents.ts';

export type Node = DefaultTreeAdapterTypes.ChildNode;
export type Element = DefaultTreeAdapterTypes.Element;
export type Parent = DefaultTreeAdapterTypes.ParentNode;
export type Document = DefaultTreeAdapterTypes.Document;

const MAX_NODES = 100_000;
/** Elements in each other: what reads or writes a tree goes as deep. */
const MAX_DEPTH = 400;
const CHECK_EVERY = 5000;

/** Parses HTML as browsers without scripts do. Throws `too_large` for a tree that is too deep or has too many nodes. */
export function parseHtml(text: string, checkTime: () => void): Document {
  const depths = new Map<Parent, number>();
  let nodes = 0;
  const grown = (parent: Parent, child?: Node): void => {
    if (++nodes % CHECK_EVERY === 0) checkTime();
    const depth = (depths.get(parent) ?? 0) + 1;
    if (nodes > MAX_NODES || depth > MAX_DEPTH)
      throw new DocumentFault('too_large', 'the document has too many elements, or they are too deep in each other');
    if (child && 'childNodes' in child) depths.set(child, depth);
  };
  return parse(text, {
    scriptingEnabled: false,
    treeAdapter: {
      ...defaultTreeAdapter,
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

/** An element of a name with these children. */
export function makeElement(name: string, attributes: Readonly<Record<string, string>>): Element {
  const attrs = Object.entries(attributes).map(([key, value]) => ({ name: key, value }));
  return defaultTreeAdapter.createElement(name, htmlNames.NS.HTML, attrs);
}
