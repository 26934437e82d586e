import type { Box } from '../../page/page.ts';
import { scaled, shownBox, type Frame } from './geometry.ts';
import type { PageContent } from './page.ts';
import type { Drawing, PdfiumFile } from './pdfium.ts';
import { cuttingsOf, tagSize } from './rewrite.ts';
import type { Span } from './spans.ts';

const LONG_SIDE = 900;
/** Levels of grey by which a pixel is another one, and is ink. */
const DIFFERENT = 70;
const INK = 40;
/** Share of the ink outside of changed places that may differ, with a minimum number of pixels. */
const TOLERANCE = 0.03;
const FEW = 25;
/** Points around a changed place. */
const MARGIN = 2.5;

/** Whether a page looks as before, apart from its pictures and from where spans were cut out and tags written. */
export function looksAlike(
  before: PdfiumFile,
  after: PdfiumFile,
  index: number,
  { frame, pictures }: PageContent,
  spans: readonly Span[],
): boolean {
  const factor = Math.min(1, LONG_SIDE / Math.max(frame.width, frame.height));
  const width = Math.max(1, Math.round(frame.width * factor));
  const height = Math.max(1, Math.round(frame.height * factor));
  const draw = (file: PdfiumFile): Drawing => file.withPage(index, (page) => file.draw(page, width, height));
  const changed = [...pictures, ...changedBoxes(frame, spans)].map((box) => scaled(box, factor));
  return alike(draw(before), draw(after), maskOf(changed, width, height, MARGIN * factor));
}

/** Where letters were, and where their tags are, as far as these are longer. */
function changedBoxes(frame: Frame, spans: readonly Span[]): readonly Box[] {
  return spans.flatMap(({ glyphs, tag }) =>
    cuttingsOf(glyphs).flatMap((cutting) => {
      const { first, place } = cutting;
      const size = tagSize(tag, cutting);
      const length = size * 0.7 * tag.length;
      const [x, y] = [first.origin.x, first.origin.y];
      const [toX, toY] = [x + Math.cos(first.angle) * length, y + Math.sin(first.angle) * length];
      const written = {
        left: Math.min(x, toX) - size * 0.4,
        right: Math.max(x, toX) + size * 0.4,
        bottom: Math.min(y, toY) - size * 0.4,
        top: Math.max(y, toY) + size,
      };
      return [shownBox(frame, place), ...(tag === '' ? [] : [shownBox(frame, written)])];
    }),
  );
}

function maskOf(boxes: readonly Box[], width: number, height: number, margin: number): Uint8Array {
  const mask = new Uint8Array(width * height);
  for (const { x0, y0, x1, y1 } of boxes) {
    const from = Math.max(0, Math.floor(x0 - margin));
    const to = Math.min(width, Math.ceil(x1 + margin));
    for (let y = Math.max(0, Math.floor(y0 - margin)); y < Math.min(height, Math.ceil(y1 + margin)); y++)
      if (to > from) mask.fill(1, y * width + from, y * width + to);
  }
  return mask;
}

function alike(before: Drawing, after: Drawing, mask: Uint8Array): boolean {
  let [ink, different] = [0, 0];
  for (let pixel = 0; pixel < mask.length; pixel++) {
    if (mask[pixel]) continue;
    const was = greyAt(before.data, pixel * 4);
    if (255 - was > INK) ink++;
    if (Math.abs(was - greyAt(after.data, pixel * 4)) > DIFFERENT) different++;
  }
  return different <= FEW + TOLERANCE * ink;
}

function greyAt(data: Buffer, at: number): number {
  return ((data[at] ?? 0) + (data[at + 1] ?? 0) + (data[at + 2] ?? 0)) / 3;
}
