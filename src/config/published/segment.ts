import { createHash } from 'node:crypto';
import { gunzipSync, gzipSync } from 'node:zlib';

/** A part of the configuration, by the SHA-256 (hex) of its text. */
export interface Segment {
  readonly digest: string;
  /** The text, compressed. */
  readonly bytes: Uint8Array;
}

const MOST_BYTES = 256 * 1024 * 1024;

/** Digest and compressed bytes of a text. Equal texts have equal digests. */
export function toSegment(text: string): Segment {
  return { digest: digestOf(text), bytes: gzipSync(text, { level: 6 }) };
}

/** The text, or undefined when the bytes are not those of the digest. */
export function readSegment(digest: string, bytes: Uint8Array | undefined): string | undefined {
  if (!bytes) return undefined;
  try {
    const text = gunzipSync(bytes, { maxOutputLength: MOST_BYTES });
    return digestOf(text) === digest ? text.toString('utf8') : undefined;
  } catch {
    return undefined;
  }
}

/** SHA-256 in hexadecimal. */
export function digestOf(text: string | Uint8Array): string {
  return createHash('sha256').update(text).digest('hex');
}
