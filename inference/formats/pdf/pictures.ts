import sharp from 'sharp';
import {
  PDFName,
  PDFNumber,
  PDFStream,
  type PDFContext,
  type PDFDict,
  type PDFDocument,
  type PDFRef,
} from '@cantoo/pdf-lib';
import { withPdf } from './pdfium.ts';
import { openObjects } from './structure.ts';

/** Pixels that remain of an image along its longer side, whatever its size, and the size at which they are written. */
const REMAINDER = 12;
const LEAST_FACTOR = 4;
const WRITTEN = 240;
/** Pixels in which a picture is drawn to be shrunk. */
const DRAWN = 96;

const SUBTYPE = PDFName.of('Subtype');
const IMAGE = PDFName.of('Image');
const MASKS = ['SMask', 'Mask'].map((name) => PDFName.of(name));

interface Picture {
  readonly ref: PDFRef;
  readonly width: number;
  readonly height: number;
}

/**
 * Replaces every image of a document, wherever it is used, by a few spots of colour; transparent parts stay
 * transparent, but blurred. Each is drawn by the library that draws pages, which knows all encodings. Returns their
 * number.
 */
export async function blurPictures(document: PDFDocument, checkTime: () => void): Promise<number> {
  const pictures = picturesOf(document);
  if (pictures.length === 0) return 0;
  const bytes = await onPagesOfTheirOwn(document, pictures);
  await withPdf(
    bytes,
    async (file) => {
      for (const [at, picture] of pictures.entries()) {
        checkTime();
        const drawn = file.withPage(at, (page) => file.draw(page, DRAWN, DRAWN, 0));
        await replace(document.context, picture, drawn.data);
      }
    },
    pictures.length,
  );
  return pictures.length;
}

function picturesOf({ context }: PDFDocument): readonly Picture[] {
  const masks = new Set<unknown>();
  const pictures: Picture[] = [];
  const objects = context.enumerateIndirectObjects();
  for (const [, object] of objects)
    if (object instanceof PDFStream) for (const key of MASKS) masks.add(object.dict.get(key));
  for (const [ref, object] of objects) {
    if (!(object instanceof PDFStream) || object.dict.get(SUBTYPE) !== IMAGE || masks.has(ref)) continue;
    pictures.push({ ref, width: sideOf(object.dict, 'Width'), height: sideOf(object.dict, 'Height') });
  }
  return pictures;
}

function sideOf(dict: PDFDict, name: string): number {
  const value = dict.lookup(PDFName.of(name));
  return value instanceof PDFNumber ? Math.max(1, Math.min(1_000_000, value.asNumber())) : 1;
}

/** The document again, with one page for each picture before all others, which are left out. */
async function onPagesOfTheirOwn(document: PDFDocument, pictures: readonly Picture[]): Promise<Uint8Array> {
  const copy = await openObjects(await document.save({ useObjectStreams: false, updateFieldAppearances: false }));
  for (let index = copy.getPageCount() - 1; index >= 0; index--) copy.removePage(index);
  for (const { ref } of pictures) {
    const page = copy.addPage([DRAWN, DRAWN]);
    page.node.set(PDFName.of('Resources'), copy.context.obj({ XObject: { I: ref } }));
    const content = copy.context.stream(`q ${DRAWN} 0 0 ${DRAWN} 0 0 cm 0 g /I Do Q`);
    page.node.set(PDFName.of('Contents'), copy.context.register(content));
  }
  return copy.save({ useObjectStreams: false, updateFieldAppearances: false });
}

async function replace(context: PDFContext, { ref, width, height }: Picture, rgba: Buffer): Promise<void> {
  const factor = (most: number): number => Math.min(1, most / Math.max(width, height));
  const size = (most: number) => ({
    width: Math.max(1, Math.round(width * factor(most))),
    height: Math.max(1, Math.round(height * factor(most))),
  });
  const small = await sharp(rgba, { raw: { width: DRAWN, height: DRAWN, channels: 4 } })
    .resize({ ...size(Math.min(REMAINDER, Math.max(width, height) / LEAST_FACTOR)), fit: 'fill' })
    .raw()
    .toBuffer({ resolveWithObject: true });
  const raw = { width: small.info.width, height: small.info.height, channels: 4 as const };
  const large = size(WRITTEN);
  const enlarged = sharp(small.data, { raw }).resize({ ...large, fit: 'fill', kernel: 'cubic' });
  const jpeg = await enlarged.clone().removeAlpha().jpeg({ quality: 80 }).toBuffer();
  const alpha = await enlarged.extractChannel(3).raw().toBuffer();
  const common = { Type: 'XObject', Subtype: 'Image', Width: large.width, Height: large.height, BitsPerComponent: 8 };
  const mask = alpha.some((value) => value < 250)
    ? { SMask: context.register(context.flateStream(alpha, { ...common, ColorSpace: 'DeviceGray' })) }
    : {};
  context.assign(ref, context.stream(jpeg, { ...common, ...mask, ColorSpace: 'DeviceRGB', Filter: 'DCTDecode' }));
}
