import type { DocumentKind } from '#/ports/documents.ts';
import type { Format } from './format.ts';

/** Every kind of document and who reads it. Loaded when the first one comes: a thread that is never asked holds none. */
export const FORMATS: Readonly<Record<DocumentKind, () => Promise<Format>>> = {
  pdf: async () => (await import('./pdf/pdf.ts')).pdf,
  word: async () => (await import('./word/word.ts')).word,
  spreadsheet: async () => (await import('./spreadsheet/spreadsheet.ts')).spreadsheet,
  presentation: async () => (await import('./presentation/presentation.ts')).presentation,
  opendocument: async () => (await import('./opendocument/opendocument.ts')).opendocument,
  rtf: async () => (await import('./rtf/rtf.ts')).rtf,
  epub: async () => (await import('./epub/epub.ts')).epub,
  mail: async () => (await import('./mail/mail.ts')).createMail(formatOf),
  image: async () => (await import('./image/image.ts')).image,
  html: async () => (await import('./html/html.ts')).html,
  markdown: async () => (await import('./text/text.ts')).text,
  csv: async () => (await import('./text/text.ts')).text,
  text: async () => (await import('./text/text.ts')).text,
};

/** Who reads documents of a kind. */
export function formatOf(kind: DocumentKind): Promise<Format> {
  return FORMATS[kind]();
}
