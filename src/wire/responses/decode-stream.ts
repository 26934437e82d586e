import { NO_OBJECT, type FrameFacts } from '../answer/frame.ts';
import type { Part, StreamEvent } from '../hub/canonical.ts';
import type { StreamDecoder } from '../hub/codec.ts';
import { isObject, type Json, type JsonObject } from '../document/json.ts';
import { isArray } from '../request/request-shape.ts';
import type { SseEvent } from '../answer/sse.ts';
import { finishOf } from './decode-answer.ts';
import { ItemReader, slotOf } from './decode-item.ts';
import { ResponsesStreamReader } from './read-stream.ts';
import { streamText, type StreamText } from './stream-texts.ts';

/**
 * Events that add nothing to the items they speak of: how the provider's own tools are getting on, what frames a text,
 * signs of life.
 */
const PROGRESS =
  /^(?:keepalive|ping|response\.(?:created|queued|in_progress|content_part\.added|reasoning_summary_part\.\w+|(?:\w+_call|mcp_|custom_tool_|program|compaction|audio|output_text\.annotation)[\w.]*))$/;

const MAX_TYPE = 64;

/** Decodes a responses stream into the hub's events. // wire-formats 4.1 */
export class ResponsesStreamDecoder implements StreamDecoder {
  readonly #reader = new ResponsesStreamReader();
  readonly #items = new Map<number, ItemReader>();
  /** Ids of the items that were told whole: there are vendors whose last event counts its output otherwise. */
  readonly #told = new Set<Json>();
  /** Types of the parts so far. */
  readonly #types = new Set<Part['type']>();
  #opened = 0;
  #started = false;
  /** What was said last holds: an error, or the end. */
  #over = false;

  get finished(): boolean {
    return this.#reader.finished;
  }

  /** Throws `SyntaxError` when the data is not JSON. */
  decode(event: SseEvent): readonly StreamEvent[] {
    if (this.#over) return [];
    const facts = this.#reader.read(event);
    const { body, kind } = facts;
    if (facts === NO_OBJECT) return [{ type: 'warning', message: 'an event is no JSON object' }];
    if (!body) return [];
    if (kind === 'error') return this.#fail(facts);
    const events = kind === 'done' ? this.#end(body, facts) : this.#read(body);
    return this.#started ? events : [this.#start(facts), ...events];
  }

  end(): readonly StreamEvent[] {
    return [...this.#items.values()].flatMap((item) => item.close());
  }

  #start({ id }: FrameFacts): StreamEvent {
    this.#started = true;
    return { type: 'start', ...(id === undefined ? {} : { id }) };
  }

  #read(body: JsonObject): readonly StreamEvent[] {
    const type = text(body['type']);
    const item = this.#item(body['output_index']);
    const row = streamText(type);
    if (row) return decodeText(body, row, type.endsWith('.done'), item);
    switch (type) {
      case 'response.output_item.added':
        return isObject(body['item']) ? item.added(body['item']) : [];
      case 'response.output_item.done':
        return isObject(body['item']) ? this.#whole(body['item'], item) : [];
      case 'response.content_part.done':
        return [
          ...item.close(slotOf('text', body['content_index'])),
          ...item.close(slotOf('refusal', body['content_index'])),
        ];
      default:
        return PROGRESS.test(type) ? [] : [unknownEvent(type)];
    }
  }

  #item(outputIndex: Json | undefined): ItemReader {
    const key = typeof outputIndex === 'number' ? outputIndex : -1;
    let item = this.#items.get(key);
    if (item === undefined) {
      item = new ItemReader((part) => {
        this.#types.add(part.type);
        return this.#opened++;
      });
      this.#items.set(key, item);
    }
    return item;
  }

  #whole(item: JsonObject, reader: ItemReader): StreamEvent[] {
    const { id } = item;
    if (id !== undefined && id !== '' && this.#told.has(id)) return [];
    if (id !== undefined) this.#told.add(id);
    return reader.finish(item);
  }

  /** The last event repeats the whole output: what has not been said of it is said now. */
  #end(body: JsonObject, { usage }: FrameFacts): StreamEvent[] {
    const response = isObject(body['response']) ? body['response'] : {};
    const output = isArray(response['output']) ? response['output'] : [];
    const rest = output.flatMap((item, index) => (isObject(item) ? this.#whole(item, this.#item(index)) : []));
    this.#over = true;
    return [
      ...rest,
      ...this.end(),
      ...(usage === undefined ? [] : [{ type: 'usage', usage } as const]),
      { type: 'finish', finish: finishOf(response, this.#types) },
      { type: 'end' },
    ];
  }

  #fail({ usage, error = '', errorKind: code }: FrameFacts): StreamEvent[] {
    this.#over = true;
    return [
      ...(usage === undefined ? [] : [{ type: 'usage', usage } as const]),
      { type: 'error', message: error, ...(code !== undefined && { code }) },
    ];
  }
}

/** A piece of a text, or the whole of it, as its row says. */
function decodeText(
  body: JsonObject,
  { part, counter, whole }: StreamText,
  isWhole: boolean,
  item: ItemReader,
): readonly StreamEvent[] {
  const at = counter === undefined ? 0 : position(body[counter]);
  if (part === 'text' || part === 'refusal') {
    const slot = slotOf(part, at);
    const blank = { type: part, text: '' } as const;
    if (!isWhole) return item.text(slot, blank, text(body['delta']));
    return whole === undefined ? [] : item.textDone(slot, blank, text(body[whole]));
  }
  // The item repeats the rest at its end.
  if (isWhole || part === 'opaque') return [];
  const piece = text(body['delta']);
  return part === 'reasoning' ? item.reasoning(`${counter}/${at}`, piece) : item.argumentsPiece(piece);
}

function position(index: Json | undefined): number {
  return typeof index === 'number' ? index : 0;
}

function text(value: Json | undefined): string {
  return typeof value === 'string' ? value : '';
}

function unknownEvent(type: string): StreamEvent {
  const name = /^[\w.]+$/.test(type) ? type.slice(0, MAX_TYPE) : 'no known type';
  return { type: 'warning', message: `an event of ${name}` };
}
