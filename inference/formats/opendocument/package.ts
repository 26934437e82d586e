import { DocumentFault } from '#/ports/documents.ts';
import { parseXml } from '../ooxml/parse-xml.ts';
import { isArchive, unzip } from '../ooxml/unzip.ts';
import type { XmlElement } from '../ooxml/xml.ts';

/** An OpenDocument file, taken apart. */
export interface OpenPackage {
  readonly content: XmlElement;
  readonly styles: XmlElement | undefined;
  /** All other parts that are XML: properties, settings, objects in the document. */
  readonly others: readonly XmlElement[];
  /** Everything in the file, by its path. */
  readonly entries: ReadonlyMap<string, Uint8Array>;
}

const MANIFEST = 'META-INF/manifest.xml';
/** Programs; the lists of them alone are in many files. */
const PROGRAM = /^(?:Basic|Scripts|Dialogs)\/(?!.*(?:script|dialog)-l[bc]\.xml$)./i;
/** Parts with a document type of their own, or for programs only; they are dropped. */
const NOT_READ = /^(?:META-INF\/|Configurations2\/|Basic\/|Dialogs\/)|\.rdf$/i;

/** Takes a file apart, with every bound set. Throws `unreadable`, `too_large`, `encrypted` or `active_content`. */
export function openDocumentPackage(bytes: Uint8Array, checkTime: () => void): OpenPackage {
  const entries = unzip(bytes, checkTime);
  const manifest = entries.get(MANIFEST);
  if (manifest && Buffer.from(manifest).includes('encryption-data'))
    throw new DocumentFault('encrypted', 'the document needs a password');
  if ([...entries.keys()].some((name) => PROGRAM.test(name)))
    throw new DocumentFault('active_content', 'the document has macros: save it without them');
  const trees = new Map<string, XmlElement>();
  for (const [name, data] of entries) {
    if (!name.toLowerCase().endsWith('.xml') || NOT_READ.test(name) || data.length === 0) continue;
    checkTime();
    if (isArchive(data)) throw damaged();
    trees.set(name, parseXml(data, checkTime));
  }
  const content = trees.get('content.xml');
  if (content?.local !== 'document-content') throw damaged();
  const styles = trees.get('styles.xml');
  const others = [...trees.values()].filter((tree) => tree !== content && tree !== styles);
  return { content, styles, others, entries };
}

function damaged(): DocumentFault {
  return new DocumentFault('unreadable', 'the document is damaged or incomplete');
}
