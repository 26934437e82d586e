import sharp, { type Sharp } from 'sharp';
import { DocumentFault } from '#/ports/documents.ts';
import type { Box, Line, Picture } from '../page/page.ts';
import { withoutGrain } from './grain.ts';
import { inkOf, skewOf, type Ink } from './ink.ts';
import type { Grey } from './tesseract.ts';

/** Letters are read worse at a lower density than this, and no better at a higher one. */
const READING_DPI = 200;
/** Densities that a file says are believed from here on: lower ones are what programs write that know none. */
const BELIEVED_DPI = 120;
/** A page of A4 at that density, which a picture is taken for that says none. */
const USUAL_PIXELS = 3_900_000;
const MOST_PIXELS = 6_000_000;
/** Parts of a screen have letters of few pixels; more than this gains nothing. */
const MOST_ENLARGED = 2;
const MOST_PICTURE_PIXELS = 50_000_000;
/** The width in which ink is looked at. */
const INK_WIDTH = 600;
/** Rows that lean less are read better as they are than as they are when they were turned. */
const LEAST_SKEW = 1.5;

/** A picture in the size it is read in. */
export interface Sheet extends Grey {
  /** Pixels of it for each pixel of the picture. */
  readonly scale: number;
}

/** A sheet set upright. */
export interface View extends Grey {
  /** Degrees that the sheet was turned by, clockwise. */
  readonly rotation: number;
  /** Undefined where there is nothing on it. */
  readonly ink: Ink | undefined;
  /** Pixels of the view for each pixel of its ink. */
  readonly inkScale: number;
  /** Lines in pixels of the picture. */
  toPicture(lines: readonly Line[]): readonly Line[];
}

/** Decodes a picture. Rejects with `unreadable`. */
export async function sheetOf(picture: Picture): Promise<Sheet> {
  try {
    const whole = await greyOf(sharp(picture.png, { limitInputPixels: MOST_PICTURE_PIXELS }));
    const scale = scaleFor(whole.width, whole.height, picture.dpi);
    // A picture that is made smaller loses its grain.
    const grey = scale < 1 ? whole : withoutGrain(whole);
    if (scale === 1) return { ...grey, scale };
    const width = Math.max(1, Math.round(grey.width * scale));
    const height = Math.max(1, Math.round(grey.height * scale));
    return { ...(await greyOf(sharpOf(grey).resize({ width, height, fit: 'fill', kernel: 'cubic' }))), scale };
  } catch (cause) {
    throw new DocumentFault('unreadable', 'the image of a page is damaged', { cause });
  }
}

function scaleFor(width: number, height: number, dpi: number): number {
  const pixels = width * height;
  const wanted = dpi >= BELIEVED_DPI ? READING_DPI / dpi : Math.max(1, Math.sqrt(USUAL_PIXELS / pixels));
  const scale = Math.min(wanted, MOST_ENLARGED, Math.sqrt(MOST_PIXELS / pixels));
  // A nearly right scale is left unchanged.
  return Math.abs(scale - 1) < 0.1 && pixels <= MOST_PIXELS ? 1 : scale;
}

async function greyOf(image: Sharp): Promise<Grey> {
  const { data, info } = await image
    .flatten({ background: '#ffffff' })
    .greyscale()
    .toColourspace('b-w')
    .raw({ depth: 'uchar' })
    .toBuffer({ resolveWithObject: true });
  return { data, width: info.width, height: info.height };
}

function sharpOf({ data, width, height }: Grey): Sharp {
  return sharp(data, { raw: { width, height, channels: 1 } });
}

/** Turns a sheet by quarters, clockwise, and then sets its rows level. */
export async function viewOf(sheet: Sheet, quarters: number): Promise<View> {
  const turned = quarters === 0 ? sheet : await turn(sheet, quarters * 90);
  const small =
    turned.width > INK_WIDTH ? await greyOf(sharpOf(turned).resize({ width: INK_WIDTH, kernel: 'linear' })) : turned;
  const ink = inkOf(small);
  const skew = ink ? skewOf(ink) : 0;
  const level = Math.abs(skew) < LEAST_SKEW ? turned : await turn(turned, -skew);
  const degrees = level === turned ? 0 : -skew;
  return {
    ...level,
    rotation: quarters * 90 + degrees,
    ink,
    inkScale: turned.width / small.width,
    toPicture: (lines) => {
      const place = (box: Box): Box =>
        scaled(turnedBack(levelledBack(box, level, turned, degrees), sheet, quarters), 1 / sheet.scale);
      return lines.map((line) => ({
        block: line.block,
        box: place(line.box),
        words: line.words.map((word) => ({
          ...word,
          box: place(word.box),
          ...(word.size !== undefined && { size: word.size / sheet.scale }),
        })),
      }));
    },
  };
}

/** Turned clockwise; the area outside becomes paper. */
function turn(grey: Grey, degrees: number): Promise<Grey> {
  return greyOf(sharpOf(grey).rotate(degrees, { background: '#ffffff' }));
}

/** A part of a picture, turned by quarters clockwise. */
export async function turnedPart(grey: Grey, box: Box, quarters: number): Promise<Grey> {
  const size = { left: box.x0, top: box.y0, width: box.x1 - box.x0, height: box.y1 - box.y0 };
  const part = await greyOf(sharpOf(grey).extract(size));
  return quarters === 0 ? part : turn(part, quarters * 90);
}

/** Turned about the middle, and as large as is needed to hold the corners. */
function levelledBack(box: Box, level: Grey, turned: Grey, degrees: number): Box {
  if (degrees === 0) return box;
  const angle = (-degrees * Math.PI) / 180;
  const corners = [box.x0, box.x1].flatMap((x) =>
    [box.y0, box.y1].map((y) => {
      const dx = x - level.width / 2;
      const dy = y - level.height / 2;
      return {
        x: dx * Math.cos(angle) - dy * Math.sin(angle) + turned.width / 2,
        y: dx * Math.sin(angle) + dy * Math.cos(angle) + turned.height / 2,
      };
    }),
  );
  const xs = corners.map(({ x }) => Math.max(0, Math.min(turned.width, x)));
  const ys = corners.map(({ y }) => Math.max(0, Math.min(turned.height, y)));
  return { x0: Math.min(...xs), y0: Math.min(...ys), x1: Math.max(...xs), y1: Math.max(...ys) };
}

function turnedBack({ x0, y0, x1, y1 }: Box, { width, height }: Grey, quarters: number): Box {
  switch (quarters) {
    case 1:
      return { x0: y0, y0: height - x1, x1: y1, y1: height - x0 };
    case 2:
      return { x0: width - x1, y0: height - y1, x1: width - x0, y1: height - y0 };
    case 3:
      return { x0: width - y1, y0: x0, x1: width - y0, y1: x1 };
    default:
      return { x0, y0, x1, y1 };
  }
}

function scaled({ x0, y0, x1, y1 }: Box, factor: number): Box {
  return {
    x0: Math.floor(x0 * factor),
    y0: Math.floor(y0 * factor),
    x1: Math.ceil(x1 * factor),
    y1: Math.ceil(y1 * factor),
  };
}
