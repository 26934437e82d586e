import type { Box } from '../../page/page.ts';
import { combined, shownBox, unitSquare, type Frame, type Matrix } from './geometry.ts';
import type { ObjectHandle, PageHandle, PdfiumFile } from './pdfium.ts';

/** Types of `FPDFPageObj_GetType`. */
export const TEXT = 1;
const IMAGE = 3;
const FORM = 5;
const MAX_DEPTH = 12;
const MAX_OBJECTS = 500_000;
const STRING = 3;
const IDENTITY: Matrix = [1, 0, 0, 1, 0, 0];

/** What a page is made of, but for its text. */
export interface PageParts {
  /** Where pictures are drawn, as the page is shown, in points. */
  readonly pictures: readonly Box[];
  /** Texts besides the drawn ones: alternative text, actual text, expansions. */
  readonly told: readonly string[];
  readonly objects: number;
}

/**
 * Walks all drawn objects of a page, nested ones included, and removes their marks while the page is open: the library
 * would read the texts of the marks instead of the drawn ones.
 */
export function takeParts(file: PdfiumFile, page: PageHandle, frame: Frame): PageParts {
  const { lib } = file;
  const pictures: Box[] = [];
  const told = new Set<string>();
  let objects = 0;
  const visit = (object: ObjectHandle, matrix: Matrix, depth: number): void => {
    if (!object || objects++ > MAX_OBJECTS) return;
    for (const text of takeMarks(file, object)) told.add(text);
    const type = lib.FPDFPageObj_GetType(object);
    if (type !== IMAGE && type !== FORM) return;
    const own = combined(matrixOf(file, object), matrix);
    if (type === IMAGE) pictures.push(clipped(shownBox(frame, unitSquare(own)), frame));
    if (type !== FORM || depth >= MAX_DEPTH) return;
    const count = lib.FPDFFormObj_CountObjects(object);
    for (let index = 0; index < count; index++) visit(lib.FPDFFormObj_GetObject(object, index), own, depth + 1);
  };
  const count = lib.FPDFPage_CountObjects(page);
  for (let index = 0; index < count; index++) visit(lib.FPDFPage_GetObject(page, index), IDENTITY, 0);
  return { pictures: pictures.filter(({ x0, y0, x1, y1 }) => x1 > x0 && y1 > y0), told: [...told], objects };
}

function matrixOf(file: PdfiumFile, object: ObjectHandle): Matrix {
  const [a, b, c, d, e, f] = file.floats(6, (address) => file.lib.FPDFPageObj_GetMatrix(object, address)) ?? IDENTITY;
  return [a ?? 1, b ?? 0, c ?? 0, d ?? 1, e ?? 0, f ?? 0];
}

function clipped({ x0, y0, x1, y1 }: Box, { width, height }: Frame): Box {
  const within = (value: number, most: number): number => Math.min(most, Math.max(0, value));
  return { x0: within(x0, width), y0: within(y0, height), x1: within(x1, width), y1: within(y1, height) };
}

/** Strings in the marks of an object, which it has no more then. // ISO 32000-1, 14.6 */
function takeMarks(file: PdfiumFile, object: ObjectHandle): readonly string[] {
  const { lib } = file;
  const count = lib.FPDFPageObj_CountMarks(object);
  if (count <= 0) return [];
  const texts: string[] = [];
  for (let index = count - 1; index >= 0; index--) {
    const mark = lib.FPDFPageObj_GetMark(object, index);
    for (let at = lib.FPDFPageObjMark_CountParams(mark) - 1; at >= 0; at--) {
      const key = utf16(file, (address, size, out) => lib.FPDFPageObjMark_GetParamKey(mark, at, address, size, out));
      if (lib.FPDFPageObjMark_GetParamValueType(mark, key) !== STRING) continue;
      texts.push(
        utf16(file, (address, size, out) => lib.FPDFPageObjMark_GetParamStringValue(mark, key, address, size, out)),
      );
    }
    lib.FPDFPageObj_RemoveMark(object, mark);
  }
  return texts;
}

/** A string that is asked for twice: for its length, and then for itself. */
function utf16(file: PdfiumFile, ask: (address: number, size: number, out: number) => boolean): string {
  const size = file.withMemory(4, (out) => (ask(0, 0, out) ? (file.memory.HEAPU32[out >> 2] ?? 0) : 0));
  if (size < 4) return '';
  return file.withMemory(size + 8, (address) =>
    ask(address + 4, size, address) ? file.memory.UTF16ToString(address + 4) : '',
  );
}
