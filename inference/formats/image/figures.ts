import type { RecognizedPage } from '#/ports/documents.ts';
import type { Box, Line } from '../../page/page.ts';
import { toJpeg } from './encode.ts';
import type { Pixels } from './lettering.ts';
import { findPhotos, isSure } from './photos.ts';

const JPEG_QUALITY = 85;

/** Photographs in a frame; one that has no words is one itself. */
export async function picturesIn(frame: Pixels, lines: readonly Line[], minSize: number): Promise<readonly Box[]> {
  const sure = lines.flatMap((line) => line.words.filter(({ confidence, text }) => isSure(confidence, text.length)));
  const words = sure.map(({ box }) => box);
  const boxes =
    words.length === 0 ? [{ x0: 0, y0: 0, x1: frame.width, y1: frame.height }] : (await findPhotos(frame, words)).boxes;
  return boxes.filter(({ x0, y0, x1, y1 }) => x1 - x0 >= minSize && y1 - y0 >= minSize);
}

/** A part of a page as an answer names it, with its pixels as JPEG where the page is given. */
export async function figureOf(
  frame: Pixels | undefined,
  id: string,
  box: Box,
): Promise<RecognizedPage['images'][number]> {
  return {
    id,
    top_left_x: box.x0,
    top_left_y: box.y0,
    bottom_right_x: box.x1,
    bottom_right_y: box.y1,
    image_base64: frame
      ? `data:image/jpeg;base64,${Buffer.from(await toJpeg(cut(frame, box), JPEG_QUALITY)).toString('base64')}`
      : null,
  };
}

function cut({ data, width }: Pixels, { x0, y0, x1, y1 }: Box): Pixels {
  const rows = Array.from({ length: y1 - y0 }, (_, row) =>
    data.subarray(((y0 + row) * width + x0) * 3, ((y0 + row) * width + x1) * 3),
  );
  return { data: Buffer.concat(rows), width: x1 - x0, height: y1 - y0 };
}
