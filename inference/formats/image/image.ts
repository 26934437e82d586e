import {
  DocumentFault,
  type DocumentFile,
  type PageImage,
  type ReadDocument,
  type ReadOptions,
  type RecognizedPage,
  type RecognizeOptions,
  type RenderOptions,
  type TextUnit,
} from '#/ports/documents.ts';
import { toMarkdown } from '../../ocr/markdown.ts';
import type { Format, Tools } from '../format.ts';
import type { Line } from '../../page/page.ts';
import { Deadline, RECOGNIZED } from '../pace.ts';
import { checkAnimation, decodeFrame, inspect, type Frame } from './decode.ts';
import { toJpeg, toPng } from './encode.ts';
import { layOut, type FrameLayout } from './layout.ts';
import { figureOf, picturesIn } from './figures.ts';
import { redactImage } from './redact.ts';

/** A page as a model is shown it has no more: details beyond that are lost on it. */
const RENDERED_PIXELS = 4_000_000;
const JPEG_QUALITY = 85;

/** Pictures: PNG, JPEG, WebP, GIF and TIFF. Each frame is a page; its text is recognized, and all metadata is hidden text. */
export const image: Format = { read, render, recognize, redact: redactImage };

async function read(file: DocumentFile, options: ReadOptions, tools: Tools): Promise<ReadDocument> {
  const facts = await inspect(file.bytes);
  checkAnimation(facts, file.mediaType);
  const { frames, hiddenText } = facts;
  const units: TextUnit[] = [];
  const layouts: FrameLayout[] = [];
  const deadline = new Deadline(options.recognize === 'auto' ? options.withinMs : undefined);
  for (let index = 0; index < frames; index++) {
    tools.checkTime();
    tools.onPages(index, frames);
    if (frames > 1) deadline.refuseToRead({ said: 0, recognized: frames - index });
    const began = performance.now();
    const frame = await decodeFrame(file.bytes, index);
    const lines = options.recognize === 'auto' ? await readLines(frame, tools, options.languages) : [];
    if (options.recognize === 'auto') RECOGNIZED.note(performance.now() - began);
    const { units: found, layout } = layOut(index, lines, frame);
    for (const one of found) units.push(one);
    layouts.push(layout);
  }
  tools.onPages(frames, frames);
  if (hiddenText !== '') units.push({ id: 'metadata', text: hiddenText, visibility: 'hidden' });
  return {
    kind: 'image',
    pages: frames,
    images: frames,
    units,
    recognizedPages: options.recognize === 'auto' ? layouts.map((_, index) => index) : [],
    layout: JSON.stringify({ frames: layouts }),
  };
}

async function render(file: DocumentFile, { maxPages }: RenderOptions, tools: Tools): Promise<readonly PageImage[]> {
  const { frames } = await inspect(file.bytes);
  if (frames > maxPages) throw new DocumentFault('too_many_pages', `the image has ${frames} frames`);
  const pages: PageImage[] = [];
  for (let page = 0; page < frames; page++) {
    tools.checkTime();
    const frame = await decodeFrame(file.bytes, page, RENDERED_PIXELS);
    const lossy = file.mediaType === 'image/jpeg' || file.mediaType === 'image/webp';
    const bytes = lossy ? await toJpeg(frame, JPEG_QUALITY) : await toPng(frame);
    const { width, height } = frame;
    pages.push({ page, mediaType: lossy ? 'image/jpeg' : 'image/png', data: base64(bytes), width, height });
  }
  return pages;
}

async function recognize(
  file: DocumentFile,
  options: RecognizeOptions,
  tools: Tools,
): Promise<readonly RecognizedPage[]> {
  const { frames } = await inspect(file.bytes);
  const wanted = new Set(options.pages ?? Array.from({ length: frames }, (_, index) => index));
  const pages: RecognizedPage[] = [];
  let images = 0;
  for (let index = 0; index < frames; index++) {
    if (!wanted.has(index)) continue;
    tools.checkTime();
    const frame = await decodeFrame(file.bytes, index);
    const lines = await readLines(frame, tools, options.languages);
    const boxes = (await picturesIn(frame, lines, options.imageMinSize ?? 0)).slice(
      0,
      (options.imageLimit ?? Infinity) - images,
    );
    const figures = boxes.map((box) => ({ id: `img-${images++}.jpeg`, box }));
    pages.push({
      index,
      markdown: toMarkdown(lines, figures),
      images: await Promise.all(
        figures.map(({ id, box }) => figureOf(options.includeImages ? frame : undefined, id, box)),
      ),
      dimensions: { dpi: frame.dpi, height: frame.height, width: frame.width },
    });
  }
  return pages;
}

/** The lines of text in a frame. */
async function readLines(
  frame: Frame,
  tools: Tools,
  languages: readonly string[] | undefined,
): Promise<readonly Line[]> {
  const { width, height, dpi } = frame;
  const { lines } = await tools.recognize({ png: await toPng(frame, true), width, height, dpi }, languages);
  return lines;
}

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');
}
