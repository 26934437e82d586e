import { NO_FACTS, NO_OBJECT, type FrameFacts, type StreamReader } from '../answer/frame.ts';
import { readId } from '../answer/answer-id.ts';
import { errorKind, errorMessage } from '../answer/error-message.ts';
import { isObject, type JsonObject } from '../document/json.ts';
import { writeEvent, type SseEvent } from '../answer/sse.ts';
import type { Usage } from '../answer/usage.ts';
import { StreamedUsage } from './usage.ts';

/** The event that ends a message's stream: what a surface writes for a provider that left it out. */
export const STREAM_END = writeEvent('{"type":"message_stop"}', 'message_stop');

/** Reads a messages stream. */
export class MessagesStreamReader implements StreamReader {
  readonly #usage = new StreamedUsage();
  #finished = false;

  /** The reason why the message ended came, or `message_stop`. */
  get finished(): boolean {
    return this.#finished;
  }

  /** Throws `SyntaxError` when the data is not JSON. */
  read(event: SseEvent): FrameFacts {
    if (event.data === undefined || event.data === '') return NO_FACTS;
    const body: unknown = JSON.parse(event.data);
    return isObject(body) ? this.#facts(body) : NO_OBJECT;
  }

  #facts(body: JsonObject): FrameFacts {
    switch (body['type']) {
      case 'content_block_delta':
      case 'content_block_start':
      case 'content_block_stop':
        return content(body);
      case 'message_start': {
        const message = isObject(body['message']) ? body['message'] : {};
        return { kind: 'other', id: readId(message['id']), usage: this.#usage.add(message['usage']), body };
      }
      case 'message_delta': {
        const { delta } = body;
        if (isObject(delta) && typeof delta['stop_reason'] === 'string') this.#finished = true;
        return content(body, this.#usage.add(body['usage']));
      }
      case 'message_stop':
        this.#finished = true;
        return { ...NO_FACTS, kind: 'done', body };
      case 'error':
        return { ...NO_FACTS, kind: 'error', error: errorMessage(body['error']), ...errorKind(body['error']), body };
      default:
        return { ...NO_FACTS, body };
    }
  }
}

function content(body: JsonObject, usage?: Usage): FrameFacts {
  return { kind: 'content', id: undefined, usage, body };
}
