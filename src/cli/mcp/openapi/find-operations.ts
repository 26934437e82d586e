import { matches } from '#/route/offer.ts';
import { isObject, type Json } from '#/wire/document/json.ts';
import type { ApiDocument } from './api-document.ts';
import { plainName, uniqueName, type FoundOperation } from './to-operation.ts';

/** Which operations are wanted; absent: all. */
export interface Wanted {
  /** Names of tools, or patterns (`*`). */
  readonly only?: readonly string[] | undefined;
  /** In lower case. */
  readonly methods?: readonly string[] | undefined;
  readonly tags?: readonly string[] | undefined;
}

export const METHODS = ['get', 'post', 'put', 'patch', 'delete'] as const;

/** The operations of a document in its order, each with the name of its tool: the same whatever is wanted of them. */
export function findOperations(document: ApiDocument, wanted: Wanted): readonly FoundOperation[] {
  const { paths } = document.root;
  const taken = new Map<string, number>();
  const found: FoundOperation[] = [];
  for (const [path, item] of isObject(paths) ? Object.entries(paths) : []) {
    if (!isObject(item)) continue;
    const shared = listOf(item['parameters']);
    for (const method of METHODS) {
      const value = item[method];
      if (!isObject(value)) continue;
      const { operationId, tags } = value;
      const named = typeof operationId === 'string' ? plainName(operationId) : '';
      const name = uniqueName(named === '' ? plainName(`${method}_${plainName(path)}`) : named, taken);
      const own = isObject(item) && item['servers'] !== undefined ? { ...value, servers: item['servers'] } : value;
      const texts = listOf(tags).filter((tag) => typeof tag === 'string');
      const parameters = [...shared, ...listOf(value['parameters'])];
      found.push({ method, path, value: own, name, tags: texts, parameters });
    }
  }
  return found.filter((one) => isWanted(one, wanted));
}

function listOf(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? (value as readonly Json[]) : [];
}

function isWanted({ name, method, tags }: FoundOperation, wanted: Wanted): boolean {
  if (wanted.only && !wanted.only.some((pattern) => matches(pattern, name))) return false;
  if (wanted.methods && !wanted.methods.includes(method)) return false;
  return !wanted.tags || tags.some((tag) => wanted.tags!.includes(tag));
}
