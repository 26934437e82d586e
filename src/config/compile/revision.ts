import { createHash } from 'node:crypto';
import { sortedJson } from '#/values/sorted-json.ts';
import { KINDS, type KindName } from '../resources/kinds.ts';
import type { Catalog } from './catalog.ts';

/**
 * SHA-256 (hex) over everything a snapshot depends on: the resources with defaults filled in, in the order of kind
 * and id, hashes of the secrets they use, and the exchange rate. The order of files and documents does not matter.
 */
export function revisionOf(catalog: Catalog, secrets: ReadonlyMap<string, string>, usdToEur: string): string {
  const hash = createHash('sha256').update(`usdToEur ${usdToEur}\n`);
  for (const kind of (Object.keys(KINDS) as KindName[]).sort()) {
    if (kind === 'Secret') continue; // only the values that are used count, and those as hashes
    const lines: string[] = [];
    for (const { id, body, createdAt } of catalog.all(kind)) {
      const content = 'spec' in body && kind !== 'Namespace' ? body.spec : (body.metadata.labels ?? {});
      lines.push(`${kind} ${id} ${createdAt} ${sortedJson(content)}\n`);
    }
    for (const line of lines.sort()) hash.update(line);
  }
  for (const [name, digest] of [...secrets].sort(([a], [b]) => (a < b ? -1 : 1))) {
    hash.update(`secret ${name} ${digest}\n`);
  }
  return hash.digest('hex');
}
