import { posix } from 'node:path';
import { DocumentFault } from '#/ports/documents.ts';
import { unescaped } from '../decode-text.ts';
import { unzip } from '../ooxml/unzip.ts';
import { allElements, attributeOf, type XmlElement } from '../ooxml/xml.ts';
import { parseChapter } from './parse-chapter.ts';

/** A chapter of a book, in its order. */
interface Chapter {
  /** What it is called from now on; others refer to it so. */
  readonly name: string;
  readonly tree: XmlElement;
  /** The list of contents. */
  readonly isContents: boolean;
}

/** A book, taken apart. */
export interface Book {
  readonly title: string;
  readonly language: string;
  readonly chapters: readonly Chapter[];
  /** Pictures, by what chapters call them: media type and bytes. */
  readonly pictures: ReadonlyMap<string, { readonly mediaType: string; readonly bytes: Uint8Array }>;
  /** Lists of the content of the book and of its authors. */
  readonly lists: readonly XmlElement[];
}

const CONTAINER = 'META-INF/container.xml';
const ENCRYPTION = 'META-INF/encryption.xml';
/** Fonts are often garbled by these two; fonts are left out. */
const GARBLED = /^http:\/\/(?:www\.idpf\.org\/2008\/embedding|ns\.adobe\.com\/pdf\/enc#RC)$/;
const CHAPTER_TYPE = /^(?:application\/xhtml\+xml|text\/html|application\/x-dtbook\+xml|text\/x-oeb1-document)$/;

/** Takes a book apart, with every bound set. Throws `unreadable`, `too_large` or `encrypted`. */
export function openBook(bytes: Uint8Array, checkTime: () => void): Book {
  const entries = unzip(bytes, checkTime);
  refuseLocked(entries, checkTime);
  const container = entries.get(CONTAINER);
  if (!container) throw damaged();
  const containerTree = parseChapter(container, checkTime);
  const [rootPath = '', second] = [...allElements(containerTree)]
    .filter(({ local }) => local === 'rootfile')
    .map((file) => attributeOf(file, 'full-path') ?? '');
  const rootBytes = entries.get(rootPath);
  if (!rootBytes) throw damaged();
  if (second !== undefined)
    throw new DocumentFault('unsupported', 'books with several renditions are not supported: keep one of them');
  const root = parseChapter(rootBytes, checkTime);
  const items = itemsOf(root, rootPath);
  const found = chaptersOf(root, items, entries, checkTime);
  if (found.length === 0) throw damaged();
  const names = new Map(found.map(({ path }, at) => [path, `chapter${at + 1}.xhtml`]));
  const pictures = new Map<string, { mediaType: string; bytes: Uint8Array }>();
  const lists = [containerTree, root];
  for (const { path, mediaType } of items.values()) {
    const data = entries.get(path);
    if (data && mediaType.startsWith('image/') && !mediaType.includes('svg') && !names.has(path)) {
      const name = `image${pictures.size + 1}`;
      names.set(path, name);
      pictures.set(name, { mediaType, bytes: data });
    }
    if (data && mediaType === 'application/x-dtbncx+xml') lists.push(parseChapter(data, checkTime));
  }
  const chapters = found.map(({ path, ...chapter }): Chapter => {
    nameReferences(chapter.tree, path, names);
    return { ...chapter, name: names.get(path) ?? '' };
  });
  const said = (local: string): string => {
    const [text] = [...allElements(root)].find((element) => element.local === local)?.children ?? [];
    return text && text.name === undefined ? text.text : '';
  };
  return { title: said('title'), language: said('language'), chapters, pictures, lists };
}

interface Item {
  readonly path: string;
  readonly mediaType: string;
  readonly properties: string;
}

function itemsOf(root: XmlElement, rootPath: string): ReadonlyMap<string, Item> {
  const items = new Map<string, Item>();
  for (const element of allElements(root)) {
    if (element.local !== 'item') continue;
    const path = posix.normalize(posix.join(posix.dirname(rootPath), unescaped(attributeOf(element, 'href') ?? '')));
    const mediaType = (attributeOf(element, 'media-type') ?? '').toLowerCase();
    items.set(attributeOf(element, 'id') ?? '', {
      path,
      mediaType,
      properties: attributeOf(element, 'properties') ?? '',
    });
  }
  return items;
}

/** Those of the spine in its order, then any other. */
function chaptersOf(
  root: XmlElement,
  items: ReadonlyMap<string, Item>,
  entries: ReadonlyMap<string, Uint8Array>,
  checkTime: () => void,
): readonly (Omit<Chapter, 'name'> & { readonly path: string })[] {
  const spine = [...allElements(root)]
    .filter(({ local }) => local === 'itemref')
    .flatMap((element) => items.get(attributeOf(element, 'idref') ?? '') ?? []);
  const wanted = [...spine, ...items.values()].filter(({ mediaType }) => CHAPTER_TYPE.test(mediaType));
  // Many entries of the list may name one file.
  const files = new Map(wanted.toReversed().map((item) => [item.path, item]));
  return [...new Set(wanted.map(({ path }) => path))].flatMap((path) => {
    const properties = files.get(path)?.properties ?? '';
    const data = entries.get(path);
    checkTime();
    return data ? [{ path, tree: parseChapter(data, checkTime), isContents: /\bnav\b/.test(properties) }] : [];
  });
}

/** Renames references of chapters within the book: the old name may contain a person's. */
function nameReferences(tree: XmlElement, from: string, names: ReadonlyMap<string, string>): void {
  for (const { attributes } of allElements(tree))
    for (const attribute of attributes) {
      const [path = '', mark] = attribute.text.split('#');
      if (!/^(?:href|src)$/.test(attribute.name) || path === '' || /^[a-z][a-z+.-]*:/i.test(path)) continue;
      const name = names.get(posix.normalize(posix.join(posix.dirname(from), unescaped(path))));
      if (name !== undefined) attribute.text = mark === undefined ? name : `${name}#${mark}`;
    }
}

function refuseLocked(entries: ReadonlyMap<string, Uint8Array>, checkTime: () => void): void {
  const encryption = entries.get(ENCRYPTION);
  const methods = encryption
    ? [...allElements(parseChapter(encryption, checkTime))]
        .filter(({ local }) => local === 'EncryptionMethod')
        .map((method) => attributeOf(method, 'Algorithm') ?? '')
    : [];
  if (methods.some((method) => !GARBLED.test(method)) || entries.has('META-INF/rights.xml'))
    throw new DocumentFault('encrypted', 'the book has copy protection (DRM)');
}

function damaged(): DocumentFault {
  return new DocumentFault('unreadable', 'the book is damaged or incomplete');
}
