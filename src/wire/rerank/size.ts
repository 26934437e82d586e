import type { Json, JsonObject } from '../document/json.ts';
import { isArray } from '../request/request-shape.ts';

/** A search is a query with up to so many documents. // cohere.com/pricing */
const DOCUMENTS_A_SEARCH = 100;
/** A longer document counts as several, of so many tokens: of a byte each, at most. // docs.cohere.com/docs/rerank-overview */
const TOKENS_A_DOCUMENT = 500;

/** What a request to rank documents may be billed by. */
export interface Ranked {
  /** Searches, where no document is long. */
  readonly usualSearches: number;
  readonly mostSearches: number;
  /** Bytes of the query as often as it is read beyond the first time: with each document. // docs.voyageai.com/docs/faq */
  readonly queryAgain: number;
}

export function rankedAtMost({ query, documents }: JsonObject): Ranked {
  const list: readonly Json[] = isArray(documents) ? documents : [];
  const asked = typeof query === 'string' ? Buffer.byteLength(query) : 0;
  let parts = 0;
  for (const one of list) {
    const text = typeof one === 'string' ? one : JSON.stringify(one);
    parts += Math.max(1, Math.ceil(Buffer.byteLength(text) / TOKENS_A_DOCUMENT));
  }
  return {
    usualSearches: Math.max(1, Math.ceil(list.length / DOCUMENTS_A_SEARCH)),
    mostSearches: Math.max(1, Math.ceil(parts / DOCUMENTS_A_SEARCH)),
    queryAgain: asked * Math.max(0, list.length - 1),
  };
}
