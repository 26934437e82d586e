import { DocumentFault } from '#/ports/documents.ts';
import type { Frame } from './geometry.ts';
import type { Drawing, PageHandle, PdfiumFile } from './pdfium.ts';
import type { Pixels } from '../image/lettering.ts';

const MAX_PIXELS = 20_000_000;
/** Print of a page that is drawn with less cannot be read. */
const LEAST_DPI = 50;
export const POINTS_PER_INCH = 72;

/** How large a page is drawn. */
export interface Raster {
  readonly dpi: number;
  /** Pixels. */
  readonly width: number;
  readonly height: number;
}

/** The pixels of a page at a resolution, or at a lower one where it is large. Throws `too_large` when none is low enough. */
export function rasterOf({ width, height }: Frame, wantedDpi: number, maxPixels = MAX_PIXELS): Raster {
  const inches = (width / POINTS_PER_INCH) * (height / POINTS_PER_INCH);
  const dpi = Math.min(wantedDpi, Math.max(LEAST_DPI, Math.floor(Math.sqrt(maxPixels / inches))));
  const pixels = (points: number): number => Math.max(1, Math.round((points / POINTS_PER_INCH) * dpi));
  const raster = { dpi, width: pixels(width), height: pixels(height) };
  if (raster.width * raster.height > MAX_PIXELS * 1.01 || Math.max(raster.width, raster.height) > 60_000)
    throw new DocumentFault('too_large', 'a page is too large to draw: make it smaller or split it');
  return raster;
}

/** A page as it is shown, RGB. */
export function drawPage(file: PdfiumFile, page: PageHandle, { width, height }: Raster): Pixels {
  return withoutAlpha(file.draw(page, width, height));
}

function withoutAlpha({ data, width, height }: Drawing): Pixels {
  const rgb = Buffer.allocUnsafe(width * height * 3);
  for (let from = 0, to = 0; to < rgb.length; from += 4, to += 3) {
    rgb[to] = data[from] ?? 0;
    rgb[to + 1] = data[from + 1] ?? 0;
    rgb[to + 2] = data[from + 2] ?? 0;
  }
  return { data: rgb, width, height };
}
