import { join } from 'node:path';
import type { SecretFile } from '../compile/secrets.ts';
import { readText, type Signature } from './files.ts';

const MAX_BYTES = 1_048_576;

/** Secret files as one compilation read them. */
export interface SecretFiles {
  readonly read: SecretFile;
  /** Every file that was asked for, there or not, by path. */
  readonly seen: ReadonlyMap<string, Signature>;
}

/**
 * Reads `<dir>/<name>/<key>`, each file once, so that a compilation sees one state of it. Names that could lead out of
 * the folder are not looked up. Without a folder there are no secret files.
 */
export function openSecretFiles(dir: string | undefined): SecretFiles {
  const seen = new Map<string, Signature>();
  const values = new Map<string, string | undefined>();
  return {
    seen,
    read(_namespace, name, key) {
      if (dir === undefined || !isPlainName(name) || !isPlainName(key)) return undefined;
      const path = join(dir, name, key);
      if (!seen.has(path)) {
        const content = readText(path, MAX_BYTES);
        seen.set(path, content.signature);
        values.set(path, content.kind === 'text' ? content.text : undefined);
      }
      return values.get(path);
    },
  };
}

/** The schemas allow no other names; this folder does not rely on them. */
function isPlainName(name: string): boolean {
  return /^[-._a-zA-Z0-9]{1,253}$/.test(name) && name !== '.' && !name.startsWith('..');
}
