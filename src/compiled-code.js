// JavaScript, as what strips types from TypeScript takes 15 MB of memory and is not needed where all code is compiled already.
import { lstatSync, mkdirSync, readlinkSync, statSync, symlinkSync } from 'node:fs';
import { enableCompileCache, getCompileCacheDir } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { cachedDataVersionTag } from 'node:v8';

/** In the root of the code: a user who may write here may change the code itself. */
const FOLDER = join(import.meta.dirname, '../.compiled');
/** What an image brings (tools/images/compile.ts). */
const SHIPPED = join(FOLDER, 'shipped');

/**
 * Lets Node.js load what is imported from here on as compiled code: what the image brings, or what an earlier start of
 * this user left. Node.js checks each file against its source. Does nothing where NODE_COMPILE_CACHE names a folder, or
 * where no folder is safe to use: a start then takes longer.
 */
export function useCompiledCode() {
  if (getCompileCacheDir() !== undefined) return;
  const directory = statSync(SHIPPED, { throwIfNoEntry: false }) ? linked() : isPrivate(FOLDER) ? FOLDER : undefined;
  if (directory !== undefined) enableCompileCache({ directory });
}

/**
 * A folder with a link to what is shipped. Node.js looks in a folder whose name has the processor's features and the user
 * in it, neither of which an image can know; compiled code depends on neither, and V8 checks its version and flags.
 */
function linked() {
  const folder = join(tmpdir(), `gatewarden-compiled-${process.getuid?.()}`);
  if (!isPrivate(folder)) return undefined;
  const name = [process.version, process.arch, cachedDataVersionTag().toString(16), process.getuid?.()].join('-');
  const link = join(folder, name);
  try {
    symlinkSync(SHIPPED, link);
  } catch {
    // An earlier start has made it, or nobody can.
    if (!lstatSync(link, { throwIfNoEntry: false })?.isSymbolicLink() || readlinkSync(link) !== SHIPPED)
      return undefined;
  }
  return folder;
}

/**
 * Whether the folder is there, or can be made, and nobody but this user can write or read in it.
 * @param {string} folder
 */
function isPrivate(folder) {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const found = lstatSync(folder);
    return found.isDirectory() && found.uid === process.getuid?.() && (found.mode & 0o077) === 0;
  } catch {
    return false;
  }
}
