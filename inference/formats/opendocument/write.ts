import { element, localOf, rewrite, toXml, type XmlElement, type XmlNode } from '../ooxml/xml.ts';
import { safePicture } from '../ooxml/pictures.ts';
import { zip } from '../ooxml/unzip.ts';
import type { OpenPackage } from './package.ts';

const MANIFEST_NS = 'urn:oasis:names:tc:opendocument:xmlns:manifest:1.0';
const TYPES: Readonly<Record<string, string>> = {
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  gif: 'image/gif',
  tif: 'image/tiff',
  tiff: 'image/tiff',
  webp: 'image/webp',
};

interface Picture {
  readonly path: string;
  readonly mediaType: string;
  readonly bytes: Uint8Array;
}

/** Writes a new file of content, styles and the pictures that they show, blurred, under names of their own. */
export async function writeOpenDocument(
  { content, styles, entries }: OpenPackage,
  mediaType: string,
  checkTime: () => void,
): Promise<{ readonly bytes: Uint8Array; readonly images: number }> {
  const pictures = new Map<string, Picture>();
  const trees: [string, XmlElement][] = [
    ['content.xml', content],
    ...(styles ? [['styles.xml', styles] as [string, XmlElement]] : []),
  ];
  for (const [, tree] of trees)
    for (const path of referredIn(tree)) {
      checkTime();
      const data = entries.get(path);
      if (!data || pictures.has(path)) continue;
      const ending = path.slice(path.lastIndexOf('.') + 1).toLowerCase();
      const safe = await safePicture(data, TYPES[ending] ?? '');
      const name = `Pictures/image${pictures.size + 1}.${safe.mediaType === 'image/jpeg' ? 'jpg' : 'png'}`;
      pictures.set(path, { path: name, mediaType: safe.mediaType, bytes: safe.bytes });
    }
  for (const [, tree] of trees) pointTo(tree, pictures);
  const written: [string, Uint8Array][] = [
    ...trees.map(([name, tree]): [string, Uint8Array] => [name, toXml(tree)]),
    ...[...pictures.values()].map(({ path, bytes }): [string, Uint8Array] => [path, bytes]),
  ];
  const types = new Map([...pictures.values()].map((picture) => [picture.path, picture.mediaType]));
  const listed = [['/', mediaType], ...written.map(([name]) => [name, types.get(name) ?? 'text/xml'])];
  const manifest = element(
    'manifest:manifest',
    { 'xmlns:manifest': MANIFEST_NS, 'manifest:version': '1.2' },
    listed.map(([path = '', type = '']) =>
      element('manifest:file-entry', { 'manifest:full-path': path, 'manifest:media-type': type }, []),
    ),
  );
  const bytes = zip([['mimetype', Buffer.from(mediaType)], ...written, ['META-INF/manifest.xml', toXml(manifest)]]);
  return { bytes, images: pictures.size };
}

/** What elements other than links refer to. */
function referredIn(tree: XmlElement): readonly string[] {
  const paths: string[] = [];
  rewrite(tree, (one) => {
    const path = pathOf(one);
    if (path !== undefined) paths.push(path);
    return [one];
  });
  return paths;
}

function pathOf({ local, attributes }: XmlElement): string | undefined {
  if (local === 'a') return undefined;
  return attributes.find(({ name }) => localOf(name) === 'href')?.text.replace(/^\.\//, '');
}

/** References to pictures get their new names; whatever else is referred to goes. */
function pointTo(tree: XmlElement, pictures: ReadonlyMap<string, Picture>): void {
  rewrite(tree, (one): readonly XmlNode[] => {
    const path = pathOf(one);
    if (path === undefined) return [one];
    const picture = pictures.get(path);
    for (const attribute of one.attributes)
      if (localOf(attribute.name) === 'href') attribute.text = picture?.path ?? '';
      else if (/^(?:mime-type|filter-name)$/.test(localOf(attribute.name))) attribute.text = picture?.mediaType ?? '';
    if (picture) return [one];
    one.attributes = one.attributes.filter(({ name }) => !name.startsWith('xlink:'));
    return one.local === 'image' || one.local === 'fill-image' ? [] : [one];
  });
}
