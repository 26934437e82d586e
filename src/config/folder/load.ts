import { basename, dirname } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { compile, type CompileResult } from '../compile/compile.ts';
import type { Fault, SourceDocument } from '../fault.ts';
import { signatureOf, type Signature } from './files.ts';
import { listFolder, readFolder, type CachedFile } from './read-folder.ts';
import { openSecretFiles } from './secret-files.ts';

/** What a folder is compiled with. */
export interface FolderOptions {
  readonly dir: string;
  /** Holds `<name>/<key>` files: secrets that are not resources in the folder. */
  readonly secretsDir?: string;
  /** Euro per dollar as a decimal string: `0.92`. */
  readonly usdToEur: string;
  /** Where resources speak for several organizations; absent: anywhere. */
  readonly platformNamespace?: string | undefined;
  /** Ports of the gateway on its machine, where no server of tools may be; absent: the usual ones. */
  readonly ownPorts?: ReadonlySet<number>;
  /** Resources in addition to those of the folder; read again at every load. */
  readonly extra?: () => readonly SourceDocument[];
}

/** A result and what it was made of, to notice when that changes. */
export interface LoadedFolder {
  readonly result: CompileResult;
  readonly files: ReadonlyMap<string, CachedFile>;
  readonly secretPaths: readonly string[];
  /** Folders whose changes matter. */
  readonly folders: readonly string[];
  /** Equal to `stateOf` as long as nothing changed. */
  readonly state: string;
}

const MAX_ATTEMPTS = 10;
const PAUSE_MS = 10;

/**
 * Reads and compiles a folder. When it changes meanwhile, reads again, so that half of an old and half of a new
 * state are never taken for one; a folder that does not come to rest is at fault.
 */
export async function load(options: FolderOptions, cache: ReadonlyMap<string, CachedFile>): Promise<LoadedFolder> {
  let loaded = await loadOnce(options, cache);
  for (let attempt = 1; loaded.state !== (await stateOf(options.dir, loaded.secretPaths)); attempt++) {
    if (attempt === MAX_ATTEMPTS) {
      const message = 'keeps changing while it is being read';
      const fault: Fault = { file: basename(options.dir), object: '', field: '', message };
      return { ...loaded, result: { faults: [fault] } };
    }
    await pause(PAUSE_MS * attempt);
    loaded = await loadOnce(options, loaded.files);
  }
  return loaded;
}

async function loadOnce(options: FolderOptions, cache: ReadonlyMap<string, CachedFile>): Promise<LoadedFolder> {
  const { dir, secretsDir, usdToEur, platformNamespace, ownPorts, extra } = options;
  const content = await readFolder(dir, cache);
  const secrets = openSecretFiles(secretsDir);
  const compiled = compile([...content.documents, ...(extra?.() ?? [])], {
    usdToEur,
    platformNamespace,
    ownPorts,
    secretFile: secrets.read,
    incomplete: content.faults.length > 0,
  });
  const faults = [...content.faults, ...(compiled.faults ?? [])];
  const secretPaths = [...secrets.seen.keys()];
  const files = [...content.files].map(([path, file]) => [path, file.signature] as const);
  const secretFolders = secretPaths.map((path) => dirname(path));
  return {
    result: faults.length === 0 ? compiled : { faults: Object.freeze(faults) },
    files: content.files,
    secretPaths,
    folders: [...new Set([...content.folders, ...(secretsDir === undefined ? [] : [secretsDir]), ...secretFolders])],
    state: content.listed ? toState([...files, ...secrets.seen]) : '',
  };
}

/** The state that a folder and these secret files are in now; empty when the folder cannot be listed. */
export async function stateOf(dir: string, secretPaths: readonly string[]): Promise<string> {
  let paths: readonly string[];
  try {
    paths = (await listFolder(dir)).paths;
  } catch {
    return '';
  }
  const all = [...paths, ...secretPaths];
  const signatures = await Promise.all(all.map(async (path) => [path, await signatureOf(path)] as const));
  return toState(signatures);
}

function toState(signatures: readonly (readonly [string, Signature])[]): string {
  return ['readable', ...signatures.map(([path, signature]) => `${path} ${signature}`)].join('\n');
}
