import sharp, { type Sharp } from 'sharp';
import { DocumentFault } from '#/ports/documents.ts';
import type { Frame, ImageFacts } from './decode.ts';
import type { Pixels } from './lettering.ts';
import { tiff, tiffPage } from './tiff.ts';

/** Writes pixels as a picture's file of the given type: new, so that nothing of the old file's metadata can be in it. */
export async function encode(
  frames: readonly Frame[],
  mediaType: string,
  animation?: ImageFacts['animation'],
): Promise<Uint8Array> {
  const [first] = frames;
  if (!first) throw new DocumentFault('unreadable', 'the image has no frames');
  switch (mediaType) {
    case 'image/jpeg':
      return toJpeg(first, 92);
    case 'image/tiff':
      return tiff(await Promise.all(frames.map(tiffPage)));
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
