import { UpstreamFault, type Incoming, type ListAsk, type Passing } from '#/ports/provider.ts';
import { AnswerOutOfBounds, refuseCostlyJson } from '#/wire/answer/answer-bounds.ts';
import { isObject, type Json, type JsonObject } from '#/wire/document/json.ts';
import { isArray, isModelId } from '#/wire/request/request-shape.ts';
import { succeeded } from '../http/made-answer.ts';

const MOST_BYTES = 8 * 1024 * 1024;
const MOST_PAGES = 10;
/** More than any vendor has. */
const MOST_MODELS = 5000;
const MOST_CURSOR = 512;

/** How a vendor lists its models. */
export interface ListDialect {
  readonly path: string;
  /** The member of an item that is its id. */
  readonly id: string;
  /** The prefix of the id. */
  readonly prefix?: string;
  /** The path of the next page; undefined on the last one. */
  readonly next?: (page: JsonObject) => string | undefined;
}

/** // platform.openai.com/docs/api-reference/models/list; Together answers with the bare list */
export const OPENAI_LIST: ListDialect = { path: '/models', id: 'id' };
/** // platform.claude.com/docs/en/api/models-list */
export const MESSAGES_LIST: ListDialect = {
  path: '/models?limit=1000',
  id: 'id',
  next: ({ has_more: more, last_id: last }) =>
    more === true && isCursor(last) ? `/models?limit=1000&after_id=${encodeURIComponent(last)}` : undefined,
};
/** // ai.google.dev/api/models#method:-models.list */
export const GEMINI_LIST: ListDialect = {
  path: '/models?pageSize=1000',
  id: 'name',
  prefix: 'models/',
  next: ({ nextPageToken: token }) =>
    isCursor(token) ? `/models?pageSize=1000&pageToken=${encodeURIComponent(token)}` : undefined,
};

function isCursor(value: Json | undefined): value is string {
  return typeof value === 'string' && value !== '' && value.length <= MOST_CURSOR;
}

/**
 * Asks a vendor for its models: ids as they may be written here, and nothing else of what it says. Rejects with
 * `UpstreamFault`, also where it names none.
 */
export async function listModels(
  { path: first, id, prefix = '', next }: ListDialect,
  pass: (passing: Passing) => Promise<Incoming>,
  ask: ListAsk,
): Promise<readonly string[]> {
  const found = new Set<string>();
  let path: string | undefined = first;
  for (let page = 0; path !== undefined && page < MOST_PAGES; page++) {
    const incoming = await pass({ ...ask, method: 'GET', path, contentType: undefined, body: undefined });
    const answer = await readPage(incoming);
    for (const item of isArray(answer) ? answer : listIn(answer)) {
      const name = isObject(item) ? item[id] : undefined;
      if (typeof name !== 'string' || !name.startsWith(prefix)) continue;
      const model = name.slice(prefix.length);
      if (isModelId(model) && found.size < MOST_MODELS) found.add(model);
    }
    path = isObject(answer) && !isArray(answer) ? next?.(answer) : undefined;
  }
  if (found.size === 0) throw new UpstreamFault('protocol', 'its answer lists no models');
  return [...found];
}

async function readPage(incoming: Incoming): Promise<Json> {
  if (!succeeded(incoming)) {
    incoming.close();
    throw new UpstreamFault('protocol', `it answered ${incoming.status}`);
  }
  const text = await incoming.text(MOST_BYTES);
  try {
    refuseCostlyJson(text);
    return JSON.parse(text) as Json;
  } catch (cause) {
    const what = cause instanceof AnswerOutOfBounds ? cause.message : 'it did not answer in JSON';
    throw new UpstreamFault('protocol', what, { cause });
  }
}

function listIn(answer: Json): readonly Json[] {
  if (!isObject(answer)) return [];
  const { data, models } = answer;
  return isArray(data) ? data : isArray(models) ? models : [];
}
