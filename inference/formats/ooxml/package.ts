import { posix } from 'node:path';
import { DocumentFault } from '#/ports/documents.ts';
import { unescaped } from '../decode-text.ts';
import { parseXml } from './parse-xml.ts';
import { isArchive, unzip } from './unzip.ts';
import { attributeOf, elementsIn, type XmlElement } from './xml.ts';

/** What a part refers to by an identifier of its own: another part, or something outside. */
export interface Relation {
  readonly id: string;
  /** Last step of its type's address, such as `hyperlink`. */
  readonly type: string;
  /** The type's whole address. */
  readonly typeUri: string;
  readonly target: Part | undefined;
  /** An address outside of the document, where there is no part. A slot. */
  readonly external: { text: string } | undefined;
}

/** A part of an Office document. */
export interface Part {
  /** Path in the package, without a slash at its head. */
  readonly name: string;
  /** Media type, lower case, without parameters; empty where none is said. */
  readonly type: string;
  readonly bytes: Uint8Array;
  /** Its tree where it is XML. */
  readonly xml: XmlElement | undefined;
  relations: readonly Relation[];
}

/** An Office document, taken apart. */
export interface OfficePackage {
  readonly parts: readonly Part[];
  /** What the document itself refers to. */
  readonly relations: readonly Relation[];
  /** The part that all others hang on. */
  readonly main: Part;
}

const CONTENT_TYPES = '[Content_Types].xml';
const RELATIONS = /^(?:(.*)\/)?_rels\/([^/]*)\.rels$/i;
/** Programs, whatever the part is called. */
const PROGRAM = /vbaproject|vbadata|macroenabled|macrosheet|dialogsheet|ms-word\.attachedtoolbars/i;
const PROGRAM_NAME = /(?:^|\/)vba(?:project|data)[^/]*\.(?:bin|xml)$/i;

/**
 * Takes an Office document apart, with every bound set. Parts that say they are XML are read as such. Throws `unreadable`,
 * `too_large`, or `active_content` for one with macros.
 */
export function openPackage(bytes: Uint8Array, checkTime: () => void): OfficePackage {
  const entries = unzip(bytes, checkTime);
  const typeOf = contentTypes(entries.get(CONTENT_TYPES), checkTime);
  const parts = new Map<string, Part>();
  for (const [name, data] of entries) {
    if (name === CONTENT_TYPES || RELATIONS.test(name)) continue;
    checkTime();
    parts.set(name.toLowerCase(), partOf(name, typeOf(name), data, checkTime));
  }
  const relations = readRelations(entries, parts, checkTime);
  for (const part of parts.values()) part.relations = relations.get(part.name.toLowerCase()) ?? [];
  const own = relations.get('') ?? [];
  const main = own.find(({ type, target }) => type === 'officeDocument' && target)?.target;
  if (!main?.xml) throw damaged();
  return { parts: [...parts.values()], relations: own, main };
}

/** All parts that can be reached from `from`, itself first, each once, in the order in which they are referred to. */
export function reachable(from: Part, follows: (relation: Relation) => boolean): readonly Part[] {
  const found = new Set([from]);
  for (const part of found)
    for (const relation of part.relations) if (relation.target && follows(relation)) found.add(relation.target);
  return [...found];
}

/** The root of a part that is XML. */
export function rootOf({ xml }: Part): XmlElement {
  if (!xml) throw damaged();
  return xml;
}

function partOf(name: string, type: string, bytes: Uint8Array, checkTime: () => void): Part {
  if (PROGRAM.test(type) || PROGRAM_NAME.test(name))
    throw new DocumentFault('active_content', 'the document has macros: save it without them');
  const isXml = /[+/]xml$/.test(type) || /\.(?:xml|vml)$/i.test(name);
  if (isXml && isArchive(bytes)) throw damaged();
  return { name, type, bytes, xml: isXml ? readXml(type, bytes, checkTime) : undefined, relations: [] };
}

/** Drawings of old Office versions often are not XML: they are dropped, so they do not have to be read. */
function readXml(type: string, bytes: Uint8Array, checkTime: () => void): XmlElement | undefined {
  if (!/vmldrawing/.test(type)) return parseXml(bytes, checkTime);
  try {
    return parseXml(bytes, checkTime);
  } catch (error) {
    if (error instanceof DocumentFault && error.kind === 'unreadable') return undefined;
    throw error;
  }
}

function contentTypes(bytes: Uint8Array | undefined, checkTime: () => void): (name: string) => string {
  if (!bytes) throw damaged();
  const endings = new Map<string, string>();
  const names = new Map<string, string>();
  for (const element of elementsIn(parseXml(bytes, checkTime))) {
    const type = (attributeOf(element, 'ContentType') ?? '').toLowerCase().replace(/;.*/, '').trim();
    const by = element.local === 'Override' ? names : endings;
    const key = attributeOf(element, element.local === 'Override' ? 'PartName' : 'Extension') ?? '';
    if (by.has(key.toLowerCase())) throw damaged();
    by.set(key.toLowerCase(), type);
  }
  return (name) => {
    const lower = name.toLowerCase();
    return names.get(`/${lower}`) ?? endings.get(posix.extname(lower).slice(1)) ?? '';
  };
}

function readRelations(
  entries: ReadonlyMap<string, Uint8Array>,
  parts: ReadonlyMap<string, Part>,
  checkTime: () => void,
): ReadonlyMap<string, readonly Relation[]> {
  const relations = new Map<string, readonly Relation[]>();
  for (const [name, bytes] of entries) {
    const [, folder = '', owner = ''] = RELATIONS.exec(name) ?? [];
    if (!RELATIONS.test(name)) continue;
    const root = parseXml(bytes, checkTime);
    const key = (owner === '' ? '' : posix.join(folder, owner)).toLowerCase();
    relations.set(
      key,
      elementsIn(root).map((element) => relationOf(element, folder, parts)),
    );
  }
  return relations;
}

function relationOf(element: XmlElement, folder: string, parts: ReadonlyMap<string, Part>): Relation {
  const typeUri = attributeOf(element, 'Type') ?? '';
  const type = typeUri.slice(typeUri.lastIndexOf('/') + 1);
  const id = attributeOf(element, 'Id') ?? '';
  const target = attributeOf(element, 'Target') ?? '';
  if (attributeOf(element, 'TargetMode')?.toLowerCase() === 'external')
    return { id, type, typeUri, target: undefined, external: { text: target } };
  const path = target.startsWith('/') ? target : posix.join('/', folder, target.replace(/#.*/, ''));
  return { id, type, typeUri, target: parts.get(unescaped(path).slice(1).toLowerCase()), external: undefined };
}

function damaged(): DocumentFault {
  return new DocumentFault('unreadable', 'the document is damaged or incomplete');
}
