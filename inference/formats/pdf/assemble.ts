import { PDFName, PDFString, type PDFContext, type PDFDocument, type PDFRef } from '@cantoo/pdf-lib';
import type { LayerWord, RasterPage } from './raster.ts';

/** Width of each letter of a font that draws none, in thousandths of its size. */
const LETTER = 500;
/** Below a line, in heights of its letters. */
const DESCENT = 0.2;

/** Puts pictures in the places of pages, each with its text as a layer that is not drawn. */
export function replacePages(document: PDFDocument, pages: ReadonlyMap<number, RasterPage>): void {
  if (pages.size === 0) return;
  const { context } = document;
  const font = invisibleFont(context);
  for (const [index, raster] of pages) {
    document.removePage(index);
    const { node } = document.insertPage(index, [raster.width, raster.height]);
    const picture = context.stream(raster.jpeg, {
      ...{ Type: 'XObject', Subtype: 'Image', Width: raster.pixels.width, Height: raster.pixels.height },
      ...{ BitsPerComponent: 8, ColorSpace: 'DeviceRGB', Filter: 'DCTDecode' },
    });
    const resources = { XObject: { I: context.register(picture) }, Font: { T: font } };
    node.set(PDFName.of('Resources'), context.obj(resources));
    const drawn = `q ${raster.width} 0 0 ${raster.height} 0 0 cm /I Do Q\n`;
    const content = context.flateStream(drawn + layerOf(raster.words, raster.height));
    node.set(PDFName.of('Contents'), context.register(content));
  }
}

/** A font without letters that says of each what it is: codes are UTF-16. // ISO 32000-1, 9.7 and 9.10 */
function invisibleFont(context: PDFContext): PDFRef {
  const ranges = Array.from({ length: 256 }, (_, high) => {
    const byte = high.toString(16).padStart(2, '0');
    return `<${byte}00> <${byte}ff> <${byte}00>`;
  });
  const blocks = [];
  for (let at = 0; at < ranges.length; at += 100) {
    const block = ranges.slice(at, at + 100);
    blocks.push(`${block.length} beginbfrange\n${block.join('\n')}\nendbfrange`);
  }
  const toUnicode = context.flateStream(`/CIDInit /ProcSet findresource begin
12 dict begin
begincmap
/CIDSystemInfo << /Registry (Adobe) /Ordering (UCS) /Supplement 0 >> def
/CMapName /Adobe-Identity-UCS def
/CMapType 2 def
1 begincodespacerange
<0000> <ffff>
endcodespacerange
${blocks.join('\n')}
endcmap
CMapName currentdict /CMap defineresource pop
end
end`);
  const descriptor = context.obj({
    ...{ Type: 'FontDescriptor', FontName: 'Invisible', Flags: 4, FontBBox: [0, 0, LETTER, 1000], ItalicAngle: 0 },
    ...{ Ascent: 1000, Descent: 0, CapHeight: 1000, StemV: 80 },
  });
  const letters = context.obj({
    ...{ Type: 'Font', Subtype: 'CIDFontType2', BaseFont: 'Invisible', DW: LETTER, CIDToGIDMap: 'Identity' },
    FontDescriptor: context.register(descriptor),
    CIDSystemInfo: { Registry: PDFString.of('Adobe'), Ordering: PDFString.of('Identity'), Supplement: 0 },
  });
  return context.register(
    context.obj({
      ...{ Type: 'Font', Subtype: 'Type0', BaseFont: 'Invisible', Encoding: 'Identity-H' },
      DescendantFonts: [context.register(letters)],
      ToUnicode: context.register(toUnicode),
    }),
  );
}

/** Words at their places; each is stretched to the width that it has in the picture. */
function layerOf(words: readonly LayerWord[], pageHeight: number): string {
  const shown = words.map(({ text, box }) => {
    const codes = Array.from(text).filter((letter) => letter.length === 1);
    const height = Math.max(1, box.y1 - box.y0);
    const width = Math.max(1, box.x1 - box.x0);
    const stretch = (100 * width) / Math.max(1, (codes.length * height * LETTER) / 1000);
    const hex = codes.map((letter) => letter.charCodeAt(0).toString(16).padStart(4, '0')).join('');
    const [x, y] = [box.x0, pageHeight - box.y1 + DESCENT * height];
    // A blank keeps words apart for readers that use the order of letters.
    return `/T ${round(height)} Tf ${round(stretch)} Tz 1 0 0 1 ${round(x)} ${round(y)} Tm <${hex}0020> Tj`;
  });
  return `BT 3 Tr\n${shown.join('\n')}\nET\n`;
}

function round(value: number): string {
  return value.toFixed(2);
}
