/** What a document is billed by: a picture by its frames, anything else by its pages. */
export interface UnitsAtMost {
  readonly unit: 'pages' | 'images';
  /** Pages debited before the document is read. */
  readonly most: number;
}

/** No document is worked on that has more. */
const MOST_PAGES = 1000;
const MOST_FRAMES = 200;
/** No honest frame or sheet takes fewer bytes. */
const LEAST_BYTES = 384;
/** Small files are debited for as many. */
const FEWEST = 4;
/** Within which a file says what it is; of a mail, its whole head. */
const HEAD_BYTES = 200;
const MAIL_BYTES = 512 * 1024;
const MAIL_HEAD = /^(?:ï»¿)?\s*[!-9;-~]{1,76}:/;
const MAIL_SIGN = /^(?:From|To|Subject|Date|Received|Message-ID|MIME-Version|Return-Path|Content-[\w-]{1,40}):/im;
/** A PDF may begin with something else. */
const PDF_WITHIN = 1024;

/** What a document may be billed for at most, by how it begins and what it plainly holds, whatever it is called. */
export function unitsAtMost(bytes: Uint8Array): UnitsAtMost {
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const begins = (...starts: readonly string[]): boolean =>
    starts.some((start) => file.subarray(0, start.length / 2).toString('hex') === start);
  const bySize = (most: number): number => Math.min(most, Math.max(FEWEST, Math.ceil(file.length / LEAST_BYTES)));
  // PNG, JPEG
  if (begins('89504e47', 'ffd8ff')) return { unit: 'images', most: 1 };
  // GIF, TIFF in both byte orders and of both sizes, WebP
  if (begins('47494638', '49492a00', '4d4d002a', '49492b00', '4d4d002b', '52494646')) {
    return { unit: 'images', most: bySize(MOST_FRAMES) };
  }
  if (file.subarray(0, PDF_WITHIN).includes('%PDF')) return { unit: 'pages', most: pagesOfPdf(file) };
  return { unit: 'pages', most: hasPages(file, begins('504b')) ? bySize(MOST_PAGES) : 1 };
}

/** Sheets and slides count, and attachments of mail. */
function hasPages(file: Buffer, isZip: boolean): boolean {
  const head = file.toString('latin1', 0, HEAD_BYTES);
  if (isZip)
    return /opendocument\.(?:spreadsheet|presentation)/.test(head) || file.includes('xl/') || file.includes('ppt/');
  return MAIL_HEAD.test(head) && MAIL_SIGN.test(file.toString('latin1', 0, MAIL_BYTES));
}

/**
 * The content of a page is a stream, and streams cannot hide in others; an empty page is a visible object, or one of
 * few.
 */
function pagesOfPdf(file: Buffer): number {
  let pages = FEWEST;
  for (const word of ['endstream', '/Page']) {
    for (let at = file.indexOf(word); at >= 0 && pages < MOST_PAGES; at = file.indexOf(word, at + word.length)) pages++;
  }
  return pages;
}
