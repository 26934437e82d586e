/** A master key of 32 bytes and the name by which encrypted content says that it was used. */
export interface MasterKey {
  /** 1 to 32 ASCII characters. */
  readonly id: string;
  readonly secret: Uint8Array;
}

const LINE = /^([A-Za-z0-9._-]{1,32}):([A-Za-z0-9+/]{43}=)$/;

/**
 * Master keys as their files hold them: a line `id:base64 of 32 bytes` each, the newest first; empty lines and those
 * that begin with `#` do not count. Throws when the text holds anything else, or no key: `what` begins the message,
 * which tells no key.
 */
export function readMasterKeys(text: string, what: string): readonly MasterKey[] {
  const keys: MasterKey[] = [];
  for (const [index, line] of text.split('\n').entries()) {
    if (line.trim() === '' || line.startsWith('#')) continue;
    const [, id, secret] = LINE.exec(line.trim()) ?? [];
    if (id === undefined || secret === undefined)
      throw new Error(`${what}, line ${index + 1}: not id:base64 of 32 bytes`);
    if (keys.some((key) => key.id === id)) throw new Error(`${what}, line ${index + 1}: the id is used twice`);
    keys.push({ id, secret: Buffer.from(secret, 'base64') });
  }
  if (keys.length === 0) throw new Error(`${what}: the file has no key`);
  return keys;
}
