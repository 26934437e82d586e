import { element, toXml } from '../ooxml/xml.ts';
import { safePicture } from '../ooxml/pictures.ts';
import { zip } from '../ooxml/unzip.ts';
import type { Search } from '../search.ts';
import { cleanChapter } from './clean.ts';
import type { Book } from './package.ts';

const OPF = 'http://www.idpf.org/2007/opf';
const DC = 'http://purl.org/dc/elements/1.1/';
const CONTAINER_NS = 'urn:oasis:names:tc:opendocument:xmlns:container';
const CHAPTER = 'application/xhtml+xml';
const XHTML = 'http://www.w3.org/1999/xhtml';
/** Nothing that tells one copy from another. */
const IDENTIFIER = 'urn:uuid:00000000-0000-0000-0000-000000000000';
const MODIFIED = '1980-01-02T00:00:00Z';

interface Item {
  readonly id: string;
  readonly href: string;
  readonly 'media-type': string;
  readonly properties?: string;
}

type Entry = readonly [name: string, bytes: Uint8Array];

/** Writes a new book of the chapters and the pictures that are in the old one, these blurred, under names of their own. */
export async function writeBook(
  { title, language, chapters, pictures }: Book,
  search: Search,
  checkTime: () => void,
): Promise<{ readonly bytes: Uint8Array; readonly images: number }> {
  const names = new Map(chapters.map(({ name }) => [name, name]));
  const items: Item[] = [];
  const entries: Entry[] = [];
  for (const [called, picture] of pictures) {
    checkTime();
    const at = items.length + 1;
    const safe = await safePicture(picture.bytes, picture.mediaType);
    const name = `image${at}.${safe.mediaType === 'image/jpeg' ? 'jpg' : 'png'}`;
    names.set(called, name);
    items.push({ id: `i${at}`, href: name, 'media-type': safe.mediaType });
    entries.push([`book/${name}`, safe.bytes]);
  }
  for (const [at, { name, tree, isContents }] of chapters.entries()) {
    checkTime();
    cleanChapter(tree, { names, search });
    const own = { id: `c${at + 1}`, href: name, 'media-type': CHAPTER };
    items.push(isContents ? { ...own, properties: 'nav' } : own);
    entries.push([`book/${name}`, toXml(tree)]);
  }
  if (!chapters.some(({ isContents }) => isContents)) {
    items.push({ id: 'nav', href: 'contents.xhtml', 'media-type': CHAPTER, properties: 'nav' });
    entries.push(['book/contents.xhtml', toXml(contentsOf(chapters.length))]);
  }
  const written = element('package', { xmlns: OPF, version: '3.0', 'unique-identifier': 'id' }, [
    element('metadata', { 'xmlns:dc': DC }, [
      element('dc:identifier', { id: 'id' }, [{ text: IDENTIFIER }]),
      element('dc:title', {}, [{ text: title || 'Document' }]),
      element('dc:language', {}, [{ text: /^[a-z]{2,3}(?:-[A-Z]{2})?$/.test(language) ? language : 'en' }]),
      element('meta', { property: 'dcterms:modified' }, [{ text: MODIFIED }]),
    ]),
    element(
      'manifest',
      {},
      items.map((item) => element('item', { ...item }, [])),
    ),
    element(
      'spine',
      {},
      chapters.map((_, at) => element('itemref', { idref: `c${at + 1}` }, [])),
    ),
  ]);
  const container = element('container', { xmlns: CONTAINER_NS, version: '1.0' }, [
    element('rootfiles', {}, [
      element('rootfile', { 'full-path': 'book/book.opf', 'media-type': 'application/oebps-package+xml' }, []),
    ]),
  ]);
  const bytes = zip([
    ['mimetype', Buffer.from('application/epub+zip')],
    ['META-INF/container.xml', toXml(container)],
    ['book/book.opf', toXml(written)],
    ...entries,
  ]);
  return { bytes, images: pictures.size };
}

function contentsOf(count: number): ReturnType<typeof element> {
  const links = Array.from({ length: count }, (_, at) =>
    element('li', {}, [element('a', { href: `chapter${at + 1}.xhtml` }, [{ text: String(at + 1) }])]),
  );
  const nav = element('nav', { 'epub:type': 'toc' }, [element('ol', {}, links)]);
  return element('html', { xmlns: XHTML, 'xmlns:epub': 'http://www.idpf.org/2007/ops' }, [
    element('head', {}, [element('title', {}, [{ text: 'Contents' }])]),
    element('body', {}, [nav]),
  ]);
}
