import { DocumentFault, type Replacement } from '#/ports/documents.ts';
import { findOriginals } from '../originals.ts';
import type { Tools } from '../format.ts';
import type { Box } from '../../page/page.ts';
import { blurAll, blurPhotos, cover } from '../image/blur.ts';
import { toJpeg, toPng } from '../image/encode.ts';
import { layOut, stretchesOf, type PlacedWord } from '../image/layout.ts';
import type { Pixels } from '../image/lettering.ts';
import { findPhotos, isSure, type Photos } from '../image/photos.ts';
import { drawPage, POINTS_PER_INCH, rasterOf, type Raster } from './draw.ts';
import { around, scaled, shownBox } from './geometry.ts';
import type { Glyph } from './glyphs.ts';
import { foreignLayout, type RecognizedLayout } from './layout.ts';
import type { PageContent } from './page.ts';
import type { PdfiumFile } from './pdfium.ts';
import { RECOGNITION_DPI } from './read.ts';
import { cuttingsOf } from './rewrite.ts';
import { withoutTags, type Span } from './spans.ts';

const SAID_DPI = 150;
const JPEG_QUALITY = 82;
/** How often remaining text in an image is covered before the job fails. */
const ROUNDS = 2;
/** Levels of grey between which nothing is written. */
const LEAST_CONTRAST = 24;

/** A word of a page's invisible layer of text: where it stands on the page as it is shown, in points. */
export interface LayerWord {
  readonly text: string;
  readonly box: Box;
}

/** A page as a picture, with the text that can be read in it. */
export interface RasterPage {
  readonly jpeg: Uint8Array;
  readonly pixels: { readonly width: number; readonly height: number };
  /** Points. */
  readonly width: number;
  readonly height: number;
  readonly words: readonly LayerWord[];
}

/** A covered place, in pixels, and the tag that is written there. */
interface Covering {
  readonly box: Box;
  readonly tag: string;
}

interface Plan {
  readonly coverings: readonly Covering[];
  /** In pixels. */
  readonly words: readonly LayerWord[];
  /** Whether the words were read in the picture: then only those are kept that still are. */
  readonly recognized: boolean;
  readonly blur: (pixels: Pixels) => Promise<void>;
}

/** A page that says its text itself, as a picture. Rejects with `redaction_failed` when originals can still be read in it. */
export function rasterSaid(
  file: PdfiumFile,
  index: number,
  content: PageContent,
  spans: readonly Span[],
  originals: readonly string[],
  tools: Tools,
): Promise<RasterPage> {
  const raster = rasterOf(content.frame, SAID_DPI);
  const factor = raster.dpi / POINTS_PER_INCH;
  const gone = new Set(spans.flatMap(({ glyphs }) => glyphs));
  const seen = (glyph: Glyph): boolean => !glyph.outside && (content.kind === 'layer' || !glyph.invisible);
  const coverings = spans.flatMap(({ glyphs, tag }) =>
    cuttingsOf(glyphs.filter(seen)).map(({ place }, at) => ({
      box: scaled(shownBox(content.frame, place), factor),
      tag: at === 0 ? tag : '',
    })),
  );
  const words = content.lines.flatMap((line) =>
    line.words.flatMap(({ glyphs }) => {
      const kept = glyphs.filter((glyph) => !gone.has(glyph));
      const box = around(kept.map((glyph) => glyph.box));
      return box ? [{ text: kept.map(({ text }) => text).join(''), box: scaled(box, factor) }] : [];
    }),
  );
  const pictures = content.pictures.map((box) => scaled(box, factor));
  const blur = async (pixels: Pixels): Promise<void> => {
    const boxes = words.map(({ box }) => box);
    const photos = await findPhotos(pixels, boxes);
    await blurPhotos(pixels, withBoxes(photos, content.kind === 'layer' ? [whole(pixels)] : pictures), boxes);
  };
  return finish(file, index, raster, { coverings, words, recognized: false, blur }, originals, tools);
}

/** A page whose text was recognized, as a picture. Rejects with `redaction_failed`, or `unreadable` for a foreign layout. */
export function rasterRecognized(
  file: PdfiumFile,
  index: number,
  content: PageContent,
  layout: RecognizedLayout,
  replacements: ReadonlyMap<string, readonly Replacement[]>,
  originals: readonly string[],
  tools: Tools,
): Promise<RasterPage> {
  const raster = rasterOf(content.frame, RECOGNITION_DPI);
  if (raster.width !== layout.width || raster.height !== layout.height) throw foreignLayout();
  const coverings: Covering[] = [];
  const sure: Box[] = [];
  // Text recognized in the result was not searched: the layer contains the searched text.
  const words: LayerWord[] = [];
  for (const { id, words: inUnit } of layout.units) {
    const own = replacements.get(id) ?? [];
    for (const { text, start, end, box, confidence } of inUnit) {
      if (isSure(confidence, end - start)) sure.push(box);
      if (!own.some((one) => one.start < end && start < one.end)) words.push({ text, box });
    }
    for (const { start, end, tag } of own) {
      for (const [at, box] of stretchesOf(inUnit, start, end).entries())
        coverings.push({ box, tag: at === 0 ? tag : '' });
    }
  }
  const blur = async (pixels: Pixels): Promise<void> => {
    if (sure.length === 0) return blurAll(pixels);
    await blurPhotos(pixels, await findPhotos(pixels, sure), sure);
  };
  return finish(file, index, raster, { coverings, words, recognized: true, blur }, originals, tools);
}

async function finish(
  file: PdfiumFile,
  index: number,
  raster: Raster,
  { coverings, words, recognized, blur }: Plan,
  originals: readonly string[],
  tools: Tools,
): Promise<RasterPage> {
  const pixels = file.withPage(index, (page) => drawPage(file, page, raster));
  const seen = words.filter(({ box }) => isSeen(pixels, box));
  await blur(pixels);
  for (const { box, tag } of coverings) cover(pixels, box, tag);
  const { read, covered } = await makeSure(pixels, raster, originals, tools, recognized);
  const factor = POINTS_PER_INCH / raster.dpi;
  const tags = coverings.filter(({ tag }) => tag !== '').map(({ box, tag }) => ({ text: tag, box }));
  const gone = [...coverings.map(({ box }) => box), ...covered];
  const kept = seen.filter(
    ({ box }) => !gone.some((one) => overlap(one, box)) && (!recognized || read.some((one) => overlap(one, box))),
  );
  return {
    jpeg: await toJpeg(pixels, JPEG_QUALITY),
    pixels: { width: raster.width, height: raster.height },
    width: raster.width * factor,
    height: raster.height * factor,
    words: [...kept, ...tags].map(({ text, box }) => ({ text, box: scaled(box, factor) })),
  };
}

/**
 * Covers originals that can still be read, and reads again. Returns the places of words at the end, if
 * requested, and the covered places.
 */
async function makeSure(
  pixels: Pixels,
  { dpi }: Raster,
  originals: readonly string[],
  tools: Tools,
  wanted: boolean,
): Promise<{ readonly read: readonly Box[]; readonly covered: readonly Box[] }> {
  const covered: Box[] = [];
  if (originals.length === 0 && !wanted) return { read: [], covered };
  const { width, height } = pixels;
  for (let round = 0; round <= ROUNDS; round++) {
    const { lines } = await tools.recognize({ png: await toPng(pixels, true), width, height, dpi });
    const { text, words } = flow(layOut(0, lines, pixels));
    const spans = findOriginals(withTagsBlank(text), originals);
    const found = words.filter((word) => spans.some(({ start, end }) => word.start < end && start < word.end));
    if (found.length === 0) return { read: words.map(({ box }) => box), covered };
    for (const { box } of found) {
      cover(pixels, box, '');
      covered.push(box);
    }
  }
  throw new DocumentFault('redaction_failed', 'personal data could still be read in the result');
}

/** All units as one text, since an original may go over the end of a line. */
function flow({ units, layout }: ReturnType<typeof layOut>): {
  readonly text: string;
  readonly words: readonly PlacedWord[];
} {
  const words: PlacedWord[] = [];
  let text = '';
  for (const [at, unit] of units.entries()) {
    for (const word of layout.units[at]?.words ?? [])
      words.push({ ...word, start: word.start + text.length, end: word.end + text.length });
    text += `${unit.text}\n`;
  }
  return { text, words };
}

/** Offsets stay what they are. */
function withTagsBlank(text: string): string {
  return withoutTags(text).length === text.length
    ? text
    : text.replace(/«[^«»]{1,60}»/g, (tag) => ' '.repeat(tag.length));
}

/** Whether anything is written in a box: text in the colour of its ground is not. */
function isSeen({ data, width, height }: Pixels, box: Box): boolean {
  let [dark, light] = [255, 0];
  for (let y = Math.max(0, Math.floor(box.y0)); y < Math.min(height, Math.ceil(box.y1)); y++) {
    for (let x = Math.max(0, Math.floor(box.x0)); x < Math.min(width, Math.ceil(box.x1)); x++) {
      const at = (y * width + x) * 3;
      const grey = ((data[at] ?? 0) + (data[at + 1] ?? 0) + (data[at + 2] ?? 0)) / 3;
      [dark, light] = [Math.min(dark, grey), Math.max(light, grey)];
    }
  }
  return light - dark > LEAST_CONTRAST;
}

function overlap(a: Box, b: Box): boolean {
  const x = Math.min(a.x1, b.x1) - Math.max(a.x0, b.x0);
  const y = Math.min(a.y1, b.y1) - Math.max(a.y0, b.y0);
  return x > 0.3 * (b.x1 - b.x0) && y > 0.3 * (b.y1 - b.y0);
}

function whole({ width, height }: Pixels): Box {
  return { x0: 0, y0: 0, x1: width, y1: height };
}

/** Photographs that were found, and those that are known. */
function withBoxes(photos: Photos, boxes: readonly Box[]): Photos {
  const cells = Uint8Array.from(photos.cells);
  for (const { x0, y0, x1, y1 } of boxes) {
    for (let row = Math.max(0, Math.floor(y0 / photos.side)); row < Math.min(photos.rows, y1 / photos.side); row++)
      for (
        let column = Math.max(0, Math.floor(x0 / photos.side));
        column < Math.min(photos.columns, x1 / photos.side);
        column++
      )
        cells[row * photos.columns + column] = 1;
  }
  return { ...photos, cells, boxes: [...photos.boxes, ...boxes] };
}
