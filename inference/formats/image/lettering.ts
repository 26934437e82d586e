/** RGB, three bytes a pixel, row by row. */
export interface Pixels {
  readonly data: Buffer;
  readonly width: number;
  readonly height: number;
}

export type Colour = readonly [red: number, green: number, blue: number];

const COLUMNS = 5;
const ROWS = 7;
const ADVANCE = COLUMNS + 1;

/**
 * The letters of tags, seven rows of five bits each as two hexadecimal digits. Drawn by hand: fonts of the machine may
 * be missing, and a picture that loads fonts would be more code that reads files.
 */
const GLYPHS: Readonly<Record<string, string>> = {
  A: '040a11111f1111',
  B: '1e11111e11111e',
  C: '0e11101010110e',
  D: '1e11111111111e',
  E: '1f10101e10101f',
  F: '1f10101e101010',
  G: '0e11101711110f',
  H: '1111111f111111',
  I: '0e04040404040e',
  J: '0702020202120c',
  K: '11121418141211',
  L: '1010101010101f',
  M: '111b1515111111',
  N: '11191513111111',
  O: '0e11111111110e',
  P: '1e11111e101010',
  Q: '0e11111115120d',
  R: '1e11111e141211',
  S: '0f10100e01011e',
  T: '1f040404040404',
  U: '1111111111110e',
  V: '111111110a0a04',
  W: '1111111515150a',
  X: '11110a040a1111',
  Y: '11110a04040404',
  Z: '1f01020408101f',
  0: '0e11131519110e',
  1: '040c040404040e',
  2: '0e11010204081f',
  3: '1f02040201110e',
  4: '02060a121f0202',
  5: '1f101e0101110e',
  6: '0608101e11110e',
  7: '1f010204080808',
  8: '0e11110e11110e',
  9: '0e11110f01020c',
  _: '0000000000001f',
  '-': '0000001f000000',
  '«': '00050a140a0500',
  '»': '00140a050a1400',
};

/** Pixels that `text` takes when each dot of its letters is `scale` pixels wide. */
export function textSize(text: string, scale: number): { readonly width: number; readonly height: number } {
  return { width: (text.length * ADVANCE - 1) * scale, height: ROWS * scale };
}

/** Draws `text` with its top left corner at `at`; leaves out characters without a glyph or without room. */
export function drawText(
  pixels: Pixels,
  text: string,
  at: { readonly x: number; readonly y: number },
  scale: number,
  colour: Colour,
): void {
  for (let index = 0; index < text.length; index++) {
    const glyph = GLYPHS[text.charAt(index)] ?? '';
    for (let row = 0; row < glyph.length / 2; row++) {
      const bits = Number.parseInt(glyph.slice(row * 2, row * 2 + 2), 16);
      for (let column = 0; column < COLUMNS; column++) {
        if (!(bits & (1 << (COLUMNS - 1 - column)))) continue;
        const x = at.x + (index * ADVANCE + column) * scale;
        fill(pixels, { x0: x, y0: at.y + row * scale, x1: x + scale, y1: at.y + (row + 1) * scale }, colour);
      }
    }
  }
}

/** Fills a rectangle, as far as it is within the picture. */
export function fill(
  { data, width, height }: Pixels,
  box: { readonly x0: number; readonly y0: number; readonly x1: number; readonly y1: number },
  colour: Colour,
): void {
  const x0 = Math.max(0, Math.floor(box.x0));
  const x1 = Math.min(width, Math.ceil(box.x1));
  for (let y = Math.max(0, Math.floor(box.y0)); y < Math.min(height, Math.ceil(box.y1)); y++) {
    for (let x = x0; x < x1; x++) data.set(colour, (y * width + x) * 3);
  }
}
