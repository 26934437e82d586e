import type { Match } from '../match.ts';

/**
 * What folding does to each UTF-16 code unit: 0 keeps it, `DROP` removes it, `PAIR` looks at the code point it
 * leads, anything else is the ASCII character put in its place.
 */
const FOLDS = new Uint8Array(0x10000);
const DROP = 1;
const PAIR = 2;

/** First and last of the code points that show nothing (Unicode: Default_Ignorable_Code_Point, of the first plane). */
const INVISIBLE: readonly (readonly [number, number])[] = [
  [0x00ad, 0x00ad],
  [0x034f, 0x034f],
  [0x061c, 0x061c],
  [0x115f, 0x1160],
  [0x17b4, 0x17b5],
  [0x180b, 0x180f],
  [0x200b, 0x200f],
  [0x202a, 0x202e],
  [0x2060, 0x206f],
  [0x3164, 0x3164],
  [0xfe00, 0xfe0f],
  [0xfeff, 0xfeff],
  [0xffa0, 0xffa0],
  [0xfff0, 0xfff8],
];

/** The zero of every run of decimal digits in the first plane (Unicode: Nd). */
const ZEROES = [
  0x0660, 0x06f0, 0x07c0, 0x0966, 0x09e6, 0x0a66, 0x0ae6, 0x0b66, 0x0be6, 0x0c66, 0x0ce6, 0x0d66, 0x0de6, 0x0e50,
  0x0ed0, 0x0f20, 0x1040, 0x1090, 0x17e0, 0x1810, 0x1946, 0x19d0, 0x1a80, 0x1a90, 0x1b50, 0x1bb0, 0x1c40, 0x1c50,
  0xa620, 0xa8d0, 0xa900, 0xa9d0, 0xa9f0, 0xaa50, 0xabf0, 0xff10,
];

/** Spaces and hyphens that people and text processors put into numbers; an em dash separates clauses and stays. */
const SPACES = [
  0x00a0, 0x1680, 0x2000, 0x2001, 0x2002, 0x2003, 0x2004, 0x2005, 0x2006, 0x2007, 0x2008, 0x2009, 0x200a, 0x202f,
  0x205f, 0x3000,
];
const HYPHENS = [0x2010, 0x2011, 0x2012, 0x2013, 0x2212, 0xfe63];

for (let code = 0xff01; code <= 0xff5e; code += 1) FOLDS[code] = code - 0xff01 + 0x21;
for (const zero of ZEROES) for (let digit = 0; digit < 10; digit += 1) FOLDS[zero + digit] = 48 + digit;
for (const code of SPACES) FOLDS[code] = 32;
for (const code of HYPHENS) FOLDS[code] = 45;
for (const [first, last] of INVISIBLE) FOLDS.fill(DROP, first, last + 1);
FOLDS[0x2024] = FOLDS[0xfe52] = 46;
FOLDS[0xfe6b] = 64;
FOLDS[0xd835] = PAIR;
FOLDS[0xdb40] = PAIR;

/** Whether folding would look at this code unit. ASCII is never folded. */
export function isFoldable(code: number): boolean {
  return FOLDS[code] !== 0;
}

/** A folded text and the way back to the original's offsets. */
export interface Folded {
  readonly text: string;
  /** The same match in the original; characters dropped inside it belong to it, those around it do not. */
  unfold(match: Match): Match;
}

/**
 * Writes the text so that look-alikes of ASCII cannot hide an address or a number: invisible characters (zero-width,
 * soft hyphen, bidirectional controls, variation selectors, tags) are dropped; full-width and mathematical forms,
 * decimal digits of every script, and the many spaces, hyphens and dots become the ASCII character they stand for.
 * Control characters stay and end a token, as NUL and line breaks separate values in real data.
 */
export function fold(text: string): Folded {
  const units = new Uint16Array(text.length);
  const origins = new Int32Array(text.length);
  let length = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    const action = FOLDS[code] as number;
    if (action === DROP) continue;
    origins[length] = at;
    if (action === 0) units[length++] = code;
    else if (action !== PAIR) units[length++] = action;
    else {
      const folded = foldPair(text, at);
      if (folded !== DROP) units[length++] = folded === 0 ? code : folded;
      if (folded !== 0) at += 1;
    }
  }
  const written = Buffer.from(units.buffer, 0, length * 2).toString('utf16le');
  return { text: written, unfold: (match) => unfold(text, written, origins, match) };
}

/** `DROP`, an ASCII code, or 0 to keep the pair: for code points beyond the first plane, and lone surrogates. */
function foldPair(text: string, at: number): number {
  const point = text.codePointAt(at) as number;
  if (point >= 0xe0000 && point <= 0xe01ef) return DROP;
  if (point < 0x1d400 || point > 0x1d7ff) return 0;
  const plain = String.fromCodePoint(point).normalize('NFKC');
  return plain.length === 1 && plain.charCodeAt(0) < 128 ? plain.charCodeAt(0) : 0;
}

function unfold(text: string, written: string, origins: Int32Array, match: Match): Match {
  const last = origins[match.end - 1] as number;
  const isPair = text.charCodeAt(last) === 0xd835 && written.charCodeAt(match.end - 1) < 128;
  return { start: origins[match.start] as number, end: last + (isPair ? 2 : 1), category: match.category };
}
