import { createHash } from 'node:crypto';
import type { FaultLog } from '../fault.ts';
import type { Catalog, Resource } from './catalog.ts';

/** Reads a secret that is not among the sources, for resources of a namespace. */
export type SecretFile = (namespace: string, name: string, key: string) => string | undefined;

/** Where a secret is kept. */
interface SecretKeyRef {
  readonly name: string;
  readonly key: string;
}

/** Finds secret values for the resources that refer to them. */
export interface SecretReader {
  /** The value, or undefined after logging a fault of `from`. */
  read(from: Resource, field: string, ref: SecretKeyRef): string | undefined;
  /** Secrets read so far: `<namespace>/<name>/<key>` and the SHA-256 (hex) of the value. */
  digests(): ReadonlyMap<string, string>;
}

/**
 * Looks in the Secrets of the referring resource's namespace, then in secret files. One line end at the end of a
 * value is dropped: tools write one, and no credential ends with it. `incomplete`: a Secret that is not there is no fault.
 */
export function createSecretReader(
  catalog: Catalog,
  faults: FaultLog,
  secretFile: SecretFile | undefined,
  incomplete: boolean,
): SecretReader {
  const decoded = new Map<string, ReadonlyMap<string, string>>();
  for (const resource of catalog.all('Secret')) decoded.set(resource.id, decode(resource, faults));
  const digests = new Map<string, string>();
  return {
    read(from, field, { name, key }) {
      const id = `${from.namespace}/${name}`;
      const found = decoded.get(id)?.get(key) ?? secretFile?.(from.namespace, name, key);
      if (found === undefined) {
        const unknown = incomplete || (catalog.declares('Secret', id) && !catalog.get('Secret', id));
        if (!unknown) faults.add(from, field, 'there is no Secret with this name and key', 'SecretNotFound');
        return undefined;
      }
      const value = found.replace(/\r?\n$/, '');
      if (value === '') {
        faults.add(from, field, 'the secret is empty', 'SecretNotFound');
        return undefined;
      }
      digests.set(`${id}/${key}`, createHash('sha256').update(value).digest('hex'));
      return value;
    },
    digests: () => digests,
  };
}

function decode(resource: Resource<'Secret'>, faults: FaultLog): ReadonlyMap<string, string> {
  const { data = {}, stringData = {} } = resource.body;
  const values = new Map<string, string>();
  for (const [key, base64] of Object.entries(data)) {
    const value = fromBase64(base64);
    if (value === undefined) faults.add(resource, `data[${JSON.stringify(key)}]`, 'must be text in base64');
    else values.set(key, value);
  }
  for (const [key, value] of Object.entries(stringData)) values.set(key, value);
  return values;
}

function fromBase64(base64: string): string | undefined {
  const compact = base64.replaceAll(/\s/g, '');
  if (compact.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(compact)) return undefined;
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(Buffer.from(compact, 'base64'));
  } catch {
    return undefined;
  }
}
