import sharp, { type Sharp } from 'sharp';
import { drawText, type Pixels } from '../../inference/formats/image/lettering.ts';

/** A white page with lines of capitals on it, which are read well enough without any font. */
export function writtenPage(lines: readonly string[], scale = 4): Pixels {
  const width = 1000;
  const height = 160 + lines.length * scale * 24;
  const pixels = { data: Buffer.alloc(width * height * 3, 255), width, height };
  for (const [index, line] of lines.entries())
    drawText(pixels, line, { x: 60, y: 60 + index * scale * 24 }, scale, [0, 0, 0]);
  return pixels;
}

/** Pixels as sharp takes them, with the dots of the letters rounded off. */
export function picture({ data, width, height }: Pixels): Sharp {
  return sharp(data, { raw: { width, height, channels: 3 } }).blur(1.2);
}

/** Something like a photograph: soft and uneven half tones, the same each time. */
export function paintPhoto(
  { data, width }: Pixels,
  box: { readonly x0: number; readonly y0: number; readonly x1: number; readonly y1: number },
): void {
  let seed = 1;
  for (let y = box.y0; y < box.y1; y++) {
    for (let x = box.x0; x < box.x1; x++) {
      seed = (seed * 1103515245 + 12345) % 2147483648;
      const tone = 128 + 60 * Math.sin(x / 9) * Math.cos(y / 7) + (seed % 24) - 12;
      data.fill(Math.max(0, Math.min(255, tone)), (y * width + x) * 3, (y * width + x + 1) * 3);
    }
  }
}
