import { DocumentFault } from '#/ports/documents.ts';

/** A piece of RTF: the beginning or end of a group, a word or sign of the language, bytes of text, or bytes as they are. */
export type Token =
  | { readonly kind: 'open' | 'close' }
  | { readonly kind: 'word'; readonly name: string; readonly value: number | undefined }
  | { readonly kind: 'byte'; readonly byte: number }
  | { readonly kind: 'text'; readonly text: string };

const WORD = /([a-zA-Z]{1,32})(-?\d{1,10})? ?/y;
const PLAIN = /[^\\{}\r\n\0\x80-\xff]+/y;
const CHECK_EVERY = 50_000;
const MAX_TOKENS = 3_000_000;

/** Takes RTF apart in one pass. What follows `\bin` is stepped over, and told as nothing. Throws `too_large`. */
export function* tokensOf(bytes: Uint8Array, checkTime: () => void): Generator<Token> {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1');
  let at = 0;
  for (let count = 1; at < text.length; count++) {
    if (count % CHECK_EVERY === 0) checkTime();
    if (count > MAX_TOKENS) throw new DocumentFault('too_large', 'the document has too many parts');
    const sign = text[at] ?? '';
    if (sign === '{' || sign === '}') {
      at++;
      yield { kind: sign === '{' ? 'open' : 'close' };
    } else if (sign === '\\') {
      const { token, end } = escapeAt(text, at + 1);
      at = end;
      if (token) yield token;
    } else if (sign === '\r' || sign === '\n' || sign === '\0') at++;
    else if (sign >= '\x80') {
      at++;
      yield { kind: 'byte', byte: sign.charCodeAt(0) };
    } else {
      PLAIN.lastIndex = at;
      const plain = PLAIN.exec(text)?.[0] ?? sign;
      at += plain.length;
      yield { kind: 'text', text: plain };
    }
  }
}

function escapeAt(text: string, at: number): { readonly token: Token | undefined; readonly end: number } {
  WORD.lastIndex = at;
  const found = WORD.exec(text);
  if (found) {
    const [whole, name = '', digits] = found;
    const value = digits === undefined ? undefined : Number(digits);
    const skipped = name === 'bin' ? Math.max(0, value ?? 0) : 0;
    return { token: { kind: 'word', name, value }, end: at + whole.length + skipped };
  }
  const sign = text[at] ?? '';
  if (sign === "'") {
    const byte = Number.parseInt(text.slice(at + 1, at + 3), 16);
    return { token: Number.isNaN(byte) ? undefined : { kind: 'byte', byte }, end: at + 3 };
  }
  if (sign === '\\' || sign === '{' || sign === '}') return { token: { kind: 'text', text: sign }, end: at + 1 };
  // A line's end behind a backslash is the end of a paragraph.
  const name = sign === '\n' || sign === '\r' ? 'par' : sign;
  return { token: { kind: 'word', name, value: undefined }, end: at + 1 };
}
