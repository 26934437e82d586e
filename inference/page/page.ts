/** A picture as pixels that a recognizer can read: PNG, grey or RGB, within the pixel bound. */
export interface Picture {
  readonly png: Uint8Array;
  readonly width: number;
  readonly height: number;
  /** Dots per inch, as far as it is known. */
  readonly dpi: number;
}

/** A rectangle in pixels (or points, where a format says so), origin at the top left. */
export interface Box {
  readonly x0: number;
  readonly y0: number;
  readonly x1: number;
  readonly y1: number;
}

/** A word on a page. */
export interface Word {
  readonly text: string;
  readonly box: Box;
  /** From 0 to 1; 1 where the file itself says the text. */
  readonly confidence: number;
  /** Height of its letters in pixels or points, if known: it identifies headings. */
  readonly size?: number;
  readonly bold?: boolean;
}

/** A line of words, in reading order. Consecutive lines of one block belong together. */
export interface Line {
  readonly words: readonly Word[];
  readonly box: Box;
  /** Number of the block (column, paragraph, cell) it is in. */
  readonly block: number;
}

/** What recognition found in a picture. */
export interface RecognizedText {
  readonly lines: readonly Line[];
  /** Degrees that the picture was turned by before it was read; boxes are those of the picture as given. */
  readonly rotation: number;
  /** ISO 639-3 codes it was read in. */
  readonly languages: readonly string[];
}
