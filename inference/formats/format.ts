import type {
  DocumentFile,
  DocumentKind,
  OnPages,
  PageImage,
  ReadDocument,
  ReadOptions,
  RecognizedPage,
  RecognizeOptions,
  RedactedDocument,
  RedactOptions,
  RenderOptions,
} from '#/ports/documents.ts';

/** What a document is by its bytes, and the media type that says so. */
export interface Sniffed {
  readonly kind: DocumentKind;
  readonly mediaType: string;
}

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

/** What formats may use of the engine. */
export interface Tools {
  /** Reads the text in a picture. `languages` absent: found out. */
  recognize(picture: Picture, languages?: readonly string[]): Promise<RecognizedText>;
  /** Called between pages: throws `DocumentFault` when the job was cancelled or its time is up. */
  checkTime(): void;
  /** Called by `read` and `redact` before the first page and after each one, where pages take time. */
  readonly onPages: OnPages;
}

/** One kind of document. Functions that a kind cannot have are absent: the engine answers `unsupported`. */
export interface Format {
  read(file: DocumentFile, options: ReadOptions, tools: Tools): Promise<ReadDocument>;
  render?(file: DocumentFile, options: RenderOptions, tools: Tools): Promise<readonly PageImage[]>;
  recognize?(file: DocumentFile, options: RecognizeOptions, tools: Tools): Promise<readonly RecognizedPage[]>;
  redact(file: DocumentFile, options: RedactOptions, tools: Tools): Promise<RedactedDocument>;
}
