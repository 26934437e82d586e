import type { SourceDocument } from '../fault.ts';
import { sortedJson } from '#/values/sorted-json.ts';
import type { KindName } from '../resources/kinds.ts';
import { digestOf } from './segment.ts';

/** Kinds that are published as the documents they are. Keys and secrets are rows of their own. */
export type DocumentKind = Exclude<KindName, 'VirtualKey' | 'Secret'>;

/** A key: SHA-256 (hex) of its secret, its id, the id of its workload, whether it was revoked, and when it expires. */
export type KeyRow = readonly [hash: string, id: string, workload: string, revoked: 0 | 1, expiresAt?: number];

/** A secret that resources of its namespace use, sealed (`ConfigKeys.seal`). */
export type SecretRow = readonly [namespace: string, name: string, key: string, sealed: string];

/** A segment as it was read. */
export type Part =
  | { readonly kind: 'documents'; readonly documents: readonly SourceDocument[] }
  | { readonly kind: 'keys'; readonly rows: readonly KeyRow[] }
  | { readonly kind: 'secrets'; readonly rows: readonly SecretRow[] };

const SEGMENTS: Readonly<Record<DocumentKind, string>> = {
  Organization: 'orgs',
  Namespace: 'orgs',
  Provider: 'providers',
  PriceBook: 'prices',
  ModelAlias: 'aliases',
  MCPServer: 'mcp',
  Policy: 'policies',
  Workload: 'workloads',
};

export const SECRETS = 'secrets';

/** Which segment a document is in. Workloads, of which there are many, are spread over sixteen. */
export function segmentOf(kind: DocumentKind, id: string): string {
  return kind === 'Workload' ? `workloads-${digestOf(id).slice(0, 1)}` : SEGMENTS[kind];
}

/** Which segment a key is in, by the hash of its secret. */
export function keySegmentOf(hash: string): string {
  return `keys-${hash.slice(0, 2)}`;
}

/** The text of documents, which must be in an order that does not change. */
export function documentsText(documents: readonly unknown[]): string {
  return sortedJson(documents);
}

/** The text of rows, in the order of their first members. */
export function rowsText(rows: readonly (KeyRow | SecretRow)[]): string {
  return JSON.stringify(rows.toSorted((one, other) => compareRows(one, other)));
}

/** Reads the text of a segment. Undefined for an unknown name: its content must not be ignored. */
export function readPart(name: string, text: string): Part | undefined {
  const [family = ''] = name.split('-');
  if (family === 'keys') return { kind: 'keys', rows: JSON.parse(text) as KeyRow[] };
  if (family === SECRETS) return { kind: 'secrets', rows: JSON.parse(text) as SecretRow[] };
  if (!Object.values(SEGMENTS).includes(family)) return undefined;
  const values = JSON.parse(text) as unknown[];
  return { kind: 'documents', documents: values.map((value, index) => ({ file: name, index, value })) };
}

function compareRows(one: KeyRow | SecretRow, other: KeyRow | SecretRow): number {
  for (let index = 0; index < 3; index++) {
    const [a, b] = [String(one[index]), String(other[index])];
    if (a !== b) return a < b ? -1 : 1;
  }
  return 0;
}
