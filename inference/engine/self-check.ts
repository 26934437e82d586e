import sharp from 'sharp';
import { DocumentFault } from '#/ports/documents.ts';
import { decodeFrame } from '../formats/image/decode.ts';
import { drawText, textSize } from '../formats/image/lettering.ts';
import type { Format, Tools } from '../formats/format.ts';

const WORDS = 'TEXT FOUND';
const SCALE = 6;
const MARGIN = 40;

/** Letters drawn here must be read there. Rejects with `unavailable`. */
export async function checkPicture(tools: Tools): Promise<void> {
  const size = textSize(WORDS, SCALE);
  const width = size.width + 2 * MARGIN;
  const height = size.height + 2 * MARGIN;
  const pixels = { data: Buffer.alloc(width * height * 3, 255), width, height };
  drawText(pixels, WORDS, { x: MARGIN, y: MARGIN }, SCALE, [0, 0, 0]);
  const raw = sharp(pixels.data, { raw: { width, height, channels: 3 } });
  // Letters of dots are rounded off, or they are read as others.
  const png = await raw.greyscale().blur(2).png().toBuffer();
  const { lines } = await tools.recognize({ png, width, height, dpi: 200 }, ['eng']);
  const read = lines.flatMap((line) => line.words.map((word) => word.text)).join('');
  if (!read.includes('TEXT')) throw new DocumentFault('unavailable', 'text recognition does not find the drawn words');
}

/** A page of our own must be drawn, with something on it. Rejects with `no_renderer`. */
export async function checkPage(pdf: Format, tools: Tools): Promise<void> {
  if (!pdf.render) return;
  try {
    const file = { name: 'check.pdf', mediaType: 'application/pdf', bytes: new TextEncoder().encode(PAGE) };
    const [page] = await pdf.render(file, { maxPages: 1 }, tools);
    const { data } = await decodeFrame(Buffer.from(page?.data ?? '', 'base64'), 0);
    if (!data.includes(0) || !data.includes(255)) throw new Error('the page is blank');
  } catch (cause) {
    throw new DocumentFault('no_renderer', 'pages cannot be drawn', { cause });
  }
}

/** A black square on white paper; readers rebuild the table of objects that it lacks. */
const PAGE = `%PDF-1.4
1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj
2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj
3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 200]/Contents 4 0 R>>endobj
4 0 obj<</Length 21>>stream
0 g 50 50 100 100 re f
endstream endobj
trailer<</Root 1 0 R/Size 5>>
%%EOF
`;
