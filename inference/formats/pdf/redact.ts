import { PDFDocument } from '@cantoo/pdf-lib';
import {
  DocumentFault,
  type DocumentFile,
  type RedactedDocument,
  type RedactOptions,
  type Replacement,
} from '#/ports/documents.ts';
import { findOriginals } from '../originals.ts';
import type { Tools } from '../format.ts';
import { Deadline } from '../pace.ts';
import { replacePages } from './assemble.ts';
import { looksAlike } from './compare.ts';
import { layoutOf, foreignLayout, parseLayout, type PdfLayout } from './layout.ts';
import { leakingPages } from './leaks.ts';
import { readPage, settlePage, type PageContent } from './page.ts';
import { withPdf, type PdfiumFile } from './pdfium.ts';
import { blurPictures } from './pictures.ts';
import { rasterRecognized, rasterSaid, type RasterPage } from './raster.ts';
import { rewritePage } from './rewrite.ts';
import { readAgain } from './second-reader.ts';
import { asWritten, spansOf, withoutTags, type Span } from './spans.ts';
import { dropUnreachable, stripDocument } from './strip.ts';
import { openObjects } from './structure.ts';

/** All that a job works with. */
interface Job {
  readonly bytes: Uint8Array;
  readonly layout: PdfLayout;
  readonly replacements: ReadonlyMap<string, readonly Replacement[]>;
  readonly originals: readonly string[];
  readonly tools: Tools;
  readonly deadline: Deadline;
}

/** The rewritten document, and the pages that could not be. */
interface Rewritten {
  readonly document: PDFDocument;
  readonly failed: Set<number>;
}

/**
 * Rewrites pages that say their text; those whose text was recognized, and those in which anything is left or looks other
 * than before, become pictures with their text as a layer. The result is a new document of its pages alone, and is
 * searched for the originals by two readers and object by object. Rejects with `redaction_failed` where one is found.
 */
export async function redactPdf(file: DocumentFile, options: RedactOptions, tools: Tools): Promise<RedactedDocument> {
  const pages = await withPdf(file.bytes, (pdf) => pdf.pageCount);
  const job: Job = {
    bytes: file.bytes,
    layout: parseLayout(options.layout, pages),
    replacements: Map.groupBy(options.replacements, ({ unit }) => unit),
    originals: options.originals,
    tools,
    deadline: new Deadline(options.withinMs),
  };
  tools.onPages(0, pages);
  const { document, failed } = await rewriteDocument(job, pages);
  const written = await save(document);
  const { rasters, images, downgraded } = await checkPages(job, written, document, failed);
  tools.onPages(pages, pages);
  replacePages(document, rasters);
  dropUnreachable(document);
  const bytes = rasters.size > 0 ? await save(document) : written;
  if (rasters.size > 0) await checkResult(bytes, job);
  return { bytes, mediaType: 'application/pdf', pages, images, downgraded };
}

async function save(document: PDFDocument): Promise<Uint8Array> {
  return document.save({ useObjectStreams: true, updateFieldAppearances: false, addDefaultPage: false });
}

/** Rewrites every page that says its text. When the library breaks over it, all pages have failed. */
async function rewriteDocument(job: Job, pages: number): Promise<Rewritten> {
  try {
    const failed = new Set<number>();
    const copy = await withPdf(job.bytes, (pdf) => {
      for (let index = 0; index < pages; index++) {
        job.tools.checkTime();
        settlePage(pdf, index);
        if (!pdf.withPage(index, (page) => rewriteOne(job, pdf, index, page))) failed.add(index);
      }
      return pdf.copyPages();
    });
    const document = await openObjects(copy);
    if (document.getPageCount() !== pages) throw new DocumentFault('unreadable', 'pages are missing');
    stripDocument(document);
    await blurPictures(document, () => job.tools.checkTime());
    dropUnreachable(document);
    return { document, failed };
  } catch (error) {
    job.tools.checkTime();
    if (error === FOREIGN) throw foreignLayout();
    const document = await PDFDocument.create({ updateMetadata: false });
    for (let index = 0; index < pages; index++) document.addPage([1, 1]);
    return { document, failed: new Set(Array.from({ length: pages }, (_, index) => index)) };
  }
}

const FOREIGN = new Error('foreign layout');

/** False: the page is to become a picture. */
function rewriteOne(job: Job, pdf: PdfiumFile, index: number, page: number): boolean {
  const content = readPage(pdf, page);
  const layout = job.layout.pages[index];
  if (!layout || !kindsOf(content).includes(layout.kind)) throw FOREIGN;
  if (layout.kind === 'recognized') return false;
  const known = layoutOf(content);
  if (known.kind === 'said' && known.digest !== layout.digest) throw FOREIGN;
  if (content.kind === 'layer') return false;
  return rewritePage(pdf, page, content.frame, spansFor(job, index, content));
}

/** How a page may have been read: one with a layer of text by that or as it looks. */
function kindsOf({ kind }: PageContent): readonly PdfLayout['pages'][number]['kind'][] {
  if (kind === 'layer') return ['said', 'recognized'];
  return [kind === 'scan' ? 'recognized' : 'said'];
}

function spansFor({ replacements, originals }: Job, index: number, content: PageContent): readonly Span[] {
  return spansOf(index, content, replacements, originals);
}

/** Looks at every page as it was and as it is now; those that must not stay become pictures. */
async function checkPages(
  job: Job,
  written: Uint8Array,
  document: PDFDocument,
  failed: ReadonlySet<number>,
): Promise<{ rasters: Map<number, RasterPage>; images: number; downgraded: boolean }> {
  const bad = new Set([...failed, ...leakingPages(document, job.originals)]);
  for (const index of await unreadAgain(written, job)) bad.add(index);
  const drawn = job.layout.pages.filter(({ kind }, index) => kind === 'recognized' || bad.has(index)).length;
  const rasters = new Map<number, RasterPage>();
  let images = 0;
  let downgraded = false;
  await withPdf(job.bytes, (before) =>
    withPdf(written, async (after) => {
      for (const [index, layout] of job.layout.pages.entries()) {
        job.tools.checkTime();
        job.tools.onPages(index, job.layout.pages.length);
        job.deadline.refuseToDraw(drawn - rasters.size);
        settlePage(before, index);
        const content = before.withPage(index, (page) => readPage(before, page));
        images += content.kind === 'scan' ? 1 : content.pictures.length;
        if (layout.kind === 'recognized') {
          rasters.set(index, await recognizedRaster(job, before, index, content, layout));
          continue;
        }
        const spans = spansFor(job, index, content);
        const clean = !bad.has(index) && staysClean(after, index, job.originals);
        if (clean && looksAlike(before, after, index, content, spans)) continue;
        downgraded ||= content.kind !== 'layer';
        rasters.set(index, await rasterSaid(before, index, content, spans, job.originals, job.tools));
      }
    }),
  );
  return { rasters, images, downgraded };
}

function recognizedRaster(
  { replacements, originals, tools }: Job,
  file: PdfiumFile,
  index: number,
  content: PageContent,
  layout: Extract<PdfLayout['pages'][number], { kind: 'recognized' }>,
): Promise<RasterPage> {
  return rasterRecognized(file, index, content, layout, replacements, originals, tools);
}

function staysClean(file: PdfiumFile, index: number, originals: readonly string[]): boolean {
  if (originals.length === 0) return true;
  const { glyphs, paragraphs } = file.withPage(index, (page) => readPage(file, page));
  const asRead = paragraphs.map(({ text }) => text).join('\n');
  return [asWritten(glyphs).text, asRead].every((text) => findOriginals(withoutTags(text), originals).length === 0);
}

/** Pages in which the second reader finds an original; all of them when it cannot read the document. */
async function unreadAgain(bytes: Uint8Array, { originals, layout, tools }: Job): Promise<readonly number[]> {
  const all = layout.pages.map((_, index) => index);
  if (originals.length === 0) return [];
  const texts = await readAgain(bytes, () => tools.checkTime()).catch(() => undefined);
  if (!texts) {
    tools.checkTime();
    return all;
  }
  return all.filter((index) => findOriginals(withoutTags(texts[index] ?? ''), originals).length > 0);
}

/** Images have replaced the pages that failed: no match may remain. */
async function checkResult(bytes: Uint8Array, job: Job): Promise<void> {
  const left = [...leakingPages(await openObjects(bytes), job.originals), ...(await unreadAgain(bytes, job))];
  const clean = await withPdf(bytes, (file) =>
    job.layout.pages.every((_, index) => staysClean(file, index, job.originals)),
  );
  if (left.length > 0 || !clean)
    throw new DocumentFault('redaction_failed', 'personal data could still be found in the result');
}
