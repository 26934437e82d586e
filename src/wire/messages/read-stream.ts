import { MALFORMED, NO_FACTS, type FrameFacts, type StreamReader } from '../answer/frame.ts';
import { readId } from '../answer/answer-id.ts';
import { errorKind, errorMessage } from '../answer/error-message.ts';
import { isObject, type JsonObject } from '../document/json.ts';
import { writeEvent, type SseEvent } from '../answer/sse.ts';
import { stringOf } from './answer-blocks.ts';
import { channelsOf, LAST } from './stream-places.ts';
import { OUTPUT_MEMBERS, streamText } from './stream-texts.ts';
import { StreamedUsage } from './usage.ts';

const NONE: readonly string[] = [];

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
    return isObject(body) ? this.#facts(body) : MALFORMED;
  }

  #facts(body: JsonObject): FrameFacts {
    const { index, delta, message } = body;
    switch (body['type']) {
      case 'content_block_delta':
        return content(body, isObject(delta) ? outputBytes(delta) : 0, wholes(index, delta));
      case 'content_block_start': {
        const block = body['content_block'];
        return content(body, isObject(block) ? outputBytes(block) : 0, [`${channelsOf(index)}start/`]);
      }
      case 'content_block_stop':
        return content(body, 0, [channelsOf(index)]);
      case 'message_start':
        if (!isObject(message)) return { ...NO_FACTS, body };
        return { ...NO_FACTS, body, id: readId(message['id']), usage: this.#usage.add(message['usage']) };
      case 'message_delta':
        if (isObject(delta) && typeof delta['stop_reason'] === 'string') this.#finished = true;
        return { ...content(body, 0, [`${LAST}/`]), usage: this.#usage.add(body['usage']) };
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

function content(body: JsonObject, outputBytes: number, ends: readonly string[]): FrameFacts {
  return { kind: 'content', id: undefined, usage: undefined, outputBytes, ends, error: undefined, body };
}

/** What a delta of no text says, it says at once. */
function wholes(index: unknown, delta: unknown): readonly string[] {
  if (!isObject(delta) || streamText(delta['type'])) return NONE;
  return [`${channelsOf(index)}${stringOf(delta, 'type')}/`];
}

function outputBytes(object: JsonObject): number {
  let sum = 0;
  for (const name of OUTPUT_MEMBERS) sum += Buffer.byteLength(stringOf(object, name));
  return sum;
}
