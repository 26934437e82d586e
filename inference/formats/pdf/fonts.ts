import { PDFDict, PDFName, PDFRef, PDFStream, type PDFContext, type PDFObject } from '@cantoo/pdf-lib';
import { decoded } from './streams.ts';
import { dictOf } from './structure.ts';

const [TYPE, FONT, FONT_DESCRIPTOR, BASE_FONT, FONT_NAME, FONT_FAMILY, NAME, DESCENDANTS, TO_UNICODE] = [
  ...['Type', 'Font', 'FontDescriptor', 'BaseFont', 'FontName', 'FontFamily', 'Name', 'DescendantFonts', 'ToUnicode'],
].map((name) => PDFName.of(name)) as [PDFName, PDFName, PDFName, PDFName, PDFName, PDFName, PDFName, PDFName, PDFName];
const [TYPE1_FILE, TRUETYPE_FILE, COMPACT_FILE] = ['FontFile', 'FontFile2', 'FontFile3'].map((name) =>
  PDFName.of(name),
) as [PDFName, PDFName, PDFName];

/** Letters that come with every reader or computer: it chooses them by these names. */
const KNOWN_NAME =
  /^(?:[A-Z]{6}\+)?(?:Arial|Helvetica|Times|Courier|Symbol|ZapfDingbats|Calibri|Cambria|Verdana|Georgia|Tahoma|Liberation|DejaVu)(?:New|Neue|Roman|Sans|Serif|Mono|Unicode|MS|PS|MT|Narrow|Light|Black|Math|Condensed|Regular|Medium|Bold|Italic|Oblique|[,-])*$/;
/** What the name of a font tells of how it looks. */
const STYLE = /bold|italic|oblique/gi;

/**
 * Removes invisible information from fonts: names, makers, comments. The shapes of letters, and which
 * characters they are, stays.
 */
export function anonymizeFonts(context: PDFContext): void {
  const names = new Map<string, PDFName>();
  const done = new Set<PDFRef>();
  for (const [, object] of context.enumerateIndirectObjects()) {
    const dict = dictOf(object);
    if (!dict) continue;
    for (const inner of [dict, ...dict.values()]) if (inner instanceof PDFDict) anonymize(context, inner, names, done);
  }
}

function anonymize(context: PDFContext, dict: PDFDict, names: Map<string, PDFName>, done: Set<PDFRef>): void {
  const type = dict.get(TYPE);
  if (type !== FONT && type !== FONT_DESCRIPTOR && !dict.has(BASE_FONT) && !dict.has(FONT_NAME)) return;
  for (const key of [BASE_FONT, FONT_NAME]) {
    const name = context.lookup(dict.get(key));
    if (name instanceof PDFName) dict.set(key, otherName(name, names));
  }
  dict.delete(FONT_FAMILY);
  dict.delete(NAME);
  if (dict.has(DESCENDANTS) || type === FONT) rewrite(context, dict.get(TO_UNICODE), done, charactersOnly);
  rewrite(context, dict.get(TYPE1_FILE), done, withoutType1Names);
  rewrite(context, dict.get(TRUETYPE_FILE), done, withoutTrueTypeNames);
  rewrite(context, dict.get(COMPACT_FILE), done, (file) =>
    file[0] === 1 ? withoutCompactNames(file) : withoutTrueTypeNames(file),
  );
}

/** The same name becomes the same other one. */
function otherName(name: PDFName, names: Map<string, PDFName>): PDFName {
  const text = name.decodeText();
  if (KNOWN_NAME.test(text)) return name;
  const style = [...new Set(text.match(STYLE) ?? [])].join('');
  const other = names.get(text) ?? PDFName.of(`Font${names.size + 1}${style && `-${style}`}`);
  names.set(text, other);
  return other;
}

/** Gives a stream other content, as often as it is referred to once. */
function rewrite(
  context: PDFContext,
  ref: PDFObject | undefined,
  done: Set<PDFRef>,
  change: (content: Buffer) => Buffer,
): void {
  if (!(ref instanceof PDFRef) || done.has(ref)) return;
  done.add(ref);
  const stream = context.lookup(ref);
  const content = stream instanceof PDFStream ? decoded(stream) : undefined;
  if (!(stream instanceof PDFStream) || !content) return;
  const fresh = context.flateStream(change(Buffer.from(content)));
  for (const [key, value] of stream.dict.entries())
    if (/^(?:Length[123]|Subtype)$/.test(key.decodeText())) fresh.dict.set(key, value);
  context.assign(ref, fresh);
}

const MAPPINGS = /\bbegin(codespacerange|bfchar|bfrange)\b([\s\dA-Fa-f<>[\]]*)\bend\1\b/g;

/** Of a table of characters its mappings, in a frame that is always the same. // Adobe Technical Note 5411 */
function charactersOnly(table: Buffer): Buffer {
  // A comment could stand between any two words.
  const text = table.toString('latin1').replace(/%[^\r\n]*/g, '');
  const blocks = Array.from(text.matchAll(MAPPINGS), ([, kind = '', body = '']) => {
    const lines = body
      .split(/[\r\n]/)
      .map((line) => line.trim())
      .filter((line) => line !== '');
    return `${lines.length} begin${kind}\n${lines.join('\n')}\nend${kind}\n`;
  });
  return Buffer.from(
    '/CIDInit /ProcSet findresource begin\n12 dict begin\nbegincmap\n/CMapName /Characters def\n/CMapType 2 def\n' +
      `${blocks.join('')}endcmap\nCMapName currentdict /CMap defineresource pop\nend\nend\n`,
    'latin1',
  );
}

/** The table of names tells who made a font and of what: it is emptied. // OpenType, name */
function withoutTrueTypeNames(font: Buffer): Buffer {
  if (font.length < 12) return font;
  const tables = Math.min(font.readUInt16BE(4), Math.floor((font.length - 12) / 16));
  for (let table = 0; table < tables; table++) {
    const at = 12 + table * 16;
    const tag = font.toString('latin1', at, at + 4);
    const start = Math.min(font.length, font.readUInt32BE(at + 8));
    const end = Math.min(font.length, start + font.readUInt32BE(at + 12));
    // Signatures and notes of programs that made it.
    if (/^(?:name|DSIG|meta|FFTM|PfEd)$/.test(tag)) font.fill(0, start, end);
    if (tag === 'name' && start + 6 <= font.length) font.writeUInt16BE(6, start + 4);
    if (tag === 'CFF ') withoutCompactNames(font.subarray(start, end));
  }
  return font;
}

/** The head of such a font is a program: its comments and what it says of itself become blanks. // Adobe Type 1 Font Format, 2.2 */
function withoutType1Names(font: Buffer): Buffer {
  const encrypted = font.indexOf('eexec');
  const end = encrypted < 0 ? font.length : encrypted;
  const head = font
    .toString('latin1', 0, end)
    .replace(/(?<!^)%[^\r\n]*|(?<=^%![^\r\n]{0,40}:)[^\r\n]*/g, blank)
    .replace(
      /(?<=\/(?:version|Notice|Copyright|FullName|FamilyName|Weight)\s*\()(?:[^()\\]|\\.|\([^()]*\))*(?=\))/g,
      blank,
    )
    .replace(/(?<=\/FontName\s*\/)[^\s/]+/g, (name) => 'F'.repeat(name.length));
  font.write(head, 0, 'latin1');
  return font;
}

function blank(text: string): string {
  return ' '.repeat(text.length);
}

/** Operators whose operand is the number of a text about the font: version to weight, copyright, PostScript, base font. */
const TEXTS = new Set([0, 1, 2, 3, 4, 0xc00, 0xc15, 0xc16]);
/** Numbers of texts below are those of the standard. // Adobe Technical Note 5176, appendix A */
const STANDARD_TEXTS = 391;

/** Names and texts about a compact font become letters that say nothing, and are as long. // Adobe Technical Note 5176 */
function withoutCompactNames(font: Buffer): Buffer {
  try {
    const names = indexAt(font, font[2] ?? 4);
    const tops = indexAt(font, names.end);
    const texts = indexAt(font, tops.end);
    for (const [start, end] of names.entries) font.fill('F', start, end);
    for (const [start, end] of tops.entries)
      for (const number of textsNamed(font.subarray(start, end))) {
        const [from, to] = texts.entries[number - STANDARD_TEXTS] ?? [0, 0];
        font.fill('F', from, to);
      }
  } catch (error) {
    // A font that is cut short has no more names.
    if (!(error instanceof RangeError)) throw error;
  }
  return font;
}

interface Index {
  readonly entries: readonly (readonly [start: number, end: number])[];
  readonly end: number;
}

function indexAt(font: Buffer, at: number): Index {
  const count = font.readUInt16BE(at);
  if (count === 0) return { entries: [], end: at + 2 };
  const size = font.readUInt8(at + 2);
  const offset = (index: number): number => font.readUIntBE(at + 3 + index * size, size);
  const data = at + 2 + (count + 1) * size;
  const entries = Array.from(
    { length: count },
    (_, index) => [data + offset(index), data + offset(index + 1)] as const,
  );
  return { entries, end: data + offset(count) };
}

/** Numbers of the texts that a dictionary names. */
function textsNamed(dict: Buffer): readonly number[] {
  const found: number[] = [];
  let operand = 0;
  for (let at = 0; at < dict.length;) {
    const byte = dict.readUInt8(at++);
    if (byte <= 21) {
      const operator = byte === 12 ? 0xc00 + dict.readUInt8(at++) : byte;
      if (TEXTS.has(operator)) found.push(operand);
    } else if (byte === 28) {
      operand = dict.readInt16BE(at);
      at += 2;
    } else if (byte === 29) {
      operand = dict.readInt32BE(at);
      at += 4;
    } else if (byte === 30) {
      while (at < dict.length && (dict.readUInt8(at) & 15) !== 15) at++;
      at++;
    } else if (byte <= 246) operand = byte - 139;
    else
      operand =
        byte <= 250
          ? (byte - 247) * 256 + dict.readUInt8(at++) + 108
          : -(byte - 251) * 256 - dict.readUInt8(at++) - 108;
  }
  return found;
}
