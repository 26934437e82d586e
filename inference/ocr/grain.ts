import type { Grey } from './tesseract.ts';

/** Every so many pixels are looked at to tell whether a picture is grainy: a prime, so that they are in no one column. */
const STEP = 97;
/** Tones by which a pixel of grainy paper differs from both neighbours, and of how many pixels: of smooth paper one in 100. */
const LEAST_GRAIN = 2;
const GRAINY = 0.15;

/**
 * A picture without the grain of a poor scanner or camera, whose dots are read as commas and make letters others: each pixel
 * becomes the middle one of it and its neighbours, across and then down. One without grain is given back as it is, since
 * thin strokes would suffer.
 */
export function withoutGrain(grey: Grey): Grey {
  const { data, width, height } = grey;
  if (width < 3 || height < 3 || !isGrainy(grey)) return grey;
  return { data: middles(middles(data, 1), width), width, height };
}

function isGrainy({ data }: Grey): boolean {
  let looked = 0;
  let grainy = 0;
  for (let at = 1; at < data.length - 1; at += STEP, looked++) {
    const value = data[at] ?? 0;
    if (Math.abs(value - middle(data[at - 1] ?? 0, value, data[at + 1] ?? 0)) >= LEAST_GRAIN) grainy++;
  }
  return grainy > looked * GRAINY;
}

/** The middle one of each pixel and those `step` before and behind it. */
function middles(data: Buffer, step: number): Buffer {
  const out = Buffer.from(data);
  for (let at = step; at < data.length - step; at++)
    out[at] = middle(data[at - step] ?? 0, data[at] ?? 0, data[at + step] ?? 0);
  return out;
}

function middle(a: number, b: number, c: number): number {
  return a < b ? (b < c ? b : a < c ? c : a) : a < c ? a : b < c ? c : b;
}
