import sharp from 'sharp';
import type { Box } from '../../page/page.ts';
import { decodeFrame, inspect } from './decode.ts';
import { drawText, fill, textSize, type Pixels } from './lettering.ts';
import type { Photos } from './photos.ts';

/** A picture is shrunk to so many pixels along its longer side before it is enlarged again: no face survives that. */
const REMAINDER = 12;
/** The same of a page in which photographs are blurred; a photograph is a part of it. */
const PAGE_REMAINDER = 16;

/** How far beyond a stretch is covered, in heights of it: the lines above and below are close. */
const AROUND = 0.08;
const BESIDE = 0.15;
/**
 * Height of a capital, as a share of a line from its highest to its lowest letter: tags are no larger than the old
 * text.
 */
const CAPITAL = 0.75;

const BLACK = [0, 0, 0] as const;
const WHITE = [255, 255, 255] as const;

/** A picture in the size of `pixels` of which only a few blots of colour are left. Nothing can bring the rest back. */
async function blurred(pixels: Pixels, remainder: number): Promise<Buffer> {
  const { width, height } = pixels;
  const small = await sharp(pixels.data, { raw: { width, height, channels: 3 } })
    .resize({ width: remainder, height: remainder, fit: 'inside' })
    .blur(0.8)
    .raw()
    .toBuffer({ resolveWithObject: true });
  const raw = { width: small.info.width, height: small.info.height, channels: small.info.channels };
  return sharp(small.data, { raw }).resize({ width, height, fit: 'fill', kernel: 'cubic' }).raw().toBuffer();
}

/** Blurs all of a picture, in place. */
export async function blurAll(pixels: Pixels): Promise<void> {
  (await blurred(pixels, REMAINDER)).copy(pixels.data);
}

/** Blurs the photographs on a page, in place, but for the words that stand in them. */
export async function blurPhotos(pixels: Pixels, photos: Photos, words: readonly Box[]): Promise<void> {
  const { data, width, height } = pixels;
  const blots = await blurred(pixels, PAGE_REMAINDER);
  const kept = words.map((box) => ({ box, rows: copyRows(pixels, box) }));
  for (let row = 0; row < photos.rows; row++) {
    for (let column = 0; column < photos.columns; column++) {
      if (!photos.cells[row * photos.columns + column]) continue;
      const from = Math.floor(column * photos.side);
      const to = Math.min(width, Math.ceil((column + 1) * photos.side));
      const last = Math.min(height, Math.ceil((row + 1) * photos.side));
      for (let y = Math.floor(row * photos.side); y < last; y++)
        blots.copy(data, (y * width + from) * 3, (y * width + from) * 3, (y * width + to) * 3);
    }
  }
  for (const { rows } of kept) for (const { at, bytes } of rows) bytes.copy(data, at);
}

function copyRows({ data, width, height }: Pixels, box: Box): { readonly at: number; readonly bytes: Buffer }[] {
  const x0 = Math.max(0, Math.floor(box.x0));
  const x1 = Math.min(width, Math.ceil(box.x1));
  const rows = [];
  for (let y = Math.max(0, Math.floor(box.y0)); y < Math.min(height, Math.ceil(box.y1)); y++) {
    const at = (y * width + x0) * 3;
    rows.push({ at, bytes: Buffer.from(data.subarray(at, at + Math.max(0, x1 - x0) * 3)) });
  }
  return rows;
}

/**
 * Covers a stretch with its own mean colour, a bit beyond its edges, and writes `tag` there where it fits: the rest of
 * the stretch is one colour. Print that is merely blurred can be guessed back.
 */
export function cover(pixels: Pixels, stretch: Box, tag: string): void {
  const high = stretch.y1 - stretch.y0;
  const [across, along] = [Math.max(2, high * AROUND), Math.max(2, high * BESIDE)];
  const box = {
    x0: Math.max(0, Math.floor(stretch.x0 - along)),
    y0: Math.max(0, Math.floor(stretch.y0 - across)),
    x1: Math.min(pixels.width, Math.ceil(stretch.x1 + along)),
    y1: Math.min(pixels.height, Math.ceil(stretch.y1 + across)),
  };
  const colour = meanColour(pixels, box);
  fill(pixels, box, colour);
  const unit = textSize(tag, 1);
  const room = Math.min((box.x1 - box.x0 - 2) / unit.width, (box.y1 - box.y0 - 2) / unit.height);
  if (room < 1) return;
  const scale = Math.min(Math.floor(room), Math.max(1, Math.round((high * CAPITAL) / unit.height)));
  const size = textSize(tag, scale);
  const at = {
    x: Math.round((box.x0 + box.x1 - size.width) / 2),
    y: Math.round((box.y0 + box.y1 - size.height) / 2),
  };
  drawText(pixels, tag, at, scale, colour[0] + colour[1] + colour[2] > 384 ? BLACK : WHITE);
}

function meanColour({ data, width }: Pixels, box: Box): readonly [number, number, number] {
  const sum: [number, number, number] = [0, 0, 0];
  let count = 0;
  for (let y = box.y0; y < box.y1; y++) {
    for (let x = box.x0; x < box.x1; x++) {
      const at = (y * width + x) * 3;
      sum[0] += data[at] ?? 0;
      sum[1] += data[at + 1] ?? 0;
      sum[2] += data[at + 2] ?? 0;
      count++;
    }
  }
  const mean = (total: number): number => Math.round(total / Math.max(1, count));
  return [mean(sum[0]), mean(sum[1]), mean(sum[2])];
}

/**
 * A picture that is part of a document, blurred whole: PNG, or JPEG when the picture is one, upright, in its own size as far
 * as that is within bounds, without any metadata. Only its first frame is kept. Rejects with `unreadable` or `too_large`.
 */
export async function blurPicture(bytes: Uint8Array, mediaType: 'image/png' | 'image/jpeg'): Promise<Uint8Array> {
  await inspect(bytes);
  const frame = await decodeFrame(bytes, 0);
  await blurAll(frame);
  const image = sharp(frame.data, { raw: { width: frame.width, height: frame.height, channels: 3 } });
  return (mediaType === 'image/jpeg' ? image.jpeg({ quality: 80 }) : image.png()).toBuffer();
}
