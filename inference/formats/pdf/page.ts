import type { Box } from '../../page/page.ts';
import { frameOf, type Frame } from './geometry.ts';
import { readGlyphs, type Glyph } from './glyphs.ts';
import { linesOf, type GlyphLine } from './lines.ts';
import { takeParts } from './objects.ts';
import { paragraphsOf, type Paragraph } from './paragraphs.ts';
import type { PageHandle, PdfiumFile } from './pdfium.ts';

/**
 * `text`: it says its text itself. `layer`: a picture with an invisible layer of text over it, as recognition leaves it.
 * `scan`: an image, or unreadable text: it has to be recognized. `blank`: it is empty.
 */
type PageKind = 'text' | 'layer' | 'scan' | 'blank';

/** Content of a page. */
export interface PageContent {
  readonly kind: PageKind;
  readonly frame: Frame;
  readonly glyphs: readonly Glyph[];
  /** Of what a reader sees. */
  readonly lines: readonly GlyphLine[];
  readonly paragraphs: readonly Paragraph[];
  readonly pictures: readonly Box[];
  /** Texts besides the drawn ones. */
  readonly told: readonly string[];
}

/** Annotations that are not drawn as part of a page when it is printed. // FPDF_ANNOTATION_SUBTYPE */
const DROPPED: ReadonlySet<number> = new Set([1, 2, 16, 17]);
const WIDGET = 20;
const NORMAL_APPEARANCE = 0;
/** Fewer letters on a picture of a page are its stamp, not its text. */
const FEW_LETTERS = 200;
/** Letters whose character is not known, of all. */
const GARBLED = 0.3;
const MOST_OF_PAGE = 0.5;

/**
 * Removes comments, links and attachments of a page, and makes form entries and stamps a part of its content, so that
 * they are read and rewritten as such. Pages must not be open.
 */
export function settlePage(file: PdfiumFile, index: number): void {
  const { lib } = file;
  file.withPage(index, (page) => {
    for (let at = lib.FPDFPage_GetAnnotCount(page) - 1; at >= 0; at--) {
      const annotation = lib.FPDFPage_GetAnnot(page, at);
      const subtype = lib.FPDFAnnot_GetSubtype(annotation);
      if (subtype === WIDGET && !lib.EPDFAnnot_HasAppearanceStream(annotation, NORMAL_APPEARANCE))
        lib.EPDFAnnot_GenerateFormFieldAP(annotation);
      lib.FPDFPage_CloseAnnot(annotation);
      if (DROPPED.has(subtype)) lib.FPDFPage_RemoveAnnot(page, at);
    }
    lib.FPDFPage_Flatten(page, 0);
  });
}

/** Reads a page that was settled. */
export function readPage(file: PdfiumFile, page: PageHandle): PageContent {
  const frame = frameOf(file, page);
  const { pictures, told, objects } = takeParts(file, page, frame);
  const glyphs = readGlyphs(file, page, frame);
  const kind = kindOf(glyphs, pictures, objects, frame);
  const seen = (glyph: Glyph): boolean => !glyph.outside && (kind === 'layer' || !glyph.invisible);
  const lines = linesOf(glyphs.filter(seen));
  const unseen = linesOf(glyphs.filter((glyph) => !seen(glyph)));
  return {
    ...{ kind, frame, glyphs, lines, pictures, told },
    paragraphs: [...paragraphsOf(lines, false), ...paragraphsOf(unseen, true)],
  };
}

function kindOf(glyphs: readonly Glyph[], pictures: readonly Box[], objects: number, frame: Frame): PageKind {
  if (objects === 0) return 'blank';
  const shown = glyphs.filter(({ outside }) => !outside);
  if (shown.length === 0) return 'scan';
  if (shown.filter(({ unknown }) => unknown).length > GARBLED * shown.length) return 'scan';
  if (covered(pictures, frame) < MOST_OF_PAGE) return 'text';
  const visible = shown.filter(({ invisible }) => !invisible).length;
  if (visible * 2 < shown.length) return 'layer';
  return visible < FEW_LETTERS ? 'scan' : 'text';
}

/** Share of a page that pictures cover, told on a grid. */
function covered(pictures: readonly Box[], { width, height }: Frame): number {
  const SIDE = 20;
  let cells = 0;
  for (let cell = 0; cell < SIDE * SIDE; cell++) {
    const x = (((cell % SIDE) + 0.5) * width) / SIDE;
    const y = ((Math.floor(cell / SIDE) + 0.5) * height) / SIDE;
    if (pictures.some(({ x0, y0, x1, y1 }) => x >= x0 && x <= x1 && y >= y0 && y <= y1)) cells++;
  }
  return cells / (SIDE * SIDE);
}
