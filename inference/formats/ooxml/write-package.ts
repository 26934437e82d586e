import { posix } from 'node:path';
import { unescaped } from '../decode-text.ts';
import type { Search } from '../search.ts';
import { reachable, rootOf, type OfficePackage, type Part, type Relation } from './package.ts';
import { safePicture } from './pictures.ts';
import { pruneReferences } from './prune.ts';
import { element, toXml, type XmlElement } from './xml.ts';
import { zip } from './unzip.ts';

/** Kinds of parts that a format keeps: ends of their media types, and the names that they get. */
export type KeptParts = Readonly<Record<string, { readonly path: string; readonly type: string }>>;

/** An entry of that table, by the media type; `#` in the path is a number. */
export function keptPart(type: string, path: string): KeptParts {
  return { [type.slice(type.indexOf('/') + 1).toLowerCase()]: { path, type } };
}

const NS = 'http://schemas.openxmlformats.org/package/2006';
const MAIN = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument';
const RELS_TYPE = 'application/vnd.openxmlformats-package.relationships+xml';
const SVG = 'image/svg+xml';
const SAFE_ADDRESS = /^(?:https?|mailto|tel|ftp):/i;

/** A part as it is written. */
interface Written {
  readonly path: string;
  readonly type: string;
  readonly bytes: () => Uint8Array;
}

/**
 * Writes a new package of the reachable parts that a format keeps: with new names and identifiers,
 * and nothing else of the file. References to dropped parts go too. Images are blurred.
 */
export async function writePackage(
  { main }: OfficePackage,
  kept: KeptParts,
  search: Search,
  checkTime: () => void,
): Promise<{ readonly bytes: Uint8Array; readonly images: number }> {
  const keeps = ({ type }: Part): boolean =>
    type.startsWith('image/') ? type !== SVG : kindOf(type, kept) !== undefined;
  const parts = reachable(main, ({ target }) => target !== undefined && keeps(target));
  const written = new Map<Part, Written>();
  const counts = new Map<string, number>();
  const named = (path: string): string => {
    const count = (counts.get(path) ?? 0) + 1;
    counts.set(path, count);
    return path.replace('#', String(count));
  };
  const folder = kept[kindOf(main.type, kept) ?? '']?.path.split('/')[0] ?? 'media';
  let images = 0;
  for (const part of parts) {
    checkTime();
    const kind = kept[kindOf(part.type, kept) ?? ''];
    if (kind) {
      written.set(part, { path: named(kind.path), type: kind.type, bytes: () => toXml(rootOf(part)) });
    } else {
      const { bytes, mediaType } = await safePicture(part.bytes, part.type);
      const ending = mediaType === 'image/jpeg' ? 'jpeg' : 'png';
      written.set(part, { path: named(`${folder}/media/image#.${ending}`), type: mediaType, bytes: () => bytes });
      images++;
    }
  }
  return { bytes: zip(entriesOf(parts, written, search)), images };
}

/** The key of a format's table that a media type ends with. */
function kindOf(type: string, kept: KeptParts): string | undefined {
  const end = type.slice(type.indexOf('/') + 1);
  return Object.hasOwn(kept, end) ? end : undefined;
}

function entriesOf(
  parts: readonly Part[],
  written: ReadonlyMap<Part, Written>,
  search: Search,
): readonly (readonly [string, Uint8Array])[] {
  const entries: [string, Uint8Array][] = [];
  for (const part of parts) {
    const own = written.get(part);
    if (!own) continue;
    const relations = relationsOf(part, own.path, written, search);
    if (part.xml) pruneReferences(part.xml, new Map(relations.map(({ from, id }) => [from, id])));
    entries.push([own.path, own.bytes()]);
    const rels = relations.map(({ xml }) => xml);
    const { dir, base } = posix.parse(own.path);
    if (rels.length > 0)
      entries.push([
        `${dir}/_rels/${base}.rels`,
        toXml(element('Relationships', { xmlns: `${NS}/relationships` }, rels)),
      ]);
  }
  const main = entries[0]?.[0] ?? '';
  const toMain = element('Relationship', { Id: 'rId1', Type: MAIN, Target: main }, []);
  const head: [string, Uint8Array][] = [
    ['[Content_Types].xml', toXml(contentTypes([...written.values()]))],
    ['_rels/.rels', toXml(element('Relationships', { xmlns: `${NS}/relationships` }, [toMain]))],
  ];
  return [...head, ...entries];
}

interface WrittenRelation {
  readonly from: string;
  readonly id: string;
  readonly xml: XmlElement;
}

function relationsOf(
  { relations }: Part,
  path: string,
  written: ReadonlyMap<Part, Written>,
  search: Search,
): readonly WrittenRelation[] {
  return relations.flatMap((relation, index): readonly WrittenRelation[] => {
    const target = relation.target ? written.get(relation.target)?.path : addressOf(relation, search);
    if (target === undefined) return [];
    const id = `rId${index + 1}`;
    const attributes = {
      Id: id,
      Type: relation.typeUri,
      Target: relation.target ? posix.relative(posix.dirname(path), target) : target,
      ...(!relation.target && { TargetMode: 'External' }),
    };
    return [{ from: relation.id, id, xml: element('Relationship', attributes, []) }];
  });
}

/** The address of a link, or undefined if it must not stay: only links lead out of a document. */
function addressOf({ type, external }: Relation, search: Search): string | undefined {
  if (type !== 'hyperlink' || !external || !SAFE_ADDRESS.test(external.text)) return undefined;
  return search.isIn(unescaped(external.text)) || /[«»]|%C2%AB/i.test(external.text) ? undefined : external.text;
}

function contentTypes(parts: readonly Written[]): XmlElement {
  const pictures = ['png', 'jpeg'].map((ending) =>
    element('Default', { Extension: ending, ContentType: `image/${ending}` }, []),
  );
  return element('Types', { xmlns: `${NS}/content-types` }, [
    element('Default', { Extension: 'rels', ContentType: RELS_TYPE }, []),
    element('Default', { Extension: 'xml', ContentType: 'application/xml' }, []),
    ...pictures,
    ...parts
      .filter(({ type }) => !type.startsWith('image/'))
      .map(({ path, type }) => element('Override', { PartName: `/${path}`, ContentType: type }, [])),
  ]);
}
