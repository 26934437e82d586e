import { promisify } from 'node:util';
import { deflate } from 'node:zlib';
import sharp from 'sharp';
import type { Frame } from './decode.ts';

/** Types of TIFF's fields. */
const SHORT = 3;
const LONG = 4;
const FRACTION = 5;
const HEADER_BYTES = 8;
const ENTRIES = 13;
/** Values of 8 bits for three channels, and two fractions, behind a directory. */
const VALUES_BYTES = 22;
/** An image that does not compress to this share of its pixels is a photograph, or a noisy scan. */
const LOSSLESS_SHARE = 0.25;
const JPEG_QUALITY = 92;

/** A page as it stands in a file: without its pixels, of which many pages would not fit into memory. */
export interface TiffPage {
  readonly width: number;
  readonly height: number;
  readonly dpi: number;
  readonly channels: 1 | 3;
  readonly compression: 'deflate' | 'jpeg';
  readonly strip: Uint8Array;
}

/** Compresses one page: grey ones in one channel, without loss where that makes them small. */
export async function tiffPage({ data, width, height, dpi }: Frame): Promise<TiffPage> {
  const channels = isGrey(data) ? 1 : 3;
  const pixels = channels === 1 ? everyThird(data) : data;
  const strip = await promisify(deflate)(pixels);
  const page = { width, height, dpi, channels } as const;
  if (strip.length <= pixels.length * LOSSLESS_SHARE) return { ...page, compression: 'deflate', strip };
  const raw = sharp(pixels, { raw: { width, height, channels } });
  const image = channels === 1 ? raw.toColourspace('b-w') : raw;
  return { ...page, compression: 'jpeg', strip: await image.jpeg({ quality: JPEG_QUALITY }).toBuffer() };
}

/** Pages of any sizes, which the library cannot write, of one strip each. // TIFF 6.0, sections 2 and 6; technical note 2 */
export function tiff(pages: readonly TiffPage[]): Uint8Array {
  const header = Buffer.from('II*\0\0\0\0\0', 'latin1');
  header.writeUInt32LE(HEADER_BYTES, 4);
  const parts: Uint8Array[] = [header];
  let at = HEADER_BYTES;
  for (const [index, page] of pages.entries()) {
    const odd = Buffer.alloc(page.strip.length % 2);
    const directory = directoryAt(at, page, odd.length, index === pages.length - 1);
    parts.push(directory, page.strip, odd);
    at += directory.length + page.strip.length + odd.length;
  }
  return Buffer.concat(parts);
}

/** A directory at `at`, and the values that are too long for it behind it; then its strip is to come. */
function directoryAt(at: number, page: TiffPage, odd: number, last: boolean): Buffer {
  const { width, height, dpi, channels, compression, strip } = page;
  const values = at + 2 + ENTRIES * 12 + 4;
  const stripAt = values + VALUES_BYTES;
  const isJpeg = compression === 'jpeg';
  const entries: readonly (readonly [tag: number, type: number, count: number, value: number])[] = [
    [256, LONG, 1, width],
    [257, LONG, 1, height],
    channels === 1 ? [258, SHORT, 1, 8] : [258, SHORT, 3, values],
    [259, SHORT, 1, isJpeg ? 7 : 8],
    // Grey, where 0 is black; RGB; YCbCr, as JPEG has it.
    [262, SHORT, 1, channels === 1 ? 1 : isJpeg ? 6 : 2],
    [273, LONG, 1, stripAt],
    [277, SHORT, 1, channels],
    [278, LONG, 1, height],
    [279, LONG, 1, strip.length],
    // Dots per inch.
    [282, FRACTION, 1, values + 6],
    [283, FRACTION, 1, values + 14],
    [284, SHORT, 1, 1],
    [296, SHORT, 1, 2],
  ];
  const out = Buffer.alloc(stripAt - at);
  out.writeUInt16LE(ENTRIES, 0);
  entries.forEach(([tag, type, count, value], index) => {
    const entry = 2 + index * 12;
    out.writeUInt16LE(tag, entry);
    out.writeUInt16LE(type, entry + 2);
    out.writeUInt32LE(count, entry + 4);
    out.writeUInt32LE(value, entry + 8);
  });
  out.writeUInt32LE(last ? 0 : stripAt + strip.length + odd, 2 + ENTRIES * 12);
  for (let channel = 0; channel < 3; channel++) out.writeUInt16LE(8, values - at + channel * 2);
  for (const fraction of [6, 14]) {
    out.writeUInt32LE(dpi, values - at + fraction);
    out.writeUInt32LE(1, values - at + fraction + 4);
  }
  return out;
}

function isGrey(data: Uint8Array): boolean {
  for (let at = 0; at + 2 < data.length; at += 3)
    if (data[at] !== data[at + 1] || data[at] !== data[at + 2]) return false;
  return true;
}

function everyThird(data: Uint8Array): Buffer {
  const out = Buffer.alloc(data.length / 3);
  for (let at = 0; at < out.length; at++) out[at] = data[at * 3] ?? 0;
  return out;
}
