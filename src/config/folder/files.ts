import { closeSync, constants, fstatSync, openSync, readSync, type BigIntStats } from 'node:fs';
import { stat } from 'node:fs/promises';

/** Tells two states of a file apart; a file that is not there has the empty one. */
export type Signature = string;

/** What reading a file gave. `reason` reads on from the file's name. */
export type FileContent =
  | { readonly kind: 'text'; readonly text: string; readonly signature: Signature }
  | { readonly kind: 'unreadable'; readonly reason: string; readonly signature: Signature };

/** The state a path is in now, symbolic links followed. */
export async function signatureOf(path: string): Promise<Signature> {
  try {
    return toSignature(await stat(path, { bigint: true }));
  } catch {
    return '';
  }
}

/**
 * Reads a UTF-8 text file of at most `maxBytes`. The signature is from before reading: with a change in between, the
 * next comparison differs. Never waits for a writer, not even on a named pipe.
 */
export function readText(path: string, maxBytes: number): FileContent {
  let signature: Signature = '';
  let descriptor: number | undefined;
  try {
    descriptor = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const stats = fstatSync(descriptor, { bigint: true });
    signature = toSignature(stats);
    if (!stats.isFile()) return { kind: 'unreadable', reason: 'is not a file', signature };
    if (stats.size > BigInt(maxBytes)) {
      return { kind: 'unreadable', reason: `is larger than ${maxBytes / 1_048_576} MiB`, signature };
    }
    const bytes = Buffer.alloc(Number(stats.size));
    const length = readSync(descriptor, bytes, 0, bytes.length, 0);
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes.subarray(0, length));
    return { kind: 'text', text, signature };
  } catch (error) {
    return { kind: 'unreadable', reason: reasonOf(error), signature };
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}

/** Why a file or folder could not be read, in words. */
export function reasonOf(error: unknown): string {
  const code = (error as NodeJS.ErrnoException).code;
  switch (code) {
    case 'ERR_ENCODING_INVALID_ENCODED_DATA':
      return 'is not UTF-8 text';
    case 'ENOENT':
      return 'does not exist';
    default:
      return `cannot be read (${code ?? 'unknown error'})`;
  }
}

function toSignature(stats: BigIntStats): Signature {
  return `${stats.dev} ${stats.ino} ${stats.size} ${stats.mtimeNs} ${stats.ctimeNs}`;
}
