import {
  DocumentFault,
  type DocumentFile,
  type RedactedDocument,
  type RedactOptions,
  type Replacement,
} from '#/ports/documents.ts';
import { findOriginals } from '../originals.ts';
import type { Tools } from '../format.ts';
import type { Box } from '../../page/page.ts';
import { blurAll, blurPhotos, cover } from './blur.ts';
import { checkAnimation, decodeFrame, inspect, type Frame } from './decode.ts';
import { encode, toPng } from './encode.ts';
import { layOut, parseLayout, stretchesOf, type FrameLayout, type PlacedWord } from './layout.ts';
import { findPhotos, isSure } from './photos.ts';
import { tiff, tiffPage, type TiffPage } from './tiff.ts';

/** How often remaining text in the result is covered before the job fails. */
const ROUNDS = 2;

/**
 * Covers the replaced stretches, blurs what looks like a photograph, or all of a frame in which nothing can be read, and
 * writes a new file. That is read again: an original that is still found is covered too, and looked for once more.
 */
export async function redactImage(file: DocumentFile, options: RedactOptions, tools: Tools): Promise<RedactedDocument> {
  const facts = await inspect(file.bytes);
  const layout = parseLayout(options.layout);
  if (layout.frames.length !== facts.frames) throw foreign();
  const replacements = Map.groupBy(options.replacements, ({ unit }) => unit);
  checkAnimation(facts, file.mediaType);
  const isTiff = file.mediaType === 'image/tiff';
  const frames: Frame[] = [];
  const pages: TiffPage[] = [];
  let images = 0;
  for (const [index, placed] of layout.frames.entries()) {
    tools.checkTime();
    // Those of an animation are done together.
    tools.onPages(pages.length, facts.frames);
    const frame = await decodeFrame(file.bytes, index);
    if (frame.width !== placed.width || frame.height !== placed.height) throw foreign();
    images += await blurPictures(frame, placed);
    coverReplaced(frame, placed, replacements);
    // Pages of a TIFF know nothing of each other: none is held as pixels while others are worked on.
    if (isTiff) pages.push(await makeSure([frame], asPage, options.originals, tools));
    else frames.push(frame);
  }
  const asFile: Write<Uint8Array> = async (all) => {
    const bytes = await encode(all, file.mediaType, facts.animation);
    return { bytes, written: bytes };
  };
  const bytes = isTiff ? tiff(pages) : await makeSure(frames, asFile, options.originals, tools);
  tools.onPages(facts.frames, facts.frames);
  return { bytes, mediaType: file.mediaType, pages: layout.frames.length, images, downgraded: false };
}

/** Writes frames: as a file that can be read again, and in the form that is kept. */
type Write<T> = (frames: readonly Frame[]) => Promise<{ readonly bytes: Uint8Array; readonly written: T }>;

const asPage: Write<TiffPage> = async ([frame]) => {
  if (!frame) throw new TypeError('a page is a frame');
  const page = await tiffPage(frame);
  return { bytes: tiff([page]), written: page };
};

/** Blurs photographs, and says how many there were. Words in them that are sure stay readable until they are covered. */
async function blurPictures(frame: Frame, placed: FrameLayout): Promise<number> {
  const words = placed.units
    .flatMap((unit) => unit.words)
    .filter((word) => isSure(word.confidence, word.end - word.start));
  if (words.length === 0) {
    await blurAll(frame);
    return 1;
  }
  const boxes = words.map(({ box }) => box);
  const photos = await findPhotos(frame, boxes);
  if (photos.boxes.length > 0) await blurPhotos(frame, photos, boxes);
  return photos.boxes.length;
}

function coverReplaced(
  frame: Frame,
  placed: FrameLayout,
  replacements: ReadonlyMap<string, readonly Replacement[]>,
): void {
  for (const { id, words } of placed.units) {
    for (const { start, end, tag } of replacements.get(id) ?? []) {
      for (const [at, box] of stretchesOf(words, start, end).entries()) cover(frame, box, at === 0 ? tag : '');
    }
  }
}

/** Frames as they are written, once no original can be read in them. Rejects with `redaction_failed`. */
async function makeSure<T>(
  frames: readonly Frame[],
  write: Write<T>,
  originals: readonly string[],
  tools: Tools,
): Promise<T> {
  let suspects = frames.map((_, index) => index);
  for (let round = 0; round <= ROUNDS; round++) {
    tools.checkTime();
    const { bytes, written } = await write(frames);
    const { hiddenText } = await inspect(bytes);
    if (findOriginals(hiddenText, originals).length > 0) break;
    const found: number[] = [];
    for (const index of originals.length > 0 ? suspects : []) {
      const boxes = await stillRead(bytes, index, originals, tools);
      if (boxes.length > 0) found.push(index);
      const frame = frames[index];
      if (frame) for (const box of boxes) cover(frame, box, '');
    }
    if (found.length === 0) return written;
    suspects = found;
  }
  throw new DocumentFault('redaction_failed', 'personal data could still be read in the result');
}

/** Where originals are read in a frame of the result: within blocks, and over their ends. */
async function stillRead(
  bytes: Uint8Array,
  index: number,
  originals: readonly string[],
  tools: Tools,
): Promise<readonly Box[]> {
  const frame = await decodeFrame(bytes, index);
  const { width, height, dpi } = frame;
  const { lines } = await tools.recognize({ png: await toPng(frame, true), width, height, dpi });
  const { units, layout } = layOut(index, lines, frame);
  const words: PlacedWord[] = [];
  let text = '';
  for (const [at, unit] of units.entries()) {
    for (const word of layout.units[at]?.words ?? [])
      words.push({ ...word, start: word.start + text.length, end: word.end + text.length });
    text += `${unit.text}\n`;
  }
  const spans = findOriginals(text, originals);
  return words
    .filter((word) => spans.some(({ start, end }) => word.start < end && start < word.end))
    .map(({ box }) => box);
}

function foreign(): DocumentFault {
  return new DocumentFault('unreadable', 'the layout does not belong to this document');
}
