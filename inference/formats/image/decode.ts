import sharp, { type Sharp } from 'sharp';
import { DocumentFault } from '#/ports/documents.ts';
import type { Pixels } from './lettering.ts';

/** Of one picture, whatever its file says: more are refused before they are decoded. */
const MAX_PIXELS = 50_000_000;
/** Pictures are worked on, and given back, with no more: larger ones are made smaller. */
const WORKING_PIXELS = 20_000_000;
/** Of all frames of an animation, which are held at once to be rewritten. */
const MAX_ANIMATED_PIXELS = 100_000_000;
/** Of one file: pages of a TIFF, pictures of an animation. */
const MAX_FRAMES = 200;
const TIMEOUT_SECONDS = 30;
/** What a density must be in to be believed. */
const DPI = { least: 50, most: 1200, unknown: 72 };
const MAX_HIDDEN = 20_000;

// Only these loaders: anything else that the library could read is code that no document here needs.
sharp.cache(false);
sharp.concurrency(1);
sharp.block({ operation: ['VipsForeignLoad'] });
sharp.unblock({
  operation: [
    'VipsForeignLoadJpeg',
    'VipsForeignLoadPng',
    'VipsForeignLoadWebp',
    'VipsForeignLoadTiff',
    'VipsForeignLoadNsgif',
  ],
});

/** What a picture's file says of itself. */
export interface ImageFacts {
  readonly frames: number;
  /** Of the first frame. */
  readonly pixels: number;
  /** Milliseconds of each frame, and rounds; absent where nothing moves. */
  readonly animation?: { readonly delay: number[]; readonly loop: number };
  /** Words in its metadata, as far as they can be read. */
  readonly hiddenText: string;
}

/** A frame as pixels, upright, on white where it was transparent. */
export interface Frame extends Pixels {
  readonly dpi: number;
}

/** Opens a picture with every bound set. */
function open(bytes: Uint8Array, frame: number): Sharp {
  return sharp(bytes, { limitInputPixels: MAX_PIXELS, failOn: 'error', sequentialRead: true, page: frame, pages: 1 });
}

/** Reads the head of a picture's file. Rejects with `unreadable`, `too_large` or `too_many_pages`. */
export async function inspect(bytes: Uint8Array): Promise<ImageFacts> {
  const facts = await open(bytes, 0).metadata().catch(fail);
  const frames = facts.pages ?? 1;
  if (frames > MAX_FRAMES) throw new DocumentFault('too_many_pages', `the image has more than ${MAX_FRAMES} frames`);
  const blocks = [facts.exif, facts.xmp, facts.iptc, facts.tifftagPhotoshop].filter((block) => block !== undefined);
  const comments = (facts.comments ?? []).map(({ text }) => text);
  return {
    frames,
    pixels: facts.width * facts.height,
    hiddenText: [...comments, ...blocks.flatMap(printable)].join('\n').slice(0, MAX_HIDDEN),
    ...(facts.delay && frames > 1 && { animation: { delay: facts.delay, loop: facts.loop ?? 0 } }),
  };
}

/** Throws `too_large` for an animation that cannot be rewritten. Pages of a TIFF are, one by one. */
export function checkAnimation({ frames, pixels }: ImageFacts, mediaType: string): void {
  if (mediaType === 'image/tiff' || frames * Math.min(pixels, WORKING_PIXELS) <= MAX_ANIMATED_PIXELS) return;
  const most = MAX_ANIMATED_PIXELS / 1e6;
  throw new DocumentFault('too_large', `the animated image has more than ${most} million pixels in total`);
}

/** Decodes one frame, made smaller where it has more than `maxPixels`. Rejects with `unreadable` or `too_large`. */
export async function decodeFrame(bytes: Uint8Array, frame: number, maxPixels = WORKING_PIXELS): Promise<Frame> {
  try {
    const { width, height, orientation = 1, density } = await open(bytes, frame).metadata();
    const factor = Math.min(1, Math.sqrt(maxPixels / (width * height)));
    const image = open(bytes, frame).timeout({ seconds: TIMEOUT_SECONDS }).autoOrient();
    // From the fifth on, orientations lie on their side.
    if (factor < 1) image.resize({ width: Math.max(1, Math.floor((orientation >= 5 ? height : width) * factor)) });
    const flat = image.flatten({ background: '#ffffff' }).toColourspace('srgb').raw({ depth: 'uchar' });
    const { data, info } = await flat.toBuffer({ resolveWithObject: true });
    const dpi = Math.max(1, Math.round(dpiOf(density) * factor));
    return { data: threeChannels(data, info.channels), width: info.width, height: info.height, dpi };
  } catch (error) {
    return fail(error);
  }
}

function dpiOf(density = 0): number {
  return density >= DPI.least && density <= DPI.most ? density : DPI.unknown;
}

function threeChannels(data: Buffer, channels: number): Buffer {
  if (channels === 3) return data;
  const wide = Buffer.alloc((data.length / channels) * 3);
  for (let from = 0, to = 0; from < data.length; from += channels, to += 3) {
    const grey = channels < 3;
    wide[to] = data[from] ?? 0;
    wide[to + 1] = data[grey ? from : from + 1] ?? 0;
    wide[to + 2] = data[grey ? from : from + 2] ?? 0;
  }
  return wide;
}

/** The library tells its failures by their words only. */
function fail(cause: unknown): never {
  const message = cause instanceof Error ? cause.message : '';
  if (/pixel limit|too (?:large|big)|timeout/i.test(message))
    throw new DocumentFault('too_large', `an image has more than ${MAX_PIXELS / 1e6} million pixels`, { cause });
  throw new DocumentFault('unreadable', 'the image is damaged or incomplete', { cause });
}

/** Runs of Latin letters and signs in a block of metadata, in either of the encodings that are usual there. */
function printable(block: Buffer): readonly string[] {
  return ['utf-8', 'utf-16le'].flatMap((encoding) => {
    const text = new TextDecoder(encoding).decode(block);
    return text.match(/[ -~\u00a0-\u024f]{4,}/g) ?? [];
  });
}
