import type { DocumentFile, PageImage, RecognizedPage, RecognizeOptions, RenderOptions } from '#/ports/documents.ts';
import { toMarkdown } from '../../ocr/markdown.ts';
import type { Tools } from '../format.ts';
import type { Box, Line } from '../../page/page.ts';
import { toJpeg, toPng } from '../image/encode.ts';
import { figureOf, picturesIn } from '../image/figures.ts';
import type { Pixels } from '../image/lettering.ts';
import { drawPage, POINTS_PER_INCH, rasterOf, type Raster } from './draw.ts';
import { frameOf, scaled } from './geometry.ts';
import { readPage, settlePage, type PageContent } from './page.ts';
import { withPdf, type PdfiumFile } from './pdfium.ts';
import { RECOGNITION_DPI } from './read.ts';

const RENDER_DPI = 150;
/** A page as a model is shown it has no more: details beyond that are lost on it. */
const RENDERED_PIXELS = 4_000_000;
const JPEG_QUALITY = 85;
/** Pictures of a page that are smaller, in pixels, are rules, dots and signs. */
const LEAST_PICTURE = 16;

/** Draws all pages. */
export function renderPdf(
  file: DocumentFile,
  { maxPages }: RenderOptions,
  tools: Tools,
): Promise<readonly PageImage[]> {
  return withPdf(
    file.bytes,
    async (pdf) => {
      const pages: PageImage[] = [];
      for (let index = 0; index < pdf.pageCount; index++) {
        tools.checkTime();
        const pixels = pdf.withPage(index, (page) =>
          drawPage(pdf, page, rasterOf(frameOf(pdf, page), RENDER_DPI, RENDERED_PIXELS)),
        );
        const { width, height } = pixels;
        const data = Buffer.from(await toJpeg(pixels, JPEG_QUALITY)).toString('base64');
        pages.push({ page: index, mediaType: 'image/jpeg', data, width, height });
      }
      return pages;
    },
    maxPages,
  );
}

/** Pages as markdown: from their own text, or from recognized text. */
export function recognizePdf(
  file: DocumentFile,
  options: RecognizeOptions,
  tools: Tools,
): Promise<readonly RecognizedPage[]> {
  return withPdf(file.bytes, async (pdf) => {
    const wanted = options.pages && new Set(options.pages);
    const pages: RecognizedPage[] = [];
    let images = 0;
    for (let index = 0; index < pdf.pageCount; index++) {
      if (wanted && !wanted.has(index)) continue;
      tools.checkTime();
      const page = await recognizePage(pdf, index, options, images, tools);
      images += page.images.length;
      pages.push(page);
    }
    return pages;
  });
}

async function recognizePage(
  pdf: PdfiumFile,
  index: number,
  options: RecognizeOptions,
  imagesBefore: number,
  tools: Tools,
): Promise<RecognizedPage> {
  settlePage(pdf, index);
  const content = pdf.withPage(index, (page) => readPage(pdf, page));
  const raster = rasterOf(content.frame, RECOGNITION_DPI);
  let pixels: Pixels | undefined;
  // Not every page has to be drawn.
  const draw = (): Pixels => (pixels ??= pdf.withPage(index, (page) => drawPage(pdf, page, raster)));
  const { lines, boxes } =
    content.kind === 'scan'
      ? await recognized(draw(), raster, tools, options.languages)
      : { lines: content.lines.map((line) => inPixels(line, raster)), boxes: drawnPictures(content, raster) };
  const least = Math.max(LEAST_PICTURE, options.imageMinSize ?? 0);
  const figures = boxes
    .filter(({ x0, y0, x1, y1 }) => x1 - x0 >= least && y1 - y0 >= least)
    .slice(0, Math.max(0, (options.imageLimit ?? Infinity) - imagesBefore))
    .map((box, at) => ({ id: `img-${imagesBefore + at}.jpeg`, box }));
  return {
    index,
    markdown: toMarkdown(lines, figures),
    images: await Promise.all(
      figures.map(({ id, box }) => figureOf(options.includeImages ? draw() : undefined, id, box)),
    ),
    dimensions: { dpi: raster.dpi, height: raster.height, width: raster.width },
  };
}

async function recognized(
  drawn: Pixels,
  { dpi }: Raster,
  tools: Tools,
  languages: readonly string[] | undefined,
): Promise<{ readonly lines: readonly Line[]; readonly boxes: readonly Box[] }> {
  const { width, height } = drawn;
  const { lines } = await tools.recognize({ png: await toPng(drawn, true), width, height, dpi }, languages);
  return { lines, boxes: await picturesIn(drawn, lines, LEAST_PICTURE) };
}

/** Pictures that a page says it draws, in whole pixels of it. */
function drawnPictures({ pictures, kind }: PageContent, raster: Raster): readonly Box[] {
  // Under a layer of text is the page itself.
  if (kind === 'layer') return [];
  return pictures.map((picture) => {
    const { x0, y0, x1, y1 } = scaled(picture, raster.dpi / POINTS_PER_INCH);
    return {
      x0: Math.max(0, Math.floor(x0)),
      y0: Math.max(0, Math.floor(y0)),
      x1: Math.min(raster.width, Math.ceil(x1)),
      y1: Math.min(raster.height, Math.ceil(y1)),
    };
  });
}

function inPixels(line: Line, { dpi }: Raster): Line {
  const factor = dpi / POINTS_PER_INCH;
  return {
    block: line.block,
    box: scaled(line.box, factor),
    words: line.words.map(({ text, box, confidence, size, bold }) => ({
      text,
      box: scaled(box, factor),
      confidence,
      ...(size !== undefined && { size: size * factor }),
      ...(bold !== undefined && { bold }),
    })),
  };
}
