import { readdir, stat } from 'node:fs/promises';
import { basename, join, relative } from 'node:path';
import type { Fault, SourceDocument } from '../fault.ts';
import { readText, reasonOf, signatureOf, type Signature } from './files.ts';
import { parseYaml, type ParsedFile } from './yaml-documents.ts';

const MAX_BYTES = 16 * 1_048_576;

/** A file as it was read, kept so that only files that changed are read again. */
export interface CachedFile extends ParsedFile {
  readonly signature: Signature;
}

/** One reading of a folder. */
export interface FolderContent {
  readonly documents: readonly SourceDocument[];
  readonly faults: readonly Fault[];
  /** The files by path, for the next reading and to notice changes. */
  readonly files: ReadonlyMap<string, CachedFile>;
  /** The folders that hold them. */
  readonly folders: readonly string[];
  /** False when the folder itself could not be read. */
  readonly listed: boolean;
}

/** The YAML files of a folder and of the folders in it, in a stable order. Hidden ones are left out. */
export interface FolderListing {
  readonly paths: readonly string[];
  readonly folders: readonly string[];
}

/** Reads every file of the folder, or takes it from `cache` if its signature is the same. */
export async function readFolder(dir: string, cache: ReadonlyMap<string, CachedFile>): Promise<FolderContent> {
  let listing: FolderListing;
  try {
    listing = await listFolder(dir);
  } catch (error) {
    const fault: Fault = { file: basename(dir), object: '', field: '', message: reasonOf(error) };
    return { documents: [], faults: [fault], files: new Map(), folders: [dir], listed: false };
  }
  const files = new Map<string, CachedFile>();
  for (const path of listing.paths) {
    const known = cache.get(path);
    const unchanged = known && known.signature !== '' && known.signature === (await signatureOf(path));
    files.set(path, unchanged ? known : await readFile(path, relative(dir, path)));
  }
  const parsed = [...files.values()];
  const documents = parsed.flatMap((file) => file.documents);
  const faults = parsed.flatMap((file) => file.faults);
  // A mount that came up empty must not mean that all keys are deleted.
  if (documents.length === 0 && faults.length === 0) {
    faults.push({ file: basename(dir), object: '', field: '', message: 'has no resources' });
  }
  return { documents, faults, files, folders: listing.folders, listed: true };
}

/** Lists a folder. Rejects when it, or a folder in it, cannot be read. */
export async function listFolder(dir: string): Promise<FolderListing> {
  const paths: string[] = [];
  const folders = [dir];
  for (const name of await visibleNames(dir)) {
    const path = join(dir, name);
    if (isYaml(name)) paths.push(path);
    else if (await isFolder(path)) folders.push(path);
  }
  for (const folder of folders.slice(1)) {
    for (const name of await visibleNames(folder)) if (isYaml(name)) paths.push(join(folder, name));
  }
  return { paths: paths.sort(), folders };
}

async function visibleNames(dir: string): Promise<readonly string[]> {
  return (await readdir(dir)).filter((name) => !name.startsWith('.'));
}

function isYaml(name: string): boolean {
  return /\.ya?ml$/i.test(name);
}

async function isFolder(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isDirectory();
  } catch {
    return false; // gone since it was listed
  }
}

async function readFile(path: string, file: string): Promise<CachedFile> {
  const content = readText(path, MAX_BYTES);
  if (content.kind === 'text') return { ...(await parseYaml(file, content.text)), signature: content.signature };
  const fault: Fault = { file, object: '', field: '', message: content.reason };
  return { documents: [], faults: [fault], signature: content.signature };
}
