import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';

/**
 * The Ed25519 key that signs checkpoints, from a PEM file; made there when there is none, with its public half beside
 * it (`….pub`) for whoever verifies. Rejects when the file holds something else.
 */
export async function loadCheckpointKey(file: string): Promise<KeyObject> {
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
  const key = createPrivateKey(pem);
  if (key.asymmetricKeyType !== 'ed25519') throw new Error('the checkpoint key is not an Ed25519 key');
  return key;
}
