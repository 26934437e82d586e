import type { TextUnit } from '#/ports/documents.ts';
import type { Tools } from '../format.ts';
import { readPage, settlePage } from './page.ts';
import { PdfiumFile } from './pdfium.ts';

/** Revisions, from the last, and pages of each, that are looked at. */
const MAX_REVISIONS = 3;
const MAX_PAGES = 50;
const END = Buffer.from('%%EOF', 'latin1');

/**
 * Texts of a document as it was before its last changes, where those were added at its end: they are still in the file.
 * Parts that are not a whole document up to an end do not count.
 */
export async function earlierTexts(
  bytes: Uint8Array,
  known: readonly TextUnit[],
  tools: Tools,
): Promise<readonly string[]> {
  const seen = new Set(known.map(({ text }) => text));
  const texts: string[] = [];
  for (const end of earlierEnds(bytes)) {
    tools.checkTime();
    const file = await PdfiumFile.open(bytes.subarray(0, end)).catch(() => undefined);
    for (let index = 0; file && index < Math.min(file.pageCount, MAX_PAGES); index++) {
      settlePage(file, index);
      for (const { text } of file.withPage(index, (page) => readPage(file, page)).paragraphs) {
        if (!seen.has(text)) texts.push(text);
        seen.add(text);
      }
    }
    file?.close();
  }
  return texts;
}

function earlierEnds(bytes: Uint8Array): readonly number[] {
  const all = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  const ends: number[] = [];
  for (let at = all.indexOf(END); at >= 0; at = all.indexOf(END, at + 1)) ends.push(at + END.length);
  // The first end of a file that was made to be shown while it loads is right after its first page.
  return ends.slice(0, -1).slice(-MAX_REVISIONS);
}
