import type { Json } from '../document/json.ts';
import { isArray } from '../request/request-shape.ts';

/** No vendor reads more pages at once, and no page takes less base64 than this. */
const MOST_PAGES = 1000;
const LEAST_PAGE_LENGTH = 256;
/** Small documents may have as many whatever their size. */
const FEWEST = 16;

/** How many pages a document may have whose base64 has this many characters; 0: it is elsewhere. */
export function pagesAtMost(length: number): number {
  return length === 0 ? MOST_PAGES : Math.min(MOST_PAGES, Math.max(FEWEST, Math.ceil(length / LEAST_PAGE_LENGTH)));
}

/** Whether base64 begins as a picture that has one page, whatever it is called: PNG or JPEG. */
export function isOnePicture(base64: string): boolean {
  return base64.startsWith('iVBORw0KGgo') || base64.startsWith('/9j/');
}

/** A stretch of pages, both ends included. */
export type PageRange = readonly [first: number, last: number];

/** The pages of a selection: a list of page numbers, or ranges like `0-4,7`. Undefined: it is invalid. */
export function pageRanges(pages: Json | undefined): readonly PageRange[] | undefined {
  if (isArray(pages)) {
    const numbers = pages.filter((page) => typeof page === 'number' && Number.isSafeInteger(page) && page >= 0);
    return numbers.length === pages.length ? (numbers as number[]).map((page) => [page, page]) : undefined;
  }
  if (typeof pages !== 'string') return undefined;
  const ranges: PageRange[] = [];
  for (const range of pages.split(',')) {
    const bounds = /^\s*(\d{1,6})\s*(?:-\s*(\d{1,6})\s*)?$/.exec(range);
    if (!bounds) return undefined;
    const first = Number(bounds[1]);
    ranges.push([first, Math.max(first, Number(bounds[2] ?? first))]);
  }
  return ranges;
}
