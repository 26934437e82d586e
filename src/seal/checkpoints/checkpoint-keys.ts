import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';

/**
 * The Ed25519 keys that sign checkpoints, from a PEM file, the newest first; one is made there when there is no file,
 * with its public half next to it (`….pub`) for verifiers. Rejects when the file holds something else.
 */
export async function loadCheckpointKeys(file: string): Promise<readonly KeyObject[]> {
  let pem: string;
  try {
    pem = await readFile(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    pem = generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
    await writeFile(file, pem, { mode: 0o600, flag: 'wx' });
    const publicPem = createPublicKey(pem).export({ type: 'spki', format: 'pem' }).toString();
    await writeFile(`${file}.pub`, publicPem, { mode: 0o644 });
  }
  return readCheckpointKeys(pem);
}

/** The private keys in a PEM text, in its order. Throws when it holds none, or one that is not Ed25519. */
export function readCheckpointKeys(pem: string): readonly KeyObject[] {
  const blocks = pem.match(/-----BEGIN [A-Z ]+-----[^-]+-----END [A-Z ]+-----/g) ?? [];
  // Without a block, the parser reports the fault.
  const keys = (blocks.length === 0 ? [pem] : blocks).map((block) => createPrivateKey(block));
  if (keys.some((key) => key.asymmetricKeyType !== 'ed25519'))
    throw new Error('the checkpoint key is not an Ed25519 key');
  return keys;
}
