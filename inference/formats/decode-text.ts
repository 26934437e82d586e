import { DocumentFault } from '#/ports/documents.ts';

/** A text and how it was written. */
export interface Decoded {
  readonly text: string;
  /** Encodes another text the same way; a text in a single-byte encoding becomes UTF-8. */
  readonly encode: (text: string) => Uint8Array;
}

const MARKS = { 'utf-16le': [0xff, 0xfe], 'utf-16be': [0xfe, 0xff], 'utf-8': [0xef, 0xbb, 0xbf] } as const;

/**
 * Decodes a text file: UTF-16 or UTF-8 by its byte order mark, else in the declared encoding, else as UTF-8, and
 * invalid UTF-8 in the encoding of single bytes that it reads best in. Throws `unreadable` for an encoding that is not
 * known or that the bytes are not in.
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
  return { text: unicode ?? decode(bytes, likeliest(bytes)), encode: written };
}

/** Encodings of single bytes, those of the west first: they win where nothing speaks for another. */
const SINGLE = ['windows-1252', 'iso-8859-15', 'windows-1250', 'iso-8859-2', 'macintosh'] as const;
/** Letters beyond ASCII that the languages of documents are written with. */
const LETTERS = new Set('äöüßéèêëàâçîïôûùœæñáíóúìòãõąćęłńśźżčďěňřšťůýžőűășțåøð');
/** After so many characters, the result is certain. */
const HEAD_BYTES = 256 * 1024;

/**
 * The encoding in which most bytes beyond ASCII are letters of words: read in another one, a name would not be found, and
 * could still be recognized in the result.
 */
function likeliest(bytes: Uint8Array): string {
  const head = bytes.subarray(0, HEAD_BYTES);
  const scores = SINGLE.map((encoding) => readsAs(tryDecode(head, encoding) ?? ''));
  return SINGLE[scores.indexOf(Math.max(...scores))] ?? 'windows-1252';
}

/** Letters within words, less the signs and the capitals that make no sense there. */
function readsAs(text: string): number {
  let score = 0;
  for (const { 0: sign, index } of text.matchAll(/[^\0-\x7f]/g)) {
    const [before = ' ', after = ' '] = [text[index - 1], text[index + 1]];
    if (/\p{L}/u.test(before) || /\p{L}/u.test(after)) score += isSense(before, sign, after) ? 1 : -1;
  }
  return score;
}

function isSense(before: string, sign: string, after: string): boolean {
  const small = sign.toLowerCase();
  if (/[¿¡]/.test(sign)) return /\p{L}/u.test(after) && !/\p{L}/u.test(before);
  // French has it before few letters, and it is where Polish letters are in other encodings.
  if (small === 'œ') return /[ui]/i.test(after);
  if (!LETTERS.has(small)) return /[«»„“”‘’–—€]/.test(sign);
  return sign === small ? !(/\p{Lu}/u.test(after) && !/\p{L}/u.test(before)) : !/\p{Ll}/u.test(before);
}

function decode(bytes: Uint8Array, encoding: string): string {
  const text = tryDecode(bytes, encoding);
  if (text === undefined) throw new DocumentFault('unreadable', 'the text is not in its declared encoding');
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

/** An address with its percent escapes decoded, or unchanged if they are invalid. */
export function unescaped(address: string): string {
  try {
    return decodeURIComponent(address);
  } catch {
    return address;
  }
}
