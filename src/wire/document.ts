/** A wire family: one vendor-defined request and answer format. Codecs belong to families, not to vendors. */
export type Family = 'chat' | 'messages' | 'responses' | 'gemini' | 'converse';

/** Any JSON value. */
export type Json = null | boolean | number | string | readonly Json[] | JsonObject;

/** A JSON object with unknown members. */
export interface JsonObject {
  readonly [key: string]: Json | undefined;
}

/** Where a value sits in a document: member names and array indexes from the root. */
export type Path = readonly (string | number)[];

/**
 * A declared change to a document's text. Edits are positions in the original text, so that everything
 * not edited keeps its bytes: number spelling, key order, escapes, unknown members.
 */
export interface Edit {
  /** Offset of the first UTF-16 code unit replaced. */
  readonly start: number;
  /** Offset after the last UTF-16 code unit replaced; equal to `start` for an insertion. */
  readonly end: number;
  /** JSON source text put in its place. */
  readonly text: string;
}
