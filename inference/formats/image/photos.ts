import sharp from 'sharp';
import type { Box } from '../../page/page.ts';
import type { Pixels } from './lettering.ts';

/** Parts of a page that look like photographs: which cells of a grid over it, and the boxes around those that touch. */
export interface Photos {
  readonly columns: number;
  readonly rows: number;
  /** Pixels of the page along a cell's side. */
  readonly side: number;
  /** 1 where a cell is part of a photograph, row by row. */
  readonly cells: Uint8Array;
  /** In pixels of the page. */
  readonly boxes: readonly Box[];
}

/** The page is looked at in this width; cells are squares of as many pixels there. */
const WIDTH = 1024;
const CELL = 16;
/** A page that has less between its darkest and its lightest has nothing on it. */
const LEAST_RANGE = 30;
/** Half tones, of a cell's pixels, and how uneven they are: print has few, a tinted ground is even. */
const LEAST_HALFTONES = 0.4;
const LEAST_DEVIATION = 6;
/** Cells that touch, with those around them; fewer are no photograph but a word that was not recognized. */
const LEAST_CELLS = 30;
/** Cells that touch and fill so much of the box around them are of a picture with edges: all of the box is. */
const FILLED = 0.6;

/** Whether a word is likely one: recognizers see letters in leaves and hair, but few, short and unsure ones. */
export function isSure(confidence: number, letters: number): boolean {
  return confidence >= 0.6 && letters >= 2;
}

/** Finds photographs by their half tones. `text`: boxes of words, which are not photographs. */
export async function findPhotos(pixels: Pixels, text: readonly Box[]): Promise<Photos> {
  const scale = Math.min(1, WIDTH / pixels.width);
  const { data, info } = await sharp(pixels.data, { raw: { width: pixels.width, height: pixels.height, channels: 3 } })
    .resize({ width: Math.max(1, Math.round(pixels.width * scale)) })
    .greyscale()
    .raw()
    .toBuffer({ resolveWithObject: true });
  const grey = { data, stride: info.channels, width: info.width, height: info.height };
  const columns = Math.ceil(grey.width / CELL);
  const rows = Math.ceil(grey.height / CELL);
  const side = (CELL * pixels.width) / grey.width;
  const boxesInGrey = text.map((box) => scaled(box, scale));
  let cells = textured(grey, extremes(grey, boxesInGrey), columns, rows);
  for (const box of text) mark(cells, columns, rows, side, box);
  cells = closed(cells, columns, rows);
  const boxes = components(cells, columns).map(({ x0, y0, x1, y1 }) => ({
    x0: Math.floor(x0 * side),
    y0: Math.floor(y0 * side),
    x1: Math.min(pixels.width, Math.ceil(x1 * side)),
    y1: Math.min(pixels.height, Math.ceil(y1 * side)),
  }));
  return { columns, rows, side, cells, boxes };
}

interface Range {
  readonly dark: number;
  readonly light: number;
}

interface Grey {
  readonly data: Uint8Array;
  readonly stride: number;
  readonly width: number;
  readonly height: number;
}

/** Cells with many and uneven half tones. */
function textured(grey: Grey, { dark, light }: Range, columns: number, rows: number): Uint8Array {
  const cells = new Uint8Array(columns * rows);
  const range = light - dark;
  if (range < LEAST_RANGE) return cells;
  const low = dark + range / 4;
  const high = light - range / 4;
  for (let row = 0; row < rows; row++) {
    for (let column = 0; column < columns; column++) {
      let count = 0;
      let half = 0;
      let sum = 0;
      let squares = 0;
      for (let y = row * CELL; y < Math.min(grey.height, (row + 1) * CELL); y++) {
        for (let x = column * CELL; x < Math.min(grey.width, (column + 1) * CELL); x++) {
          const value = grey.data[(y * grey.width + x) * grey.stride] ?? 0;
          count++;
          sum += value;
          squares += value * value;
          if (value > low && value < high) half++;
        }
      }
      const deviation = Math.sqrt(Math.max(0, squares / count - (sum / count) ** 2));
      if (half / count >= LEAST_HALFTONES && deviation >= LEAST_DEVIATION) cells[row * columns + column] = 1;
    }
  }
  return cells;
}

/**
 * The darkest and the lightest of a page. Where it is paper with little text, all that is dark is in that, and the grain of
 * the paper would pass for half tones.
 */
function extremes(grey: Grey, text: readonly Box[]): Range {
  const page = levelsOf(grey, [{ x0: 0, y0: 0, x1: grey.width, y1: grey.height }]);
  if (text.length === 0) return page;
  const said = levelsOf(grey, text);
  const dark = Math.min(page.dark, said.dark);
  const light = Math.max(page.light, said.light);
  const isPaper = Math.min(page.middle - dark, light - page.middle) < (light - dark) / 4;
  return isPaper ? { dark, light } : page;
}

/** Luma that 2 % of the pixels in boxes are below, 2 % above, and half on either side of. */
function levelsOf(grey: Grey, boxes: readonly Box[]): Range & { readonly middle: number } {
  const histogram = new Uint32Array(256);
  let count = 0;
  for (const box of boxes) {
    for (let y = Math.max(0, Math.floor(box.y0)); y < Math.min(grey.height, box.y1); y++) {
      for (let x = Math.max(0, Math.floor(box.x0)); x < Math.min(grey.width, box.x1); x++) {
        histogram[grey.data[(y * grey.width + x) * grey.stride] ?? 0]!++;
        count++;
      }
    }
  }
  const below = (share: number): number => {
    let seen = 0;
    return histogram.findIndex((pixels) => (seen += pixels) > count * share);
  };
  return { dark: below(0.02), middle: below(0.5), light: below(0.98) };
}

function scaled({ x0, y0, x1, y1 }: Box, factor: number): Box {
  return { x0: x0 * factor, y0: y0 * factor, x1: x1 * factor, y1: y1 * factor };
}

/** Takes the cells of a box out. */
function mark(cells: Uint8Array, columns: number, rows: number, side: number, box: Box): void {
  for (let row = Math.max(0, Math.floor(box.y0 / side)); row < Math.min(rows, Math.ceil(box.y1 / side)); row++) {
    const start = Math.max(0, Math.floor(box.x0 / side));
    cells.fill(0, row * columns + start, row * columns + Math.min(columns, Math.ceil(box.x1 / side)));
  }
}

/** Grown by two cells and shrunk by one: even parts within a photograph are of it, and so is a rim around it. */
function closed(cells: Uint8Array, columns: number, rows: number): Uint8Array {
  const grown = near(near(cells, columns, rows, 1), columns, rows, 1);
  return near(grown, columns, rows, 0);
}

/** A cell becomes `value` when one of its neighbours is. */
function near(cells: Uint8Array, columns: number, rows: number, value: 0 | 1): Uint8Array {
  const next = Uint8Array.from(cells);
  for (let row = 0; row < rows; row++) {
    for (let column = 0; column < columns; column++) {
      for (let y = Math.max(0, row - 1); y <= Math.min(rows - 1, row + 1); y++) {
        for (let x = Math.max(0, column - 1); x <= Math.min(columns - 1, column + 1); x++) {
          if (cells[y * columns + x] === value) next[row * columns + column] = value;
        }
      }
    }
  }
  return next;
}

/** Boxes, in cells, around the groups of cells that touch; groups that are too small are taken out of `cells`. */
function components(cells: Uint8Array, columns: number): readonly Box[] {
  const boxes: Box[] = [];
  const seen = new Uint8Array(cells.length);
  for (let first = 0; first < cells.length; first++) {
    if (!cells[first] || seen[first]) continue;
    const group = [first];
    seen[first] = 1;
    for (const at of group) {
      const column = at % columns;
      const neighbours = [
        at - columns,
        at + columns,
        ...(column > 0 ? [at - 1] : []),
        ...(column < columns - 1 ? [at + 1] : []),
      ];
      for (const next of neighbours) {
        if (!cells[next] || seen[next]) continue;
        seen[next] = 1;
        group.push(next);
      }
    }
    if (group.length < LEAST_CELLS) {
      for (const at of group) cells[at] = 0;
      continue;
    }
    const box = around(group, columns);
    boxes.push(box);
    const { x0, y0, x1, y1 } = box;
    if (group.length < FILLED * (x1 - x0) * (y1 - y0)) continue;
    for (let y = y0; y < y1; y++) cells.fill(1, y * columns + x0, y * columns + x1);
  }
  return boxes;
}

function around(group: readonly number[], columns: number): Box {
  let [x0, y0, x1, y1] = [Infinity, Infinity, 0, 0];
  for (const at of group) {
    const x = at % columns;
    const y = Math.floor(at / columns);
    [x0, y0, x1, y1] = [Math.min(x0, x), Math.min(y0, y), Math.max(x1, x + 1), Math.max(y1, y + 1)];
  }
  return { x0, y0, x1, y1 };
}
