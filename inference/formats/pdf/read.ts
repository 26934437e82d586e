import type { DocumentFile, ReadDocument, ReadOptions, TextUnit } from '#/ports/documents.ts';
import type { Tools } from '../format.ts';
import type { Line, RecognizedText } from '../../page/page.ts';
import { Deadline, RECOGNIZED, SAID } from '../pace.ts';
import { toPng } from '../image/encode.ts';
import { layOut } from '../image/layout.ts';
import { drawPage, rasterOf } from './draw.ts';
import { hiddenTexts } from './hidden.ts';
import { layoutOf, unitsOf, type PageLayout } from './layout.ts';
import { readPage, settlePage, type PageContent } from './page.ts';
import { withPdf, type PdfiumFile } from './pdfium.ts';
import { earlierTexts } from './revisions.ts';
import { asWritten } from './spans.ts';

/** Print is recognized as well at this resolution as at higher ones. */
export const RECOGNITION_DPI = 200;

/** Reads the text that pages say, recognizes that of the others, and gathers all that is not shown. */
export function readPdf(file: DocumentFile, options: ReadOptions, tools: Tools): Promise<ReadDocument> {
  return withPdf(file.bytes, async (pdf) => {
    const deadline = new Deadline(options.withinMs);
    const scans = deadline.isSet ? await scansIn(file.bytes, pdf.pageCount, options) : 0;
    const units: TextUnit[] = [];
    const pages: PageLayout[] = [];
    const recognizedPages: number[] = [];
    const hidden = new Set(await hiddenTexts(pdf, file.bytes));
    let images = 0;
    for (let index = 0; index < pdf.pageCount; index++) {
      tools.checkTime();
      tools.onPages(index, pdf.pageCount);
      const left = pdf.pageCount - index;
      deadline.refuseToRead({ said: left * (1 - scans), recognized: left * scans });
      const began = performance.now();
      settlePage(pdf, index);
      const content = pdf.withPage(index, (page) => readPage(pdf, page));
      for (const text of content.told) hidden.add(text);
      images += content.kind === 'scan' ? 1 : content.pictures.length;
      const recognized = options.recognize === 'auto';
      // The text layer may differ from the visible text, because an earlier recognition may be wrong.
      if (content.kind === 'scan' || (content.kind === 'layer' && recognized)) {
        for (const { text } of content.paragraphs) hidden.add(text);
        for (const text of readOtherwise(content)) hidden.add(text);
        const found = await recognizedPage(pdf, index, content, recognized, tools, options.languages);
        if (recognized) RECOGNIZED.note(performance.now() - began);
        if (recognized) recognizedPages.push(index);
        for (const one of found.units) units.push(one);
        pages.push(found.layout);
        continue;
      }
      for (const one of unitsOf(index, content)) units.push(one);
      for (const text of readOtherwise(content)) hidden.add(text);
      pages.push(layoutOf(content));
      SAID.note(performance.now() - began);
    }
    tools.onPages(pdf.pageCount, pdf.pageCount);
    for (const text of await earlierTexts(file.bytes, units, tools)) hidden.add(text);
    for (const [at, text] of [...hidden].filter((found) => found.trim() !== '').entries())
      units.push({ id: `h${at}`, text, visibility: 'hidden' });
    const layout = JSON.stringify({ pages });
    return { kind: 'pdf', pages: pdf.pageCount, images, units, recognizedPages, layout };
  });
}

/** Pages that are looked at before any is read. */
const SAMPLE = 12;

/** Which share of the pages has to be recognized, by some of them all over the document. */
async function scansIn(bytes: Uint8Array, count: number, { recognize }: ReadOptions): Promise<number> {
  if (recognize === 'never' || count <= 1) return 0;
  const step = Math.max(1, count / SAMPLE);
  return withPdf(bytes, (pdf) => {
    let [looked, scans] = [0, 0];
    for (let at = 0; at < count; at += step, looked++) {
      const index = Math.floor(at);
      settlePage(pdf, index);
      if (/^(?:scan|layer)$/.test(pdf.withPage(index, (page) => readPage(pdf, page)).kind)) scans++;
    }
    return scans / looked;
  });
}

/** Words to either side of two that do not follow each other as they are read. */
const AROUND = 12;

/**
 * Where words follow each other as a page draws them that do not do so as it is read, such as those of a text that is
 * drawn over another one: these stretches, each with some words around it.
 */
function readOtherwise({ glyphs, paragraphs }: PageContent): readonly string[] {
  const pairs = new Set(paragraphs.flatMap(({ text }) => pairsOf(wordsOf(text))));
  const words = wordsOf(asWritten(glyphs).text);
  const stretches: { from: number; to: number }[] = [];
  for (const [at, pair] of pairsOf(words).entries()) {
    if (pairs.has(pair)) continue;
    const last = stretches.at(-1);
    if (last && at - AROUND <= last.to) last.to = at + AROUND;
    else stretches.push({ from: Math.max(0, at - AROUND), to: at + AROUND });
  }
  return stretches.map(({ from, to }) => words.slice(from, to + 1).join(' '));
}

function wordsOf(text: string): readonly string[] {
  return text.split(/\s+/).filter((word) => word !== '');
}

function pairsOf(words: readonly string[]): readonly string[] {
  return words.slice(1).map((word, at) => `${words[at]} ${word}`);
}

async function recognizedPage(
  pdf: PdfiumFile,
  index: number,
  content: PageContent,
  recognized: boolean,
  tools: Tools,
  languages?: readonly string[],
): Promise<{ readonly units: readonly TextUnit[]; readonly layout: PageLayout }> {
  const raster = rasterOf(content.frame, RECOGNITION_DPI);
  const lines: readonly Line[] = recognized ? (await recognizeDrawn(pdf, index, raster, tools, languages)).lines : [];
  const { units, layout } = layOut(index, lines, raster);
  return { units, layout: { kind: 'recognized', ...layout } };
}

/** Recognizes the text of a page as it is drawn. */
async function recognizeDrawn(
  pdf: PdfiumFile,
  index: number,
  raster: ReturnType<typeof rasterOf>,
  tools: Tools,
  languages?: readonly string[],
): Promise<RecognizedText> {
  const pixels = pdf.withPage(index, (page) => drawPage(pdf, page, raster));
  const { width, height, dpi } = raster;
  return tools.recognize({ png: await toPng(pixels, true), width, height, dpi }, languages);
}
