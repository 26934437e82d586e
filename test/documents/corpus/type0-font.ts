import { readFileSync } from 'node:fs';
import { PDFName, PDFString, type PDFContext, type PDFRef } from '@cantoo/pdf-lib';

const FILE = '/usr/share/fonts/truetype/liberation/LiberationSans-Regular.ttf';

/** A font of the system within a document, whose letters are told by the numbers of their glyphs. */
export interface GlyphFont {
  readonly ref: PDFRef;
  /** A text as the operand of an operator that shows it. Throws for a letter that the font lacks. */
  hex(text: string): string;
}

/**
 * Puts a TrueType font into a document, as most programs do: a composite font with the identity for its encoding, and a
 * table that tells characters. `name` is what the font calls itself; `note` stands in a comment of that table.
 */
export function embedGlyphFont(context: PDFContext, name: string, note: string): GlyphFont {
  const file = readFileSync(FILE);
  const glyphs = charactersOf(file);
  const base = PDFName.of(`ABCDEF+${name.replace(/\s/g, '')}`);
  const font = context.register(context.flateStream(file, { Length1: file.length }));
  const descriptor = context.obj({
    ...{ Type: 'FontDescriptor', Flags: 32, FontBBox: [-544, -303, 1302, 980], ItalicAngle: 0 },
    ...{ Ascent: 905, Descent: -212, CapHeight: 729, StemV: 80 },
  });
  descriptor.set(PDFName.of('FontName'), base);
  descriptor.set(PDFName.of('FontFile2'), font);
  const descendant = context.obj({
    ...{ Type: 'Font', Subtype: 'CIDFontType2', CIDToGIDMap: 'Identity', DW: 556 },
    W: [0, [...glyphs.widths]],
  });
  const system = context.obj({ Supplement: 0 });
  system.set(PDFName.of('Registry'), PDFString.of('Adobe'));
  system.set(PDFName.of('Ordering'), PDFString.of('Identity'));
  descendant.set(PDFName.of('CIDSystemInfo'), system);
  descendant.set(PDFName.of('BaseFont'), base);
  descendant.set(PDFName.of('FontDescriptor'), context.register(descriptor));
  const table = context.register(context.flateStream(toUnicode(glyphs.numbers, note)));
  const whole = context.obj({ Type: 'Font', Subtype: 'Type0', Encoding: 'Identity-H' });
  whole.set(PDFName.of('BaseFont'), base);
  whole.set(PDFName.of('DescendantFonts'), context.obj([context.register(descendant)]));
  whole.set(PDFName.of('ToUnicode'), table);
  return {
    ref: context.register(whole),
    hex(text) {
      const numbers = Array.from(text, (letter) => {
        const number = glyphs.numbers.get(letter.codePointAt(0) ?? 0);
        if (number === undefined) throw new Error(`the font has no ${letter}`);
        return number.toString(16).padStart(4, '0');
      });
      return `<${numbers.join('')}>`;
    },
  };
}

/** Letters by the number of their glyph, in the font that documents are given. */
export function lettersByGlyph(): ReadonlyMap<number, string> {
  return new Map(
    Array.from(charactersOf(readFileSync(FILE)).numbers, ([code, glyph]) => [glyph, String.fromCodePoint(code)]),
  );
}

interface Characters {
  /** Code point -> number of its glyph. */
  readonly numbers: ReadonlyMap<number, number>;
  /** By glyph, in thousandths of the size. */
  readonly widths: readonly number[];
}

/** Reads the tables of characters (format 4) and of widths. // OpenType, cmap and hmtx */
function charactersOf(file: Buffer): Characters {
  const table = (name: string): number => {
    for (let at = 12; at < 12 + file.readUInt16BE(4) * 16; at += 16)
      if (file.toString('latin1', at, at + 4) === name) return file.readUInt32BE(at + 8);
    throw new Error(`the font has no ${name}`);
  };
  const cmap = table('cmap');
  const numbers = new Map<number, number>();
  for (let entry = 0; entry < file.readUInt16BE(cmap + 2); entry++) {
    const from = cmap + file.readUInt32BE(cmap + 4 + entry * 8 + 4);
    if (file.readUInt16BE(from) === 4) readSegments(file, from, numbers);
  }
  const perEm = file.readUInt16BE(table('head') + 18);
  const metrics = table('hmtx');
  const count = file.readUInt16BE(table('hhea') + 34);
  const widths = Array.from({ length: count }, (_, glyph) =>
    Math.round((file.readUInt16BE(metrics + glyph * 4) * 1000) / perEm),
  );
  return { numbers, widths };
}

function readSegments(file: Buffer, from: number, numbers: Map<number, number>): void {
  const bytes = file.readUInt16BE(from + 6);
  for (let segment = 0; segment < bytes; segment += 2) {
    const last = file.readUInt16BE(from + 14 + segment);
    const first = file.readUInt16BE(from + 16 + bytes + segment);
    const delta = file.readUInt16BE(from + 16 + bytes * 2 + segment);
    const place = from + 16 + bytes * 3 + segment;
    const offset = file.readUInt16BE(place);
    for (let code = first; code <= last && code < 0xffff; code++) {
      const raw = offset === 0 ? code : file.readUInt16BE(place + offset + (code - first) * 2);
      const number = offset !== 0 && raw === 0 ? 0 : (raw + delta) & 0xffff;
      if (number !== 0) numbers.set(code, number);
    }
  }
}

function toUnicode(numbers: ReadonlyMap<number, number>, note: string): string {
  const hex = (number: number): string => number.toString(16).padStart(4, '0');
  const lines = [...new Map(Array.from(numbers, ([code, glyph]) => [glyph, code]))].map(
    ([glyph, code]) => `<${hex(glyph)}> <${hex(code)}>`,
  );
  const blocks: string[] = [];
  for (let at = 0; at < lines.length; at += 100) {
    const block = lines.slice(at, at + 100);
    blocks.push(`${block.length} beginbfchar\n${block.join('\n')}\nendbfchar`);
  }
  return `%!PS-Adobe-3.0 Resource-CMap
% ${note}
/CIDInit /ProcSet findresource begin 12 dict begin begincmap
/CMapName /Adobe-Identity-UCS def /CMapType 2 def
1 begincodespacerange <0000> <ffff> endcodespacerange
${blocks.join('\n')}
endcmap CMapName currentdict /CMap defineresource pop end end`;
}
