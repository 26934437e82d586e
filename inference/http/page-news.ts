import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import type { OnPages } from '#/ports/documents.ts';

/** Between two pieces of news. */
const APART_MS = 500;

/** Reports a job's pages to its client. */
export interface PageNews {
  readonly note: OnPages;
  /** Sends reports that are pending: the answer follows. */
  end(): void;
}

/**
 * News as informational answers, `102` with `x-gw-pages: DONE/OF`, ahead of the answer itself: the first at once, then
 * the latest, twice a second at most. Undefined for those who have not asked by `x-gw-pages: tell`. // RFC 9110, 15.2
 */
export function pageNewsFor(headers: IncomingHttpHeaders, response: ServerResponse): PageNews | undefined {
  if (headers['x-gw-pages'] !== 'tell') return undefined;
  let latest: Parameters<OnPages> | undefined;
  let timer: NodeJS.Timeout | undefined;
  const tell = (): void => {
    if (latest && !response.headersSent && !response.destroyed)
      response.writeInformation(102, { 'x-gw-pages': latest.join('/') });
    latest = undefined;
  };
  const next = (): void => {
    timer = undefined;
    if (!latest) return;
    tell();
    timer = setTimeout(next, APART_MS);
  };
  return {
    note(...pages) {
      latest = pages;
      if (!timer) next();
    },
    end() {
      clearTimeout(timer);
      tell();
    },
  };
}
