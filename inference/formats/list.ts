import type { DocumentKind } from '#ports/documents.ts';
import type { Format } from './format.ts';

/** Every kind of document and who reads it. Loaded when the first one comes: a thread that is never asked holds none. */
const FORMATS: Readonly<Record<DocumentKind, () => Promise<Format>>> = {
  pdf: async () => (await import('./pdf/pdf.ts')).pdf,
  word: async () => (await import('./word/word.ts')).word,
  spreadsheet: async () => (await import('./spreadsheet/spreadsheet.ts')).spreadsheet,
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
