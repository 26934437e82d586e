import { randomBytes } from 'node:crypto';
import { link, readFile, rm, writeFile } from 'node:fs/promises';
import { readMasterKeys } from '#/config/master-keys.ts';
import type { MasterKey } from '#/config/master-keys.ts';

/**
 * The master keys of the response cache and of retained content: a line `id:base64 of 32 bytes` each, the newest first.
 * The first one encrypts, the others only decrypt; a key that is removed makes its content unreadable. If the file is
 * missing, it is created with one random key. Rejects invalid content; the message does not show keys.
 */
export async function loadContentKeys(file: string): Promise<readonly MasterKey[]> {
  const text = await readFile(file, 'utf8').catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return makeKeyFile(file);
    throw error;
  });
  return readContentKeys(text);
}

/** Reads the text of such a file. Throws when it holds anything but keys. */
export function readContentKeys(text: string): readonly MasterKey[] {
  return readMasterKeys(text, 'content keys');
}

/** Linked into its place whole: no process reads half of it, and of several processes the first one makes it. */
async function makeKeyFile(file: string): Promise<string> {
  const text = `${randomBytes(4).toString('hex')}:${randomBytes(32).toString('base64')}\n`;
  const draft = `${file}.${randomBytes(4).toString('hex')}`;
  try {
    await writeFile(draft, text, { mode: 0o600, flag: 'wx' });
    await link(draft, file);
    return text;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return await readFile(file, 'utf8');
    throw error;
  } finally {
    await rm(draft, { force: true });
  }
}
