import { DocumentFault } from '#ports/documents.ts';

/** A text and how it was written. */
export interface Decoded {
  readonly text: string;
  /** Writes another text the same way; what was in an encoding of single bytes becomes UTF-8. */
  readonly encode: (text: string) => Uint8Array;
}

const MARKS = { 'utf-16le': [0xff, 0xfe], 'utf-16be': [0xfe, 0xff], 'utf-8': [0xef, 0xbb, 0xbf] } as const;

/**
 * Decodes a text file: UTF-16 or UTF-8 by its mark, else in the encoding that was said, else as UTF-8, and what is no
 * UTF-8 as Windows-1252. Throws `unreadable` for an encoding that is not known or that the bytes are not in.
 */
export function decodeText(bytes: Uint8Array, said?: string): Decoded {
  for (const [encoding, mark] of Object.entries(MARKS)) {
    if (!mark.every((byte, index) => bytes[index] === byte)) continue;
    return {
      text: decode(bytes, encoding),
      encode: (text) => Buffer.concat([Buffer.from(mark), encode(text, encoding)]),
    };
  }
  const written = (text: string): Uint8Array => encode(text, 'utf-8');
  if (said !== undefined) return { text: decode(bytes, said), encode: written };
  const unicode = tryDecode(bytes, 'utf-8');
  return { text: unicode ?? decode(bytes, 'windows-1252'), encode: written };
}

function decode(bytes: Uint8Array, encoding: string): string {
  const text = tryDecode(bytes, encoding);
  if (text === undefined) throw new DocumentFault('unreadable', 'the text is not in the encoding that it says');
  return text;
}

function tryDecode(bytes: Uint8Array, encoding: string): string | undefined {
  try {
    return new TextDecoder(encoding, { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

function encode(text: string, encoding: string): Buffer {
  if (encoding === 'utf-8') return Buffer.from(text);
  const wide = Buffer.from(text, 'utf16le');
  return encoding === 'utf-16be' ? wide.swap16() : wide;
}

/** An address with its percent escapes put in their places, or as it is where they are none. */
export function unescaped(address: string): string {
  try {
    return decodeURIComponent(address);
  } catch {
    return address;
  }
}
