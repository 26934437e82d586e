import type { Frame, Rectangle } from './geometry.ts';
import type { Glyph } from './glyphs.ts';
import { TEXT } from './objects.ts';
import type { PageHandle, PdfiumFile } from './pdfium.ts';
import type { Span } from './spans.ts';

const INVISIBLE = 3;
/** Points by which letters are cut out narrower than they are: their neighbours may reach into them. */
const INSET = 0.2;
/** Width of a tag's letters, and the least height that they are written in, in points. */
const LETTER_WIDTH = 0.62;
const LEAST_SIZE = 3;

/** A row of letters that is cut out at once. */
export interface Cutting {
  readonly place: Rectangle;
  readonly first: Glyph;
}

/**
 * Cuts spans out of a page's content and writes their tags there. Invisible content, and content outside of the page,
 * goes too. False when it could not be done.
 */
export function rewritePage(file: PdfiumFile, page: PageHandle, frame: Frame, spans: readonly Span[]): boolean {
  const { lib } = file;
  dropUnseen(file, page, frame);
  const shown = spans.map((span) => ({ ...span, glyphs: span.glyphs.filter((glyph) => !glyph.outside) }));
  const cuttings = shown.flatMap(({ glyphs }) => cuttingsOf(glyphs));
  if (cuttings.length > 0 && !cutOut(file, page, cuttings)) return false;
  for (const { glyphs, tag } of shown) {
    const [first, ...others] = cuttingsOf(glyphs.filter((glyph) => !glyph.invisible));
    if (tag === '' || !first) continue;
    const widest = others.reduce((best, next) => (lengthOf(next) > lengthOf(best) * 1.5 ? next : best), first);
    writeTag(file, page, tag, widest);
  }
  return lib.FPDFPage_GenerateContent(page);
}

function dropUnseen(file: PdfiumFile, page: PageHandle, { visible }: Frame): void {
  const { lib } = file;
  for (let index = lib.FPDFPage_CountObjects(page) - 1; index >= 0; index--) {
    const object = lib.FPDFPage_GetObject(page, index);
    const unseen = lib.FPDFPageObj_GetType(object) === TEXT && lib.FPDFTextObj_GetTextRenderMode(object) === INVISIBLE;
    const bounds = file.floats(4, (at) => lib.FPDFPageObj_GetBounds(object, at, at + 4, at + 8, at + 12));
    const [left = 0, bottom = 0, right = 0, top = 0] = bounds ?? [];
    const outside =
      bounds !== undefined &&
      (right < visible.left || left > visible.right || top < visible.bottom || bottom > visible.top);
    if ((unseen || outside) && lib.FPDFPage_RemoveObject(page, object)) lib.FPDFPageObj_Destroy(object);
  }
}

/** Letters in rows: as long as they follow each other on one line; each alone where that is askew. */
export function cuttingsOf(glyphs: readonly Glyph[]): readonly Cutting[] {
  const cuttings: { place: Rectangle; first: Glyph; last: Glyph }[] = [];
  for (const glyph of glyphs) {
    const row = cuttings.at(-1);
    if (row && goesOn(row.last, glyph)) {
      row.place = union(row.place, glyph.place);
      row.last = glyph;
    } else cuttings.push({ place: glyph.place, first: glyph, last: glyph });
  }
  return cuttings;
}

function goesOn(last: Glyph, next: Glyph): boolean {
  const quarter = Math.abs(Math.sin(2 * last.angle)) < 0.02;
  if (!quarter || Math.abs(last.angle - next.angle) > 0.01) return false;
  const [dx, dy] = [next.origin.x - last.origin.x, next.origin.y - last.origin.y];
  const along = dx * Math.cos(last.angle) + dy * Math.sin(last.angle);
  const across = dy * Math.cos(last.angle) - dx * Math.sin(last.angle);
  return Math.abs(across) < last.size * 0.25 && along > 0 && along < last.size * 4;
}

function union(a: Rectangle, b: Rectangle): Rectangle {
  return {
    left: Math.min(a.left, b.left),
    bottom: Math.min(a.bottom, b.bottom),
    right: Math.max(a.right, b.right),
    top: Math.max(a.top, b.top),
  };
}

function cutOut(file: PdfiumFile, page: PageHandle, cuttings: readonly Cutting[]): boolean {
  const CORNERS = 8;
  return file.withMemory(cuttings.length * CORNERS * 4, (address) => {
    for (const [index, { place }] of cuttings.entries()) {
      const { left, right, bottom, top } = narrowed(place);
      const corners = [left, top, right, top, left, bottom, right, bottom];
      file.memory.HEAPF32.set(corners, (address >> 2) + index * CORNERS);
    }
    return file.lib.EPDFText_RedactInQuads(page, address, cuttings.length, true, false);
  });
}

function narrowed({ left, right, bottom, top }: Rectangle): Rectangle {
  const inset = (from: number, to: number): number => Math.min(INSET, Math.abs(to - from) * 0.1);
  const [x, y] = [inset(left, right), inset(bottom, top)];
  return { left: left + x, right: right - x, bottom: bottom + y, top: top - y };
}

function writeTag(file: PdfiumFile, page: PageHandle, tag: string, cutting: Cutting): void {
  const { lib } = file;
  const { first } = cutting;
  const size = tagSize(tag, cutting);
  const object = lib.FPDFPageObj_NewTextObj(file.document, 'Helvetica', size);
  file.withMemory(tag.length * 2 + 2, (address) => {
    file.memory.stringToUTF16(tag, address, tag.length * 2 + 2);
    lib.FPDFText_SetText(object, address);
  });
  const [red, green, blue] = first.colour;
  lib.FPDFPageObj_SetFillColor(object, red, green, blue, 255);
  const [cos, sin] = [Math.cos(first.angle), Math.sin(first.angle)];
  lib.FPDFPageObj_Transform(object, cos, sin, -sin, cos, first.origin.x, first.origin.y);
  lib.FPDFPage_InsertObject(page, object);
}

/** As high as the letters were, unless their place is too short. */
export function tagSize(tag: string, cutting: Cutting): number {
  return Math.max(LEAST_SIZE, Math.min(cutting.first.size, lengthOf(cutting) / (LETTER_WIDTH * tag.length)));
}

/** How long a row is in the direction in which it is read. */
function lengthOf({ place, first }: Cutting): number {
  const lying = Math.abs(Math.cos(first.angle)) >= Math.SQRT1_2;
  return lying ? place.right - place.left : place.top - place.bottom;
}
