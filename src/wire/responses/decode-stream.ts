import { readId } from '../answer/answer-id.ts';
import type { Part, StreamEvent } from '../hub/canonical.ts';
import type { StreamDecoder } from '../hub/codec.ts';
import { isObject, type Json, type JsonObject } from '../document/json.ts';
import { isArray } from '../request/request-shape.ts';
import type { SseEvent } from '../answer/sse.ts';
import { finishOf } from './decode-answer.ts';
import { ItemReader, slotOf } from './item-reader.ts';
import { endsStream, failureOf } from './read-stream.ts';
import { usageOf } from './usage.ts';

/**
 * Events that add nothing to the items they speak of: how the provider's own tools are getting on, what frames a text,
 * signs of life.
 */
const PROGRESS =
  /^(?:keepalive|ping|response\.(?:created|queued|in_progress|content_part\.added|reasoning_summary_part\.\w+|(?:\w+_call|mcp_|custom_tool_|program|compaction|audio|output_text\.annotation)[\w.]*))$/;

const MAX_TYPE = 64;

/** Reads a responses stream as events of the hub. // wire-formats 4.1 */
export class ResponsesStreamDecoder implements StreamDecoder {
  readonly #items = new Map<number, ItemReader>();
  /** Ids of the items that were told whole: there are vendors whose last event counts its output otherwise. */
  readonly #told = new Set<Json>();
  /** Types of the parts so far. */
  readonly #types = new Set<Part['type']>();
  #opened = 0;
  #started = false;
  #finished = false;
  /** What was said last holds: an error, or the end. */
  #over = false;

  get finished(): boolean {
    return this.#finished;
  }

  /** Throws `SyntaxError` when the data is not JSON. */
  read(event: SseEvent): readonly StreamEvent[] {
    if (this.#over || event.data === undefined || event.data === '' || event.data.trim() === '[DONE]') return [];
    const body: unknown = JSON.parse(event.data);
    if (!isObject(body)) return [{ type: 'warning', message: 'an event is no JSON object' }];
    const response = isObject(body['response']) ? body['response'] : {};
    const failure = failureOf(body);
    if (failure) return this.#fail(failure, response);
    const events = endsStream(body['type']) ? this.#end(response) : this.#read(body);
    return this.#started ? events : [this.#start(response), ...events];
  }

  end(): readonly StreamEvent[] {
    return [...this.#items.values()].flatMap((item) => item.close());
  }

  #start(response: JsonObject): StreamEvent {
    this.#started = true;
    const id = readId(response['id']);
    return { type: 'start', ...(id === undefined ? {} : { id }) };
  }

  #read(body: JsonObject): StreamEvent[] {
    const { type } = body;
    const item = this.#item(body['output_index']);
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
      case 'response.function_call_arguments.delta':
        return item.argumentsPiece(text(body['delta']));
      case 'response.function_call_arguments.done':
        return [];
      default:
        return this.#readText(body, item);
    }
  }

  #readText(body: JsonObject, item: ItemReader): StreamEvent[] {
    const { type, content_index: at } = body;
    switch (type) {
      case 'response.output_text.delta':
        return item.text(slotOf('text', at), { type: 'text', text: '' }, text(body['delta']));
      case 'response.output_text.done':
        return item.textDone(slotOf('text', at), { type: 'text', text: '' }, text(body['text']));
      case 'response.refusal.delta':
        return item.text(slotOf('refusal', at), { type: 'refusal', text: '' }, text(body['delta']));
      case 'response.refusal.done':
        return item.textDone(slotOf('refusal', at), { type: 'refusal', text: '' }, text(body['refusal']));
      case 'response.reasoning_summary_text.delta':
        return item.reasoning(`summary/${position(body['summary_index'])}`, text(body['delta']));
      case 'response.reasoning_text.delta':
        return item.reasoning(`content/${position(at)}`, text(body['delta']));
      case 'response.reasoning_summary_text.done':
      case 'response.reasoning_text.done':
        return [];
      default:
        return typeof type === 'string' && PROGRESS.test(type) ? [] : [unknownEvent(type)];
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
  #end(response: JsonObject): StreamEvent[] {
    const output = isArray(response['output']) ? response['output'] : [];
    const rest = output.flatMap((item, index) => (isObject(item) ? this.#whole(item, this.#item(index)) : []));
    const usage = usageOf(response);
    this.#finished = true;
    this.#over = true;
    return [
      ...rest,
      ...this.end(),
      ...(usage === undefined ? [] : [{ type: 'usage', usage } as const]),
      { type: 'finish', finish: finishOf(response, this.#types) },
      { type: 'end' },
    ];
  }

  #fail({ message, code }: NonNullable<ReturnType<typeof failureOf>>, response: JsonObject): StreamEvent[] {
    this.#over = true;
    const usage = usageOf(response);
    return [
      ...(usage === undefined ? [] : [{ type: 'usage', usage } as const]),
      { type: 'error', message, ...(typeof code === 'string' ? { code } : {}) },
    ];
  }
}

function position(index: Json | undefined): number {
  return typeof index === 'number' ? index : 0;
}

function text(value: Json | undefined): string {
  return typeof value === 'string' ? value : '';
}

function unknownEvent(type: Json | undefined): StreamEvent {
  const name = typeof type === 'string' && /^[\w.]+$/.test(type) ? type.slice(0, MAX_TYPE) : 'no known type';
  return { type: 'warning', message: `an event of ${name}` };
}
