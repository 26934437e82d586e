import {
  documentsText,
  rowsText,
  SECRETS,
  segmentOf,
  type DocumentKind,
  type KeyRow,
  type Part,
  type SecretRow,
} from '#/config/published/contents.ts';
import type { Document } from '../resources/accept.ts';

/** The texts of all segments of documents. Those of `known` that no longer have a text are empty. */
export function documentTexts(
  documents: ReadonlyMap<string, Document>,
  known: Iterable<string>,
): ReadonlyMap<string, string> {
  const segments = new Map<string, Document[]>();
  for (const name of known) segments.set(name, []);
  // In the order of their names, so that equal contents are equal texts.
  for (const name of [...documents.keys()].sort()) {
    const document = documents.get(name)!;
    const [kind = '', id = ''] = name.split(' ');
    const segment = segmentOf(kind as DocumentKind, id);
    const list = segments.get(segment);
    if (list) list.push(document);
    else segments.set(segment, [document]);
  }
  return new Map([...segments].map(([name, list]) => [name, documentsText(list)]));
}

/** The texts of these segments of keys. */
export function keyTexts(rows: ReadonlyMap<string, readonly KeyRow[]>): ReadonlyMap<string, string> {
  return new Map([...rows].map(([name, list]) => [name, rowsText(list)]));
}

/** The text of the segment of secrets. */
export function secretTexts(rows: readonly SecretRow[]): ReadonlyMap<string, string> {
  return new Map([[SECRETS, rowsText(rows)]]);
}

/** Documents that were published before, by name. */
export function earlierDocuments(parts: ReadonlyMap<string, Part>): ReadonlyMap<string, Document> {
  const documents = new Map<string, Document>();
  for (const part of parts.values()) {
    if (part.kind !== 'documents') continue;
    for (const { value } of part.documents) {
      const document = value as Document;
      const { namespace, name } = document.metadata as { namespace?: string; name: string };
      documents.set(`${document.kind} ${namespace === undefined ? name : `${namespace}/${name}`}`, document);
    }
  }
  return documents;
}

/** Secrets that were published before, sealed. */
export function earlierSecrets(parts: ReadonlyMap<string, Part>): readonly SecretRow[] {
  const part = parts.get(SECRETS);
  return part?.kind === 'secrets' ? part.rows : [];
}
