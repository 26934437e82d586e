import { elementsIn, isElement, localOf, rewrite, type XmlElement, type XmlNode } from './xml.ts';

/** Address of the namespace of references, as it ends in both variants of the standard. */
const REFERENCES = /\/relationships$/;
/** Nothing is left of these without what they refer to; their text stays. */
const TRANSPARENT = new Set(['hyperlink', 'smartTag']);
/** They go as a whole when what they show is gone. */
const FRAMES = new Set(['drawing', 'pict', 'object', 'twoCellAnchor', 'oneCellAnchor', 'absoluteAnchor']);
/** Elements that contain shapes in a row, so that one of them may be missing. */
const SHAPES = new Set(['spTree', 'grpSp']);
/** What a frame shows. */
const CONTENTS = new Set(['blip', 'chart', 'relIds', 'imagedata', 'OLEObject', 'control', 'contentPart']);
/** Lists that may not be empty. */
const LISTS =
  /^(?:pivotCaches|externalReferences|tableParts|controls|oleObjects|hyperlinks|customSheetViews|drawingParts|sheets|handoutMasterIdLst|notesMasterIdLst)$/;

/**
 * Gives references to other parts their new identifiers; a reference without one is removed with its element, or with
 * the frame that would be empty.
 */
export function pruneReferences(root: XmlElement, identifiers: ReadonlyMap<string, string>): void {
  const prefixes = new Set(['r']);
  collectPrefixes(root, prefixes);
  const emptied = new WeakSet<XmlElement>();
  rewrite(root, (element, parent): readonly XmlNode[] => {
    if (emptied.has(element)) {
      const framed = element.local === 'graphicFrame' && SHAPES.has(parent.local);
      if (framed || FRAMES.has(element.local)) return [];
      // Its content is gone, so the elements around it go too.
      emptied.add(parent);
    }
    if (LISTS.test(element.local) && elementsIn(element).length === 0) return [];
    const { found, lost } = renumber(element, identifiers, prefixes);
    if (!lost || found) return [element];
    if (TRANSPARENT.has(element.local)) return element.children.some(isElement) ? element.children : [];
    if (CONTENTS.has(element.local)) emptied.add(parent);
    return [];
  });
}

function collectPrefixes(element: XmlElement, prefixes: Set<string>): void {
  for (const { name, text } of element.attributes)
    if (name.startsWith('xmlns:') && REFERENCES.test(text)) prefixes.add(localOf(name));
  for (const child of element.children) if (isElement(child)) collectPrefixes(child, prefixes);
}

function renumber(
  element: XmlElement,
  identifiers: ReadonlyMap<string, string>,
  prefixes: ReadonlySet<string>,
): { readonly found: boolean; readonly lost: boolean } {
  let found = false;
  let lost = false;
  let lostAt = -1;
  const kept = element.attributes.flatMap((attribute) => {
    const [prefix = '', local] = attribute.name.split(':');
    const refers = local !== undefined && (prefixes.has(prefix) || attribute.name === 'o:relid');
    if (!refers) return [attribute];
    const id = identifiers.get(attribute.text);
    if (id === undefined) {
      // An empty reference is what a drawing without a link has.
      lost ||= attribute.text !== '';
      lostAt++;
      return [];
    }
    found = true;
    return [{ name: attribute.name, text: id }];
  });
  if (found || lostAt >= 0) element.attributes = kept;
  return { found, lost };
}
