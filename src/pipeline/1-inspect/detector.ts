/** A stretch of text that is personal or secret: UTF-16 offsets, end exclusive. */
export interface Span {
  readonly start: number;
  readonly end: number;
  /** Upper-case category as used in tags: `EMAIL`, `IBAN`. */
  readonly category: string;
  /** The term of which it is a spelling or a form, where it was found by one. */
  readonly term?: string;
}

/** Finds one kind of personal data. Linear in the text's length, whatever the text. */
export interface Detector {
  readonly category: string;
  find(text: string): readonly Span[];
}
