import { NO_FACTS, NO_OBJECT, type FrameFacts, type StreamReader } from '../answer/frame.ts';
import { readId } from '../answer/answer-id.ts';
import { errorKind, errorMessage } from '../answer/error-message.ts';
import { isObject, type Json, type JsonObject } from '../document/json.ts';
import type { SseEvent } from '../answer/sse.ts';
import { deltaText } from './stream-places.ts';
import { usageOf } from './usage.ts';

/** What an event that says a stream has failed reports, in either of its forms; undefined for any other event. */
function failureOf(body: JsonObject): { message: string; code: Json | undefined } | undefined {
  if (body['type'] === 'response.failed') {
    return reported(isObject(body['response']) ? (body['response']['error'] ?? undefined) : undefined);
  }
  const nested = body['error'] ?? undefined;
  const isError = body['type'] === 'error' || (body['type'] === undefined && nested !== undefined);
  return isError ? reported(nested ?? body) : undefined;
}

function reported(error: Json | undefined): { message: string; code: Json | undefined } {
  return { message: errorMessage(error), code: isObject(error) ? error['code'] : undefined };
}

/** Whether an event of this type is the last of an answer that has not failed. */
function endsStream(type: Json | undefined): boolean {
  return type === 'response.completed' || type === 'response.incomplete';
}

/** Reads a responses stream. */
export class ResponsesStreamReader implements StreamReader {
  #done = false;

  get finished(): boolean {
    return this.#done;
  }

  /** Throws `SyntaxError` when the data is not JSON. */
  read(event: SseEvent): FrameFacts {
    if (event.data === undefined || event.data === '') return NO_FACTS;
    // No vendor's API ends so, but proxies that imitate chat do.
    if (event.data.trim() === '[DONE]') return NO_FACTS;
    const body: unknown = JSON.parse(event.data);
    if (!isObject(body)) return NO_OBJECT;
    if (deltaText(body) !== undefined) return { kind: 'content', id: undefined, usage: undefined, body };
    const response = isObject(body['response']) ? body['response'] : undefined;
    const id = readId(response?.['id']);
    const failure = failureOf(body);
    if (failure) {
      const { message: error, code } = failure;
      const usage = response && usageOf(response);
      return { kind: 'error', id, usage, error, ...errorKind({ code: code ?? null }), body };
    }
    if (!endsStream(body['type'])) return { kind: 'content', id, usage: undefined, body };
    this.#done = true;
    return { kind: 'done', id, usage: response && usageOf(response), body };
  }
}
