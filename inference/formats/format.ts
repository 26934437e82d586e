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
import type { Picture, RecognizedText } from '../page/page.ts';

/** What a document is by its bytes, and the media type that says so. */
export interface Sniffed {
  readonly kind: DocumentKind;
  readonly mediaType: string;
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
