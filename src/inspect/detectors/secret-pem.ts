import { isAlphanumeric } from './characters.ts';
import type { Stretch } from './secret-shapes.ts';

const LONGEST_LABEL = 64;

/**
 * A PEM private key, whole, whose `-----BEGIN` has its last hyphen at `at`. Without an END line it goes as far as the
 * base64 does. Reads no further than the next two hyphens in a row.
 */
export function privateKey(text: string, at: number, floor: number): Stretch | undefined {
  const start = at - 4;
  if (start < floor || !text.startsWith('-----BEGIN ', start)) return undefined;
  const labelLength = text.slice(at + 1, at + LONGEST_LABEL).indexOf('-----');
  if (labelLength < 0 || !text.slice(at, at + 1 + labelLength).includes('PRIVATE KEY')) return undefined;
  const body = at + 1 + labelLength + 5;
  const bodyEnd = closedBodyEnd(text, body);
  if (text.startsWith('-----END ', bodyEnd)) {
    const close = text.slice(bodyEnd + 9, bodyEnd + 9 + LONGEST_LABEL).indexOf('-----');
    return { start, end: bodyEnd + 9 + (close < 0 ? 0 : close + 5) };
  }
  const end = cutBodyEnd(text, body);
  return end > body ? { start, end } : undefined;
}

function closedBodyEnd(text: string, from: number): number {
  let end = from;
  while (end < text.length && isBody(text, end)) end += 1;
  return end;
}

const BLANKS = /(?:\s|\\[nrt])*/y;
const LINE = /[A-Za-z0-9+/]*={0,2}/y;
const SHORTEST_LINE = 24;

/** The end of the lines that look like base64: prose that follows a cut-off key is no part of it. */
function cutBodyEnd(text: string, from: number): number {
  for (let end = from; ;) {
    BLANKS.lastIndex = end;
    BLANKS.test(text);
    const start = BLANKS.lastIndex;
    LINE.lastIndex = start;
    LINE.test(text);
    const lineEnd = LINE.lastIndex;
    const isLine = lineEnd - start >= SHORTEST_LINE || (lineEnd > start && text[lineEnd - 1] === '=');
    if (!isLine) return end;
    end = lineEnd;
  }
}

/** Base64, blanks, line breaks (also written as `\n`), and the headers of an encrypted key. */
function isBody(text: string, at: number): boolean {
  if (isAlphanumeric(text.charCodeAt(at))) return true;
  const character = text[at] as string;
  if (character === '-') return text[at + 1] !== '-';
  return '+/=\n\r\t \\:,'.includes(character);
}
