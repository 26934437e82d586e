import sharp, { type OverlayOptions, type Sharp } from 'sharp';
import type { WrittenText } from './written-texts.ts';

/** Text at a place of a page; a width makes it flow. */
export interface Print {
  readonly text: string;
  /** Pixels from the left and the top. */
  readonly x: number;
  readonly y: number;
  readonly width?: number;
  /** Points. */
  readonly size?: number;
  readonly bold?: boolean;
}

/** A page of paper. */
export interface Paper {
  readonly width: number;
  readonly height: number;
  readonly dpi: number;
  readonly font: string;
}

const A4 = { width: 8.27, height: 11.69 };

/** Paper in upright A4, or as many inches as are given. */
export function paper(dpi: number, inches: { readonly width: number; readonly height: number } = A4): Paper {
  return {
    width: Math.round(inches.width * dpi),
    height: Math.round(inches.height * dpi),
    dpi,
    font: 'Liberation Serif',
  };
}

/** Prints with a font of the system, black on white. Rejects where the font is missing: another would look alike. */
export async function print(page: Paper, prints: readonly Print[]): Promise<Sharp> {
  const layers: OverlayOptions[] = [];
  for (const piece of prints) {
    const { data } = await ink(page, piece);
    layers.push({ input: data, left: Math.round(piece.x), top: Math.round(piece.y) });
  }
  return onPaper(page, layers);
}

interface Ink {
  readonly data: Buffer;
  readonly height: number;
}

async function ink({ font, dpi }: Paper, { text, width, size = 11, bold = false }: Print): Promise<Ink> {
  const escaped = text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
  const markup = `<span foreground="black">${bold ? `<b>${escaped}</b>` : escaped}</span>`;
  const { data, info } = await sharp({
    text: { text: markup, font: `${font} ${size}`, dpi, rgba: true, ...(width && { width: Math.round(width) }) },
  })
    .png({ compressionLevel: 1 })
    .toBuffer({ resolveWithObject: true });
  return { data, height: info.height };
}

async function onPaper({ width, height, dpi }: Paper, layers: OverlayOptions[]): Promise<Sharp> {
  const create = { width, height, channels: 3 as const, background: '#ffffff' };
  const bytes = await sharp({ create }).composite(layers).greyscale().withMetadata({ density: dpi }).png().toBuffer();
  return sharp(bytes);
}

/** Prints a whole text down the page: heading, paragraphs, list, table, one below the other. */
export async function printText(page: Paper, written: WrittenText): Promise<Sharp> {
  const inch = page.dpi;
  const left = inch;
  const width = page.width - 2 * inch;
  const gap = inch / 6;
  const layers: OverlayOptions[] = [];
  let y = inch;
  const put = async (piece: Omit<Print, 'x' | 'y'>, x = left): Promise<void> => {
    const { data, height } = await ink(page, { ...piece, x, y });
    layers.push({ input: data, left: Math.round(x), top: Math.round(y) });
    y += height + gap;
  };
  await put({ text: written.heading, size: 20, bold: true });
  for (const text of written.paragraphs) await put({ text, width });
  for (const item of written.list) await put({ text: `• ${item}` }, left + gap);
  y += gap;
  for (const row of written.table) {
    const top = y;
    for (const [column, text] of row.entries()) {
      y = top;
      await put({ text }, left + (column * width) / row.length);
    }
  }
  return onPaper(page, layers);
}

/** All words of a text, as they stand on its page. */
export function wordsOf({ heading, paragraphs, list, table }: WrittenText): readonly string[] {
  return [heading, ...paragraphs, ...list, ...table.flat()].join(' ').split(/\s+/);
}

/** What a poor scanner makes of a page: a little turned, grey, noisy, and pressed hard. The same each time; JPEG. */
export function worn(page: Sharp): Promise<Buffer> {
  return soiled(page.clone().rotate(0.8, { background: '#ffffff' }).blur(0.6), {
    quality: 45,
    tone: (value, noise) => 235 - (255 - value) * 0.8 + noise * 30,
  });
}

/** What a camera makes of a page in a poor light: darker to the right and below, less sharp, noisier. The same each time; JPEG. */
export function shaded(page: Sharp): Promise<Buffer> {
  return soiled(page.clone().rotate(-1.1, { background: '#ffffff' }).blur(0.9), {
    quality: 40,
    tone: (value, noise, x, y) => (40 + value * 0.8) * (0.95 - 0.5 * x * y - 0.15 * y) + noise * 22,
  });
}

interface Soil {
  /** Of the JPEG. */
  readonly quality: number;
  /** The grey that becomes of one; `noise` from -1 to 1, places as parts of the page. */
  readonly tone: (value: number, noise: number, x: number, y: number) => number;
}

async function soiled(page: Sharp, { quality, tone }: Soil): Promise<Buffer> {
  const plain = page.greyscale().toColourspace('b-w').raw();
  const { data, info } = await plain.toBuffer({ resolveWithObject: true });
  const { width, height, channels } = info;
  let seed = 7;
  for (let at = 0; at < data.length; at++) {
    seed = (Math.imul(seed, 1103515245) + 12345) & 0x7fffffff;
    const noise = (((seed >> 8) % 61) - 30) / 30;
    const y = Math.floor(at / width);
    data[at] = Math.max(0, Math.min(255, tone(data[at] ?? 0, noise, (at - y * width) / width, y / height)));
  }
  return sharp(data, { raw: { width, height, channels } }).jpeg({ quality }).toBuffer();
}

/** Of two bags of words, how much they share: 1 when they are the same. */
export function wordAccuracy(written: readonly string[], found: readonly string[]): number {
  const left = new Map<string, number>();
  for (const word of written) left.set(word, (left.get(word) ?? 0) + 1);
  let shared = 0;
  for (const word of found) {
    const count = left.get(word) ?? 0;
    if (count > 0) shared++;
    left.set(word, count - 1);
  }
  return (2 * shared) / Math.max(1, written.length + found.length);
}
