import { deflateSync } from 'node:zlib';
import sharp, { type Sharp } from 'sharp';
import { DocumentFault } from '#ports/documents.ts';
import type { Frame, ImageFacts } from './decode.ts';
import type { Pixels } from './lettering.ts';

/** Writes pixels as a picture's file of the given type: new, so that nothing of the old file's metadata can be in it. */
export async function encode(
  frames: readonly Frame[],
  mediaType: string,
  animation?: ImageFacts['animation'],
): Promise<Uint8Array> {
  const [first] = frames;
  if (!first) throw new DocumentFault('unreadable', 'the picture has no frames');
  switch (mediaType) {
    case 'image/jpeg':
      return toJpeg(first, 92);
    case 'image/tiff':
      return tiff(frames);
    case 'image/gif':
      return reel(frames)
        .gif(animation ?? {})
        .toBuffer();
    case 'image/webp':
      return reel(frames)
        .webp({ quality: 92, ...animation })
        .toBuffer();
    default:
      return toPng(first);
  }
}

/** One frame as PNG. */
export function toPng({ data, width, height }: Pixels, grey = false): Promise<Uint8Array> {
  const image = sharp(data, { raw: { width, height, channels: 3 } });
  return (grey ? image.greyscale() : image).png({ compressionLevel: grey ? 0 : 6 }).toBuffer();
}

/** One frame as JPEG. */
export function toJpeg({ data, width, height }: Pixels, quality: number): Promise<Uint8Array> {
  return sharp(data, { raw: { width, height, channels: 3 } })
    .jpeg({ quality })
    .toBuffer();
}

/** All frames below each other, which is how the library takes an animation. */
function reel(frames: readonly Frame[]): Sharp {
  const [{ width, height } = { width: 1, height: 1 }] = frames;
  const data = Buffer.concat(frames.map((frame) => frame.data));
  const raw = { width, height: height * frames.length, channels: 3 as const };
  return sharp(data, { raw: frames.length > 1 ? { ...raw, pageHeight: height } : raw });
}

/** Types of TIFF's fields. */
const SHORT = 3;
const LONG = 4;
const HEADER_BYTES = 8;

/** Pages of any sizes, which the library cannot write: RGB in one deflated strip each. // TIFF 6.0, sections 2 and 6 */
function tiff(frames: readonly Frame[]): Uint8Array {
  const header = Buffer.from('II*\0\0\0\0\0', 'latin1');
  header.writeUInt32LE(HEADER_BYTES, 4);
  const parts: Buffer[] = [header];
  let at = HEADER_BYTES;
  for (const [index, frame] of frames.entries()) {
    const strip = deflateSync(frame.data);
    const odd = Buffer.alloc(strip.length % 2);
    const directory = tiffDirectory(frame, at, strip.length, odd.length, index === frames.length - 1);
    parts.push(directory, strip, odd);
    at += directory.length + strip.length + odd.length;
  }
  return Buffer.concat(parts);
}

/** A directory at `at`, the values that are too long for it behind it, and then its strip. */
function tiffDirectory(frame: Frame, at: number, stripBytes: number, odd: number, last: boolean): Buffer {
  const ENTRIES = 13;
  const values = at + 2 + ENTRIES * 12 + 4;
  const strip = values + 22;
  const entries: readonly (readonly [tag: number, type: number, count: number, value: number])[] = [
    [256, LONG, 1, frame.width],
    [257, LONG, 1, frame.height],
    [258, SHORT, 3, values],
    // Deflate, RGB.
    [259, SHORT, 1, 8],
    [262, SHORT, 1, 2],
    [273, LONG, 1, strip],
    [277, SHORT, 1, 3],
    [278, LONG, 1, frame.height],
    [279, LONG, 1, stripBytes],
    // Dots per inch, two fractions.
    [282, 5, 1, values + 6],
    [283, 5, 1, values + 14],
    [284, SHORT, 1, 1],
    [296, SHORT, 1, 2],
  ];
  const out = Buffer.alloc(strip - at);
  out.writeUInt16LE(ENTRIES, 0);
  entries.forEach(([tag, type, count, value], index) => {
    const entry = 2 + index * 12;
    out.writeUInt16LE(tag, entry);
    out.writeUInt16LE(type, entry + 2);
    out.writeUInt32LE(count, entry + 4);
    out.writeUInt32LE(value, entry + 8);
  });
  out.writeUInt32LE(last ? 0 : strip + stripBytes + odd, 2 + ENTRIES * 12);
  for (let channel = 0; channel < 3; channel++) out.writeUInt16LE(8, values - at + channel * 2);
  for (const fraction of [6, 14]) {
    out.writeUInt32LE(frame.dpi, values - at + fraction);
    out.writeUInt32LE(1, values - at + fraction + 4);
  }
  return out;
}
