import { createHash } from 'node:crypto';
import Type, { type Static } from 'typebox';
import { Compile } from 'typebox/compile';
import { DocumentFault, type TextUnit } from '#/ports/documents.ts';
import type { PageContent } from './page.ts';

const NUMBER = Type.Number();
const BOX = Type.Object({ x0: NUMBER, y0: NUMBER, x1: NUMBER, y1: NUMBER });
const WORD = Type.Object({ text: Type.String(), start: NUMBER, end: NUMBER, box: BOX, confidence: NUMBER });

/**
 * Kept data of each page: for a text page a digest to recognize it again; for a recognized page
 * where each word stands, in pixels of the size that it was drawn in.
 */
const PAGE = Type.Union([
  Type.Object({ kind: Type.Literal('said'), digest: Type.String() }),
  Type.Object({
    kind: Type.Literal('recognized'),
    width: NUMBER,
    height: NUMBER,
    units: Type.Array(Type.Object({ id: Type.String(), words: Type.Array(WORD) })),
  }),
]);
const LAYOUT = Type.Object({ pages: Type.Array(PAGE) });
const CHECK = Compile(LAYOUT);

export type PdfLayout = Static<typeof LAYOUT>;
export type PageLayout = PdfLayout['pages'][number];
export type RecognizedLayout = Extract<PageLayout, { kind: 'recognized' }>;

/** Units of a page that says its text itself, one a paragraph. */
export function unitsOf(index: number, { paragraphs }: PageContent): readonly TextUnit[] {
  return paragraphs.map(({ text, hidden }, at) => ({
    ...{ id: unitId(index, at), text, page: index },
    visibility: hidden ? 'hidden' : 'shown',
  }));
}

/** Name of a unit of a page that says its text itself. */
export function unitId(page: number, paragraph: number): string {
  return `p${page}u${paragraph}`;
}

/** By what a page that says its text is known again. */
export function layoutOf({ paragraphs }: PageContent): PageLayout {
  const hash = createHash('sha256');
  for (const { text } of paragraphs) hash.update(text).update('\0');
  return { kind: 'said', digest: hash.digest('base64url').slice(0, 16) };
}

/** Reads a layout that `read` gave. Throws `unreadable`. */
export function parseLayout(text: string, pages: number): PdfLayout {
  try {
    const layout: unknown = JSON.parse(text);
    if (CHECK.Check(layout) && layout.pages.length === pages) return layout;
  } catch {
    // Said below.
  }
  throw foreignLayout();
}

/** A layout of another document. */
export function foreignLayout(): DocumentFault {
  return new DocumentFault('unreadable', 'the layout does not belong to this document');
}
