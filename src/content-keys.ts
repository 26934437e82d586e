import { randomBytes } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import type { MasterKey } from '#seal/sealed-box.ts';

const LINE = /^([A-Za-z0-9._-]{1,32}):([A-Za-z0-9+/]{43}=)$/;

/**
 * The master keys of the response cache and of retained content: a line `id:base64 of 32 bytes` each, the newest first.
 * The first one seals, the others still open; a key that was taken out makes all it had sealed unreadable. The file is
 * made, with one random key, when there is none. Rejects when it holds anything else; the message tells no key.
 */
export async function loadContentKeys(file: string): Promise<readonly MasterKey[]> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return makeKeyFile(file);
    throw error;
  });
  return readContentKeys(text);
}

/** Reads the text of such a file. Throws when it holds anything but keys. */
export function readContentKeys(text: string): readonly MasterKey[] {
  const keys: MasterKey[] = [];
  for (const [index, line] of text.split('\n').entries()) {
    if (line.trim() === '' || line.startsWith('#')) continue;
    const [, id, secret] = LINE.exec(line.trim()) ?? [];
    if (id === undefined || secret === undefined) throw new Error(`content keys, line ${index + 1}: not id:base64 of 32 bytes`);
    if (keys.some((key) => key.id === id)) throw new Error(`content keys, line ${index + 1}: the id is used twice`);
    keys.push({ id, secret: Buffer.from(secret, 'base64') });
  }
  if (keys.length === 0) throw new Error('content keys: the file holds no key');
  return keys;
}

async function makeKeyFile(file: string): Promise<string> {
  const text = `${randomBytes(4).toString('hex')}:${randomBytes(32).toString('base64')}\n`;
  try {
    await writeFile(file, text, { mode: 0o600, flag: 'wx' });
    return text;
  } catch (error) {
    // Another process has made it in the meantime.
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return await readFile(file, 'utf8');
    throw error;
  }
}
