import { PDFDict, PDFDocument, PDFName, PDFStream, type PDFContext, type PDFRef } from '@cantoo/pdf-lib';
import { expect, test } from 'vitest';
import { anonymizeFonts } from './fonts.ts';
import { decoded } from './streams.ts';

const WHO = 'AdaLovelace';

interface Fonts {
  readonly context: PDFContext;
  readonly font: PDFRef;
  readonly descriptor: PDFRef;
}

/** A font of which the file stands under `key`, named after somebody. */
async function fontOf(key: string, file: Uint8Array, name = `ABCDEF+${WHO}-BoldItalic`): Promise<Fonts> {
  const { context } = await PDFDocument.create();
  const descriptor = context.obj({ Type: 'FontDescriptor', FontName: name, FontFamily: WHO });
  descriptor.set(PDFName.of(key), context.register(context.flateStream(file, { Length1: file.length })));
  const table = `%!PS ${WHO}\n/CMapName /${WHO} def\n1 begincodespacerange <00> <ff> endcodespacerange % ${WHO}\n2 beginbfchar\n<01> <0041>\n<02> <0042> % ${WHO}\nendbfchar`;
  const ref = context.register(descriptor);
  const font = context.obj({ Type: 'Font', Subtype: 'Type0', BaseFont: name, Name: WHO, FontDescriptor: ref });
  font.set(PDFName.of('ToUnicode'), context.register(context.flateStream(Buffer.from(table))));
  return { context, font: context.register(font), descriptor: ref };
}

function contentOf({ context }: Fonts, ref: PDFRef, key: string): string {
  const stream = context.lookup(context.lookup(ref, PDFDict).get(PDFName.of(key)));
  return stream instanceof PDFStream ? Buffer.from(decoded(stream) ?? []).toString('latin1') : '';
}

/** A compact font's head: a name, a dictionary that names two texts, and the texts. */
function compactFont(): Buffer {
  const index = (...entries: readonly Buffer[]): Buffer => {
    const ends = entries.reduce<number[]>((all, entry) => [...all, (all.at(-1) ?? 1) + entry.length], [1]);
    return Buffer.concat([Buffer.from([0, entries.length, 1, ...ends]), ...entries]);
  };
  // Numbers 391 and 392 are the first texts of the font itself: its notice and its full name; 393 is a glyph's name.
  const dictionary = Buffer.from([28, 0x01, 0x87, 1, 28, 0x01, 0x88, 2]);
  const texts = [`Made by ${WHO}`, WHO, 'a.alternate'].map((text) => Buffer.from(text));
  return Buffer.concat([Buffer.from([1, 0, 4, 1]), index(Buffer.from(WHO)), index(dictionary), index(...texts)]);
}

const PROGRAM = `%!PS-AdobeFont-1.0: ${WHO} 001.001\n%% by ${WHO}\n/FontInfo 9 dict dup begin\n/Notice (by ${WHO} \\(c\\)) def\n/FullName (${WHO}) def end\n/FontName /${WHO} def\n/Encoding 256 array currentfile eexec`;

test.each([
  ['FontFile', Buffer.from(PROGRAM), '/Encoding 256 array currentfile eexec'],
  ['FontFile3', compactFont(), 'a.alternate'],
])('%s says nothing of who made it, and is as long as before', async (key, file, kept) => {
  const fonts = await fontOf(key, file);
  expect(contentOf(fonts, fonts.descriptor, key)).toContain(WHO);
  anonymizeFonts(fonts.context);
  const left = contentOf(fonts, fonts.descriptor, key);
  expect(left).not.toContain(WHO);
  expect(left).toContain(kept);
  expect(left).toHaveLength(file.length);
});

test('a font gets another name that tells its style, and keeps which characters its letters are', async () => {
  const fonts = await fontOf('FontFile3', compactFont());
  anonymizeFonts(fonts.context);
  for (const ref of [fonts.font, fonts.descriptor]) {
    const dict = String(fonts.context.lookup(ref));
    expect(dict).not.toContain(WHO);
    expect(dict).toContain('/Font1-BoldItalic');
  }
  const table = contentOf(fonts, fonts.font, 'ToUnicode');
  expect(table).not.toContain(WHO);
  expect(table).toMatch(
    /1 begincodespacerange\n<00> <ff>\nendcodespacerange\n2 beginbfchar\n<01> <0041>\n<02> <0042>\nendbfchar/,
  );
});

test.each(['Helvetica-Bold', 'ABCDEF+TimesNewRomanPSMT', 'Arial,Italic'])(
  '%s is known to every reader and stays',
  async (name) => {
    const fonts = await fontOf('FontFile', Buffer.from('x'), name);
    anonymizeFonts(fonts.context);
    expect(fonts.context.lookup(fonts.font, PDFDict).get(PDFName.of('BaseFont'))).toEqual(PDFName.of(name));
  },
);

test.each([
  [0, 3],
  [1, 200],
  [1, 0, 4, 1, 0, 9, 4, 255, 255],
])('a font that is cut short is no reason to fail: %j', async (...bytes) => {
  const fonts = await fontOf('FontFile3', Uint8Array.from(bytes));
  expect(() => {
    anonymizeFonts(fonts.context);
  }).not.toThrow();
});
