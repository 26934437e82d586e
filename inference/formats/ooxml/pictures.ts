import sharp from 'sharp';
import { DocumentFault } from '#/ports/documents.ts';
import { blurPicture } from '../image/blur.ts';

/** What a picture in a document has become. */
export interface SafePicture {
  readonly bytes: Uint8Array;
  readonly mediaType: 'image/png' | 'image/jpeg';
}

const READABLE = /^image\/(?:png|jpe?g|gif|tiff?|webp|pjpeg|x-png)$/;
const TILE = { width: 64, height: 64, channels: 3, background: '#bbbbbb' } as const;

/**
 * A picture blurred whole. One that cannot be read (metafiles, drawings, damaged ones) becomes a grey tile. Rejects with
 * `too_large`.
 */
export async function safePicture(bytes: Uint8Array, mediaType: string): Promise<SafePicture> {
  const result = /jpe?g/.test(mediaType) ? 'image/jpeg' : 'image/png';
  if (READABLE.test(mediaType)) {
    try {
      return { bytes: await blurPicture(bytes, result), mediaType: result };
    } catch (error) {
      if (error instanceof DocumentFault && error.kind === 'too_large') throw error;
    }
  }
  return { bytes: await sharp({ create: TILE }).png().toBuffer(), mediaType: 'image/png' };
}
