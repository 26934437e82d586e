import type { Box } from '../../page/page.ts';
import type { PageHandle, PdfiumFile } from './pdfium.ts';

/** A stretch of a page in its own coordinates: points, origin at the bottom left, not turned. */
export interface Rectangle {
  readonly left: number;
  readonly bottom: number;
  readonly right: number;
  readonly top: number;
}

/** `[a, b, c, d, e, f]` as PDF writes it. // ISO 32000-1, 8.3.4 */
export type Matrix = readonly [number, number, number, number, number, number];

/** How a page lies: what of it is shown, and how that is turned. */
export interface Frame {
  readonly visible: Rectangle;
  /** Quarter turns, clockwise. */
  readonly turns: number;
  /** As it is shown, in points. */
  readonly width: number;
  readonly height: number;
}

/** How a page lies. */
export function frameOf(file: PdfiumFile, page: PageHandle): Frame {
  const { lib } = file;
  const width = Math.max(1, lib.FPDF_GetPageWidthF(page) || 0);
  const height = Math.max(1, lib.FPDF_GetPageHeightF(page) || 0);
  const turns = lib.FPDFPage_GetRotation(page) & 3;
  // Left, top, right, bottom.
  const [left, top, right, bottom] = file.floats(4, (address) => lib.FPDF_GetPageBoundingBox(page, address)) ?? [];
  const upright = turns % 2 === 0 ? { w: width, h: height } : { w: height, h: width };
  const visible = {
    left: left ?? 0,
    bottom: bottom ?? 0,
    right: right ?? upright.w,
    top: top ?? upright.h,
  };
  return { visible, turns, width, height };
}

/** A place on the page as it is shown: points, origin at the top left. */
export function shown({ visible, turns }: Frame, x: number, y: number): readonly [number, number] {
  switch (turns) {
    case 1:
      return [y - visible.bottom, x - visible.left];
    case 2:
      return [visible.right - x, y - visible.bottom];
    case 3:
      return [visible.top - y, visible.right - x];
    default:
      return [x - visible.left, visible.top - y];
  }
}

/** A rectangle as it is shown. */
export function shownBox(frame: Frame, { left, bottom, right, top }: Rectangle): Box {
  const [ax, ay] = shown(frame, left, bottom);
  const [bx, by] = shown(frame, right, top);
  return { x0: Math.min(ax, bx), y0: Math.min(ay, by), x1: Math.max(ax, bx), y1: Math.max(ay, by) };
}

/** The box around all of them; undefined without boxes. */
export function around(boxes: readonly Box[]): Box | undefined {
  if (boxes.length === 0) return undefined;
  let [x0, y0, x1, y1] = [Infinity, Infinity, -Infinity, -Infinity];
  for (const box of boxes) {
    [x0, y0] = [Math.min(x0, box.x0), Math.min(y0, box.y0)];
    [x1, y1] = [Math.max(x1, box.x1), Math.max(y1, box.y1)];
  }
  return { x0, y0, x1, y1 };
}

/** A box in another measure. */
export function scaled({ x0, y0, x1, y1 }: Box, factor: number): Box {
  return { x0: x0 * factor, y0: y0 * factor, x1: x1 * factor, y1: y1 * factor };
}

/** First `inner`, then `outer`. */
export function combined(inner: Matrix, outer: Matrix): Matrix {
  const [a, b, c, d, e, f] = inner;
  const [A, B, C, D, E, F] = outer;
  return [a * A + b * C, a * B + b * D, c * A + d * C, c * B + d * D, e * A + f * C + E, e * B + f * D + F];
}

/** The rectangle around a matrix' unit square, which is where a picture is drawn. */
export function unitSquare([a, b, c, d, e, f]: Matrix): Rectangle {
  const xs = [e, e + a, e + c, e + a + c];
  const ys = [f, f + b, f + d, f + b + d];
  return { left: Math.min(...xs), right: Math.max(...xs), bottom: Math.min(...ys), top: Math.max(...ys) };
}
