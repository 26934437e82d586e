import type { Box } from '../../page/page.ts';
import { shown, shownBox, type Frame, type Rectangle } from './geometry.ts';
import type { ObjectHandle, PageHandle, PdfiumFile } from './pdfium.ts';

/** Per page: more are an attack, and not a page to read. */
const MAX_GLYPHS = 400_000;
/** Given for a hyphen at the end of a line that its word goes on after. */
const BROKEN_HYPHEN = 0xfffe;
const INVISIBLE = 3;
const INVISIBLE_CLIPPING = 7;

/** Above and below a line, in heights of its letters. */
const ASCENT = 0.72;
const DESCENT = 0.2;
/** Maximum rotation of text, in radians, that is still in line with upright text. */
const UPRIGHT = 0.1;

type Colour = readonly [red: number, green: number, blue: number];

/** Properties that all letters of one text object share. */
interface Style {
  readonly mode: number;
  readonly colour: Colour;
}

/** A letter on a page. */
export interface Glyph {
  /** What it says: one character, now and then more. */
  readonly text: string;
  /** On the page as it is shown, in points; as high as its line, where that is upright. */
  readonly box: Box;
  /** In the page's own coordinates. */
  readonly place: Rectangle;
  readonly origin: { readonly x: number; readonly y: number };
  /** Radians in the page's own coordinates. */
  readonly angle: number;
  /** As it is shown. */
  readonly upright: boolean;
  /** Points. */
  readonly size: number;
  readonly bold: boolean;
  /** Red, green and blue, from 0 to 255. */
  readonly colour: Colour;
  /** Nothing of it is drawn: an invisible layer of text, as recognition leaves one. */
  readonly invisible: boolean;
  /** Outside of the visible part of the page. */
  readonly outside: boolean;
  /** Whether a blank or an end of line comes before it. */
  readonly apart: boolean;
  /** Its character is not known: the font does not say. */
  readonly unknown: boolean;
}

/** The letters of a page in drawing order; `apart` marks blanks. */
export function readGlyphs(file: PdfiumFile, page: PageHandle, frame: Frame): readonly Glyph[] {
  const { lib } = file;
  const text = lib.FPDFText_LoadPage(page);
  if (!text) return [];
  try {
    const count = Math.min(lib.FPDFText_CountChars(text), MAX_GLYPHS);
    return file.withMemory(48, (address) => collect(file, text, count, address, frame));
  } finally {
    lib.FPDFText_ClosePage(text);
  }
}

function collect(file: PdfiumFile, text: number, count: number, address: number, frame: Frame): readonly Glyph[] {
  const { lib } = file;
  const styles = new Map<ObjectHandle, Style>();
  const styleOf = (object: ObjectHandle): Style => {
    const style = styles.get(object) ?? readStyle(file, object, address);
    styles.set(object, style);
    return style;
  };
  const glyphs: Glyph[] = [];
  let apart = true;
  for (let index = 0; index < count; index++) {
    const code = lib.FPDFText_GetUnicode(text, index);
    const said = characterOf(code);
    if (said.trim() === '' || lib.FPDFText_IsGenerated(text, index) === 1) {
      apart ||= said !== '';
      continue;
    }
    const found = lib.FPDFText_GetCharBox(text, index, address, address + 8, address + 16, address + 24);
    lib.FPDFText_GetCharOrigin(text, index, address + 32, address + 40);
    // Memory may have moved.
    const [left, right, bottom, top, x, y] = file.memory.HEAPF64.subarray(address >> 3, (address >> 3) + 6);
    if (!found || ![left, right, bottom, top].every(Number.isFinite)) continue;
    const place = { left: left ?? 0, right: right ?? 0, bottom: bottom ?? 0, top: top ?? 0 };
    const { mode, colour } = styleOf(lib.FPDFText_GetTextObject(text, index));
    const origin = { x: x ?? place.left, y: y ?? place.bottom };
    const angle = lib.FPDFText_GetCharAngle(text, index);
    const size = sizeOf(lib.FPDFText_GetFontSize(text, index), file, text, index, address);
    const upright = isUpright(angle, frame.turns);
    glyphs.push({
      text: said,
      box: upright ? lineBox(frame, place, origin, size) : shownBox(frame, place),
      place,
      origin,
      angle,
      size,
      upright,
      colour,
      bold: lib.FPDFText_GetFontWeight(text, index) >= 600,
      invisible: mode === INVISIBLE || mode === INVISIBLE_CLIPPING,
      outside: isOutside(place, frame.visible),
      apart,
      // oxlint-disable-next-line unicorn/throw-new-error -- it asks for one
      unknown: lib.FPDFText_HasUnicodeMapError(text, index) === 1 || isPrivate(code),
    });
    apart = false;
  }
  return glyphs;
}

function readStyle(file: PdfiumFile, object: ObjectHandle, address: number): Style {
  const { lib } = file;
  if (!object) return { mode: 0, colour: [0, 0, 0] };
  const told = lib.FPDFPageObj_GetFillColor(object, address, address + 4, address + 8, address + 12);
  const [red = 0, green = 0, blue = 0] = told ? file.memory.HEAPU32.subarray(address >> 2, (address >> 2) + 3) : [];
  return { mode: lib.FPDFTextObj_GetTextRenderMode(object), colour: [red, green, blue] };
}

/** Angles are of the page as it is written; it may be shown turned. */
function isUpright(angle: number, turns: number): boolean {
  const seen = angle - (turns * Math.PI) / 2;
  return Math.abs(Math.atan2(Math.sin(seen), Math.cos(seen))) < UPRIGHT;
}

/** Signs of any height in one line have boxes of one height. */
function lineBox(frame: Frame, place: Rectangle, origin: Glyph['origin'], size: number): Box {
  const { x0, y0, x1, y1 } = shownBox(frame, place);
  const [, baseline] = shown(frame, origin.x, origin.y);
  return { x0, x1, y0: Math.min(y0, baseline - ASCENT * size), y1: Math.max(y1, baseline + DESCENT * size) };
}

/** A size is given before the text is scaled: many writers use 1 and a matrix. */
function sizeOf(told: number, file: PdfiumFile, text: number, index: number, address: number): number {
  if (!file.lib.FPDFText_GetMatrix(text, index, address)) return told || 1;
  const [, , c = 0, d = 1] = file.memory.HEAPF32.subarray(address >> 2, (address >> 2) + 4);
  return Math.abs(told * Math.hypot(c, d)) || 1;
}

function characterOf(code: number): string {
  if (code === BROKEN_HYPHEN) return '-';
  if (code === 0) return '\ufffd';
  if (code > 0x10_ff_ff || (code >= 0xd8_00 && code < 0xe0_00)) return '\ufffd';
  return String.fromCodePoint(code);
}

function isPrivate(code: number): boolean {
  return code === 0 || (code >= 0xe0_00 && code <= 0xf8_ff) || (code < 32 && code !== 9 && code !== 10 && code !== 13);
}

function isOutside(place: Rectangle, visible: Rectangle): boolean {
  return (
    place.right <= visible.left ||
    place.left >= visible.right ||
    place.top <= visible.bottom ||
    place.bottom >= visible.top
  );
}
