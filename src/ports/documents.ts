/** A file as it was handed in: what it is, its bytes say, not its name or its declared type. */
export interface DocumentFile {
  /** Name without a path, for messages and as a hint where bytes don't tell (CSV, Markdown). */
  readonly name: string;
  /** IANA media type as declared, lower case, without parameters; `application/octet-stream` without a declaration. */
  readonly mediaType: string;
  readonly bytes: Uint8Array;
}

/** What a document was found to be. */
export type DocumentKind =
  | 'pdf'
  | 'word'
  | 'spreadsheet'
  | 'presentation'
  | 'opendocument'
  | 'rtf'
  | 'epub'
  | 'mail'
  | 'image'
  | 'html'
  | 'markdown'
  | 'csv'
  | 'text';

/**
 * A stretch of a document's text that is read as a whole: a paragraph, a cell, a line of a page, a comment, a form
 * field, an attribute. Personal data is looked for within it; spans are UTF-16 offsets into `text`.
 */
export interface TextUnit {
  /** Unique within the document; opaque: `redact` is given it back. */
  readonly id: string;
  readonly text: string;
  /** From 0; absent where the format has no pages. */
  readonly page?: number;
  /** `shown`: a reader sees it. `hidden`: it travels with the file (metadata, comments, alternative text, old revisions). */
  readonly visibility: 'shown' | 'hidden';
  /** A name or setting of the format and not a text: a match that occurs only here is not reported. */
  readonly identifier?: true;
}

/** The text of a document, in reading order, hidden parts last. */
export interface ReadDocument {
  readonly kind: DocumentKind;
  /** Pages of a PDF, frames of an image, sheets of a spreadsheet, slides, files of a mail; 1 for anything else. */
  readonly pages: number;
  /** Pictures in it that a reader sees (a scanned page is one). */
  readonly images: number;
  readonly units: readonly TextUnit[];
  /** Pages whose text was recognized from a picture. */
  readonly recognizedPages: readonly number[];
  /** Opaque; lets `redact` find the units again without reading the document twice. */
  readonly layout: string;
}

/** A page as a picture. */
export interface PageImage {
  readonly page: number;
  readonly mediaType: 'image/png' | 'image/jpeg';
  /** Base64. */
  readonly data: string;
  /** Pixels. */
  readonly width: number;
  readonly height: number;
}

/** A page as text recognition gives it. // spec 2.4 */
export interface RecognizedPage {
  readonly index: number;
  readonly markdown: string;
  readonly images: readonly {
    readonly id: string;
    readonly top_left_x: number;
    readonly top_left_y: number;
    readonly bottom_right_x: number;
    readonly bottom_right_y: number;
    /** A data URL; null where it was not asked for. */
    readonly image_base64: string | null;
  }[];
  readonly dimensions: { readonly dpi: number; readonly height: number; readonly width: number };
}

/** Where personal data stands in a unit, and the tag that takes its place. */
export interface Replacement {
  readonly unit: string;
  readonly start: number;
  readonly end: number;
  /** `«PERSON_1»` */
  readonly tag: string;
}

/** An anonymized document. */
export interface RedactedDocument {
  readonly bytes: Uint8Array;
  readonly mediaType: string;
  readonly pages: number;
  /** Images that were blurred. */
  readonly images: number;
  /** Pages that became pictures because their text could not be rewritten safely. */
  readonly downgraded: boolean;
}

/** Milliseconds that the client waits: work that takes longer is refused at once, `too_slow`. Absent: no limit. */
interface Awaited {
  readonly withinMs?: number;
}

/** `withinMs` is for reading and rewriting together. */
export interface ReadOptions extends Awaited {
  /** ISO 639-3 codes of the likely languages; absent: detected. */
  readonly languages?: readonly string[];
  /** Whether pictures with text are read too. `never`: only what the file says as text. */
  readonly recognize: 'auto' | 'never';
}

export interface RenderOptions {
  /** Most pages that are wanted: more is `too_many_pages`. */
  readonly maxPages: number;
}

export interface RecognizeOptions {
  readonly languages?: readonly string[];
  /** From 0; absent: all. */
  readonly pages?: readonly number[];
  readonly includeImages: boolean;
  readonly imageLimit?: number;
  readonly imageMinSize?: number;
}

export interface RedactOptions extends Awaited {
  /** As `read` gave it. */
  readonly layout: string;
  readonly replacements: readonly Replacement[];
  /**
   * Originals that must be nowhere in the result, hidden or not: the result is searched for them before it is given out,
   * and is refused (`redaction_failed`) when one is found.
   */
  readonly originals: readonly string[];
}

/** Told how many pages of how many are done, while a document is read or rewritten; not for every kind of document. */
export type OnPages = (done: number, of: number) => void;

/** Reads, draws, recognizes and rewrites documents, in a process of its own. All verbs reject with `DocumentFault`. */
export interface DocumentEngine {
  read(file: DocumentFile, options: ReadOptions, signal: AbortSignal, onPages?: OnPages): Promise<ReadDocument>;
  render(file: DocumentFile, options: RenderOptions, signal: AbortSignal): Promise<readonly PageImage[]>;
  recognize(file: DocumentFile, options: RecognizeOptions, signal: AbortSignal): Promise<readonly RecognizedPage[]>;
  redact(file: DocumentFile, options: RedactOptions, signal: AbortSignal, onPages?: OnPages): Promise<RedactedDocument>;
  /** Resolves when it can answer; rejects with the missing parts. */
  ping(): Promise<void>;
}

/**
 * Why a document was not processed.
 * `unsupported`: not a format that is read. `unreadable`: broken, or not what it claims. `encrypted`: needs a password.
 * `too_large`: over a bound of pixels, bytes or time that is there to protect the service: shrink or split it.
 * `too_slow`: it would take longer than the client waits. `too_many_pages`: more than was allowed. `active_content`:
 * macros, scripts or embedded programs.
 * `redaction_failed`: it could not be made sure that nothing is left. `busy`: try again in `retryAfterMs`.
 * `unavailable`: the engine cannot be reached, or lacks what it needs. `absent`: the installation has none.
 * `no_renderer`: it cannot draw pages.
 */
export type DocumentFaultKind =
  | 'unsupported'
  | 'unreadable'
  | 'encrypted'
  | 'too_large'
  | 'too_slow'
  | 'too_many_pages'
  | 'active_content'
  | 'redaction_failed'
  | 'busy'
  | 'unavailable'
  | 'absent'
  | 'no_renderer';

/** The message is sent to the client: no content, no internals. */
export class DocumentFault extends Error {
  override readonly name = 'DocumentFault';
  readonly kind: DocumentFaultKind;
  readonly retryAfterMs: number | undefined;

  constructor(kind: DocumentFaultKind, message: string, options: ErrorOptions & { retryAfterMs?: number } = {}) {
    super(message, options);
    this.kind = kind;
    this.retryAfterMs = options.retryAfterMs;
  }
}

/** What every surface says where documents and local models are switched off: as a part of a sentence, and as one. */
export const ENGINE_IS_OFF = 'this installation runs without the inference engine (GW_INFERENCE=off)';
export const ENGINE_OFF = `T${ENGINE_IS_OFF.slice(1)}.`;

/** That there is no engine, and will be none. */
export function engineOff(): DocumentFault {
  return new DocumentFault('absent', ENGINE_IS_OFF);
}
