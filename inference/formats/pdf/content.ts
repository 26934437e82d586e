/** Findings in a stream of drawing operators, and the stream without invisible parts. // ISO 32000-1, 7.8.2 */
export interface CleanContent {
  readonly bytes: Uint8Array;
  /** Every string that is an operand, as bytes. */
  readonly strings: readonly Buffer[];
  /** Names that operators refer to: fonts, pictures, patterns, colour spaces. */
  readonly names: ReadonlySet<string>;
  /** Pictures that were written into the stream; a grey tile stands in the place of each. */
  readonly inlinePictures: number;
}

/** Operators that mark content for others than the reader. // ISO 32000-1, 14.6 */
const MARKING: ReadonlySet<string> = new Set(['BMC', 'BDC', 'EMC', 'MP', 'DP']);
const TILE = Buffer.from('q 0.8 g 0 0 1 1 re f Q\n', 'latin1');
const WHITE = new Set([0, 9, 10, 12, 13, 32]);
const DELIMITERS = new Set(Buffer.from('()<>[]{}/%', 'latin1'));

interface Token {
  readonly kind: 'string' | 'name' | 'word' | 'bracket';
  readonly start: number;
  readonly end: number;
}

/**
 * Takes marks (which carry alternative texts) out of a stream, and pictures that were written into it unless they are to
 * stay, as letters of a font that is made of pictures must.
 */
export function cleanContent(source: Uint8Array, keepPictures = false): CleanContent {
  const bytes = Buffer.from(source.buffer, source.byteOffset, source.length);
  const parts: Buffer[] = [];
  const strings: Buffer[] = [];
  const names = new Set<string>();
  let inlinePictures = 0;
  let first: number | undefined;
  let at = 0;
  for (let token = next(bytes, 0); token; token = next(bytes, at)) {
    at = token.end;
    first ??= token.start;
    if (token.kind === 'string') strings.push(stringAt(bytes, token));
    else if (token.kind === 'name') names.add(nameAt(bytes, token));
    if (token.kind !== 'word' || isOperand(bytes, token)) continue;
    const operator = bytes.toString('latin1', token.start, token.end);
    if (operator === 'BI') {
      at = endOfPicture(bytes, at);
      inlinePictures++;
      parts.push(keepPictures ? bytes.subarray(first, at) : TILE, NEWLINE);
    } else if (!MARKING.has(operator)) parts.push(bytes.subarray(first, token.end), NEWLINE);
    first = undefined;
  }
  return { bytes: Buffer.concat(parts), strings, names, inlinePictures };
}

const NEWLINE = Buffer.from('\n', 'latin1');

function next(bytes: Buffer, from: number): Token | undefined {
  let start = from;
  for (; start < bytes.length; start++) {
    const code = bytes[start] ?? 0;
    if (code === PERCENT) start = endOfLine(bytes, start);
    else if (!WHITE.has(code)) break;
  }
  if (start >= bytes.length) return undefined;
  const code = bytes[start];
  if (code === OPEN) return { kind: 'string', start, end: endOfString(bytes, start) };
  if (code === LESS && bytes[start + 1] !== LESS) {
    const close = bytes.indexOf(GREATER, start);
    return { kind: 'string', start, end: close < 0 ? bytes.length : close + 1 };
  }
  if (code === SLASH) return { kind: 'name', start, end: endOfWord(bytes, start + 1) };
  if (DELIMITERS.has(code ?? 0)) {
    const double = (code === LESS || code === GREATER) && bytes[start + 1] === code;
    return { kind: 'bracket', start, end: start + (double ? 2 : 1) };
  }
  return { kind: 'word', start, end: endOfWord(bytes, start) };
}

const [OPEN, CLOSE, LESS, GREATER, SLASH, PERCENT, BACKSLASH] = [40, 41, 60, 62, 47, 37, 92];

function endOfLine(bytes: Buffer, from: number): number {
  let at = from;
  while (at < bytes.length && bytes[at] !== 10 && bytes[at] !== 13) at++;
  return at;
}

function endOfWord(bytes: Buffer, from: number): number {
  let at = from;
  while (at < bytes.length && !WHITE.has(bytes[at] ?? 0) && !DELIMITERS.has(bytes[at] ?? 0)) at++;
  return at;
}

function endOfString(bytes: Buffer, from: number): number {
  let depth = 0;
  for (let at = from; at < bytes.length; at++) {
    const code = bytes[at];
    if (code === BACKSLASH) at++;
    else if (code === OPEN) depth++;
    else if (code === CLOSE && --depth === 0) return at + 1;
  }
  return bytes.length;
}

/** Numbers and literals are operands, all other words operators. */
function isOperand(bytes: Buffer, { start, end }: Token): boolean {
  const code = bytes[start] ?? 0;
  if ((code >= 48 && code <= 57) || code === 43 || code === 45 || code === 46) return true;
  const word = end - start <= 5 ? bytes.toString('latin1', start, end) : '';
  return word === 'true' || word === 'false' || word === 'null';
}

/** Behind `EI`, which stands between blanks and is followed by something that can be read. */
function endOfPicture(bytes: Buffer, from: number): number {
  const data = bytes.indexOf('ID', from);
  for (let at = bytes.indexOf('EI', Math.max(from, data + 2)); at >= 0; at = bytes.indexOf('EI', at + 1)) {
    const framed = WHITE.has(bytes[at - 1] ?? 0) && (at + 2 >= bytes.length || WHITE.has(bytes[at + 2] ?? 0));
    if (framed && bytes.subarray(at + 2, at + 12).every((code) => code < 127 && (code >= 32 || WHITE.has(code))))
      return at + 2;
  }
  return bytes.length;
}

function nameAt(bytes: Buffer, { start, end }: Token): string {
  return bytes
    .toString('latin1', start + 1, end)
    .replace(/#([0-9a-fA-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
}

const ESCAPES: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', b: '\b', f: '\f' };

function stringAt(bytes: Buffer, { start, end }: Token): Buffer {
  if (bytes[start] === LESS) {
    const hex = bytes.toString('latin1', start + 1, end - 1).replace(/[^0-9a-fA-F]/g, '');
    return Buffer.from(hex.length % 2 ? `${hex}0` : hex, 'hex');
  }
  const text = bytes
    .toString('latin1', start + 1, end - 1)
    .replace(/\\(?:([0-7]{1,3})|(\r\n|[^]))/g, (_, octal: string | undefined, sign: string) => {
      if (octal !== undefined) return String.fromCharCode(Number.parseInt(octal, 8) & 0xff);
      return sign === '\n' || sign === '\r' || sign === '\r\n' ? '' : (ESCAPES[sign] ?? sign);
    });
  return Buffer.from(text, 'latin1');
}
