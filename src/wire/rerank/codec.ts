import { readId } from '../answer/answer-id.ts';
import { BadRequestShape, type Ask, type Codec, type Leaf } from '../hub/codec.ts';
import type { Edit, WireDocument } from '../document/document.ts';
import { isObject, type JsonObject } from '../document/json.ts';
import { plainAsk, plainCodec, simpleUsage, textPlaces } from '../hub/plain-codec.ts';
import { isArray, optionalCount } from '../request/request-shape.ts';
import { member, type JsonNode } from '../document/scan.ts';
import { isTold, toldCount } from '../answer/usage.ts';
import { collectContents } from '../request/collect-contents.ts';
import { rankedAtMost } from './size.ts';

const PLACES = textPlaces('query', 'documents');
/** As many documents as the vendor with the longest lists takes. // docs.cohere.com/docs/reranking-best-practices */
const MOST_DOCUMENTS = 10_000;

/**
 * Texts ranked by what they have to do with a query: the shape that Cohere, Jina, vLLM and Voyage share.
 * // docs.cohere.com/reference/rerank, api.jina.ai/redoc, docs.vllm.ai (online serving, re-rank API), docs.voyageai.com/reference
 */
export const rerankCodec: Codec = plainCodec({
  family: 'rerank',
  contents: (document) => collectContents(document, PLACES),
  ask,
  readAnswer(body) {
    const searches = searchesOf(body);
    return {
      id: readId(body['id']),
      usage: usageOf(body),
      ...(searches === undefined ? {} : { units: { searches } }),
      complete: isArray(body['results']) || isArray(body['data']),
    };
  },
  answerLeaves,
  fitAnswer,
});

function ask(document: WireDocument): Ask {
  const { body } = document;
  const plain = plainAsk(document, ['query', 'documents', 'top_n', 'top_k']);
  const { query, documents } = body;
  if (typeof query !== 'string' || query === '') {
    throw new BadRequestShape('query is required and must be a string', 'query');
  }
  if (!isArray(documents) || documents.length === 0 || documents.length > MOST_DOCUMENTS) {
    const message = `documents is required and must be an array of 1 to ${MOST_DOCUMENTS} strings or objects`;
    throw new BadRequestShape(message, 'documents');
  }
  const at = documents.findIndex((one) => !(typeof one === 'string' || (isObject(one) && !isArray(one))));
  if (at >= 0) throw new BadRequestShape('Each of documents must be a string or an object', `documents[${at}]`);
  optionalCount(body, 'top_n', Number.MAX_SAFE_INTEGER);
  optionalCount(body, 'top_k', Number.MAX_SAFE_INTEGER);
  return { ...plain, maxOutputTokens: 0, units: { searches: rankedAtMost(body).usualSearches } };
}

/** Cohere bills by the search and tells how many. */
function searchesOf({ meta }: JsonObject): number | undefined {
  const billed = isObject(meta) ? meta['billed_units'] : undefined;
  const searches = isObject(billed) ? billed['search_units'] : undefined;
  return isTold(searches) ? toldCount(searches) : undefined;
}

function usageOf({ usage, meta }: JsonObject): ReturnType<typeof simpleUsage> {
  const tokens = isObject(meta) ? meta['tokens'] : undefined;
  if (isObject(usage)) return simpleUsage(usage['prompt_tokens'] ?? usage['total_tokens'], 0);
  return isObject(tokens) ? simpleUsage(tokens['input_tokens'], 0) : undefined;
}

/** Voyage calls the results `data`. */
function fitAnswer({ root }: WireDocument): readonly Edit[] {
  if (member(root, 'results')) return [];
  const data = root.members.find(({ key, value }) => key.value === 'data' && value.kind === 'array');
  return data ? [{ start: data.key.start, end: data.key.end, text: '"results"' }] : [];
}

/** Documents that the answer repeats. */
function answerLeaves({ root }: WireDocument): readonly Leaf[] {
  const found: Leaf[] = [];
  const visit = (node: JsonNode | undefined): void => {
    if (node?.kind === 'string') found.push({ node, text: node.value, kind: 'text' });
    else if (node?.kind === 'array') for (const item of node.items) visit(item);
    else if (node?.kind === 'object') for (const { value } of node.members) visit(value);
  };
  visit(member(root, 'results') ?? member(root, 'data'));
  return found;
}
