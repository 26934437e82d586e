import type { Box } from '../page/page.ts';
import type { Grey } from './tesseract.ts';

/** Degrees by which print may lean and is set upright; more is a picture of something, not a page. */
const MOST_SKEW = 7;
const COARSE = 0.5;
const FINE = 0.1;
/** How much sharper rows must be when set upright. */
const LEAST_GAIN = 1.08;
const MOST_POINTS = 24_000;
/** Pixels to each side that a pixel is compared with, and by which part of a picture's contrast print is darker. */
const NEAR = 15;
const DARKER = 0.25;

/** Where a picture is dark: 1 a pixel. */
export interface Ink {
  readonly data: Uint8Array;
  readonly width: number;
  readonly height: number;
}

/**
 * Separates print from paper: print is darker than its surroundings, since light may be uneven on a page.
 * Undefined where a picture has but one tone.
 */
export function inkOf(grey: Grey): Ink | undefined {
  const { data, width, height } = grey;
  const counts = new Float64Array(256);
  for (const value of data) counts[value] = (counts[value] ?? 0) + 1;
  const contrast = contrastOf(counts, data.length);
  if (contrast === undefined) return undefined;
  const sums = sumsOf(grey);
  const least = contrast * DARKER;
  const ink = new Uint8Array(data.length);
  for (let y = 0; y < height; y++) {
    const [top, end] = [Math.max(0, y - NEAR), Math.min(height, y + NEAR + 1)];
    for (let x = 0; x < width; x++) {
      const [left, right] = [Math.max(0, x - NEAR), Math.min(width, x + NEAR + 1)];
      const sum = sumIn(sums, width + 1, left, top, right, end);
      const mean = sum / ((right - left) * (end - top));
      if ((data[y * width + x] ?? 0) < mean - least) ink[y * width + x] = 1;
    }
  }
  return { data: ink, width, height };
}

/** For each pixel the sum of all above and left of it, in a table with one more row and column. */
function sumsOf({ data, width, height }: Grey): Float64Array {
  const sums = new Float64Array((width + 1) * (height + 1));
  for (let y = 0; y < height; y++) {
    let row = 0;
    for (let x = 0; x < width; x++) {
      row += data[y * width + x] ?? 0;
      sums[(y + 1) * (width + 1) + x + 1] = (sums[y * (width + 1) + x + 1] ?? 0) + row;
    }
  }
  return sums;
}

function sumIn(sums: Float64Array, stride: number, x0: number, y0: number, x1: number, y1: number): number {
  const at = (x: number, y: number): number => sums[y * stride + x] ?? 0;
  return at(x1, y1) - at(x0, y1) - at(x1, y0) + at(x0, y0);
}

/** How far apart the means of two groups of greys are, parted where these lie furthest apart. */
function contrastOf(counts: Float64Array, total: number): number | undefined {
  let sum = 0;
  counts.forEach((count, value) => (sum += count * value));
  let best = 0;
  let contrast: number | undefined;
  let darker = 0;
  let darkSum = 0;
  for (let value = 0; value < 255; value++) {
    darker += counts[value] ?? 0;
    darkSum += (counts[value] ?? 0) * value;
    if (darker === 0 || darker === total) continue;
    const distance = (sum - darkSum) / (total - darker) - darkSum / darker;
    const spread = darker * (total - darker) * distance * distance;
    if (spread > best) [best, contrast] = [spread, distance];
  }
  return contrast;
}

/**
 * Degrees clockwise by which rows of print lean; 0 without rows, or if the angle is too small or too large to measure.
 */
export function skewOf(ink: Ink): number {
  const points = pointsOf(ink);
  if (points.length === 0) return 0;
  const upright = sharpness(points, 0, ink);
  let best = 0;
  let most = upright * LEAST_GAIN;
  const look = (angle: number): void => {
    const value = sharpness(points, angle, ink);
    if (value > most) [most, best] = [value, angle];
  };
  for (let angle = -MOST_SKEW; angle <= MOST_SKEW; angle += COARSE) look(angle);
  const around = best;
  for (let step = -COARSE + FINE; step < COARSE; step += FINE) look(around + step);
  // At the edge of the searched range, the true angle may be anything.
  return Math.abs(best) >= MOST_SKEW ? 0 : Math.round(best * 10) / 10;
}

/** Dark pixels, as many as are needed to tell: columns and rows in turn. */
function pointsOf({ data, width }: Ink): Int32Array {
  const found: number[] = [];
  for (let index = 0; index < data.length; index++) {
    if (data[index]) found.push(index % width, Math.floor(index / width));
  }
  const every = Math.max(1, Math.ceil(found.length / 2 / MOST_POINTS));
  return Int32Array.from(found.filter((_, index) => (index >> 1) % every === 0));
}

/** How sharply rows begin and end when the picture is turned back by an angle. */
function sharpness(points: Int32Array, angle: number, { width, height }: Ink): number {
  const slope = Math.tan((angle * Math.PI) / 180);
  const margin = Math.ceil(Math.abs(slope) * width) + 1;
  const rows = new Int32Array(height + 2 * margin);
  for (let index = 0; index < points.length; index += 2) {
    const row = Math.round((points[index + 1] ?? 0) - slope * (points[index] ?? 0)) + margin;
    rows[row] = (rows[row] ?? 0) + 1;
  }
  let sum = 0;
  for (let row = 1; row < rows.length; row++) sum += ((rows[row] ?? 0) - (rows[row - 1] ?? 0)) ** 2;
  return sum;
}

/** The part of a picture, of at most the given size, in which print changes most often to paper: where it has most text. */
export function densest({ data, width, height }: Ink, wide: number, high: number): Box {
  const rows = new Float64Array(height);
  const columns = new Float64Array(width);
  const changes = (y: number, each: (x: number) => void): void => {
    for (let x = 1; x < width; x++) if (data[y * width + x] !== data[y * width + x - 1]) each(x);
  };
  for (let y = 0; y < height; y++) changes(y, () => (rows[y] = (rows[y] ?? 0) + 1));
  const y0 = fullest(rows, high);
  const y1 = Math.min(height, y0 + high);
  for (let y = y0; y < y1; y++) changes(y, (x) => (columns[x] = (columns[x] ?? 0) + 1));
  const x0 = fullest(columns, wide);
  return { x0, y0, x1: Math.min(width, x0 + wide), y1 };
}

/** Where the stretch of the given length begins that has the largest sum. */
function fullest(values: Float64Array, length: number): number {
  let sum = 0;
  let best = -1;
  let at = 0;
  for (let end = 0; end < values.length; end++) {
    sum += (values[end] ?? 0) - (end >= length ? (values[end - length] ?? 0) : 0);
    if (sum > best) [best, at] = [sum, Math.max(0, end - length + 1)];
  }
  return at;
}
