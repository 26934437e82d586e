import type { Proof, ToolCallPart } from '../hub/canonical.ts';
import type { AnswerContext } from '../hub/codec.ts';
import type { JsonObject } from '../document/json.ts';
import { callItem, contentOf, messageItem, NO_ARGUMENTS, reasoningItem } from './output-items.ts';

/** An event without its sequence number. */
export interface Said {
  readonly type: string;
  readonly [member: string]: JsonObject[string];
}

/** Where an item stands among the output. */
interface Place {
  readonly id: string;
  readonly outputIndex: number;
}

/** An item of a streamed answer: what is said of it, and what it has become. */
export interface ItemWriter {
  readonly item: JsonObject;
}

function added({ outputIndex }: Place, item: JsonObject): Said {
  return { type: 'response.output_item.added', output_index: outputIndex, item };
}

function done({ outputIndex }: Place, item: JsonObject): Said {
  return { type: 'response.output_item.done', output_index: outputIndex, item };
}

/** A message, to which pieces of content are added until another item begins. // wire-formats 4.1 */
export class MessageWriter implements ItemWriter {
  readonly #place: Place;
  readonly #content: { readonly type: 'text' | 'refusal'; text: string }[] = [];
  #open = 0;
  #sealed = false;

  constructor(place: Place) {
    this.#place = place;
  }

  /** Nothing more will be added to it. */
  get sealed(): boolean {
    return this.#sealed;
  }

  get item(): JsonObject {
    return messageItem(
      this.#place.id,
      this.#content.map(({ type, text }) => contentOf(type, text)),
      'completed',
    );
  }

  begin(): Said[] {
    return [added(this.#place, messageItem(this.#place.id, [], 'in_progress'))];
  }

  openContent(type: 'text' | 'refusal'): { readonly contentIndex: number; readonly said: Said[] } {
    const contentIndex = this.#content.length;
    this.#content.push({ type, text: '' });
    this.#open++;
    const part = contentOf(type, '');
    return { contentIndex, said: [{ type: 'response.content_part.added', ...this.#at(contentIndex), part }] };
  }

  delta(contentIndex: number, text: string): Said[] {
    const content = this.#content[contentIndex];
    if (content === undefined) return [];
    content.text += text;
    const delta = { ...this.#at(contentIndex), delta: text };
    if (content.type === 'refusal') return [{ type: 'response.refusal.delta', ...delta }];
    return [{ type: 'response.output_text.delta', ...delta, logprobs: [] }];
  }

  closeContent(contentIndex: number): Said[] {
    const content = this.#content[contentIndex];
    if (content === undefined) return [];
    this.#open--;
    const { type, text } = content;
    const at = this.#at(contentIndex);
    const whole: Said =
      type === 'refusal'
        ? { type: 'response.refusal.done', ...at, refusal: text }
        : { type: 'response.output_text.done', ...at, text, logprobs: [] };
    const part: Said = { type: 'response.content_part.done', ...at, part: contentOf(type, text) };
    return [whole, part, ...this.#end()];
  }

  /** Another item begins, or none will. */
  seal(): Said[] {
    if (this.#sealed) return [];
    this.#sealed = true;
    return this.#end();
  }

  #end(): Said[] {
    return this.#sealed && this.#open === 0 ? [done(this.#place, this.item)] : [];
  }

  #at(contentIndex: number) {
    return { item_id: this.#place.id, output_index: this.#place.outputIndex, content_index: contentIndex };
  }
}

/** A function call, whose arguments come in pieces. */
export class CallWriter implements ItemWriter {
  readonly #place: Place;
  readonly #call: ToolCallPart;
  readonly #context: AnswerContext;
  #arguments = '';

  constructor(context: AnswerContext, place: Place, call: ToolCallPart) {
    this.#context = context;
    this.#place = place;
    this.#call = call;
  }

  get item(): JsonObject {
    return this.#as(this.#arguments, 'completed');
  }

  begin(): Said[] {
    const said = [added(this.#place, this.#as('', 'in_progress'))];
    return [...said, ...this.delta(this.#call.argumentsJson)];
  }

  delta(text: string): Said[] {
    if (text === '') return [];
    this.#arguments += text;
    // What other tools are told is known when it is whole.
    if (!this.#isFunction) return [];
    return [{ type: 'response.function_call_arguments.delta', ...this.#at, delta: text }];
  }

  close(): Said[] {
    if (!this.#isFunction) return this.#closeOther();
    return [
      ...(this.#arguments === '' ? this.delta(NO_ARGUMENTS) : []),
      {
        type: 'response.function_call_arguments.done',
        ...this.#at,
        name: this.item['name']!,
        arguments: this.#arguments,
      },
      done(this.#place, this.item),
    ];
  }

  #closeOther(): Said[] {
    const { item } = this;
    const { input } = item;
    if (typeof input !== 'string') return [done(this.#place, item)];
    return [
      { type: 'response.custom_tool_call_input.delta', ...this.#at, delta: input },
      { type: 'response.custom_tool_call_input.done', ...this.#at, input },
      done(this.#place, item),
    ];
  }

  get #isFunction(): boolean {
    return this.#as('', 'in_progress')['type'] === 'function_call';
  }

  #as(argumentsJson: string, status: 'in_progress' | 'completed'): JsonObject {
    return callItem(this.#context, this.#place.id, { ...this.#call, argumentsJson }, status);
  }

  get #at() {
    return { item_id: this.#place.id, output_index: this.#place.outputIndex };
  }
}

/** Reasoning: its text is one paragraph of summary, if it has any. */
export class ReasoningWriter implements ItemWriter {
  proof: Proof | undefined;
  readonly #place: Place;
  #text = '';

  constructor(place: Place) {
    this.#place = place;
  }

  get item(): JsonObject {
    const proof = this.proof === undefined ? {} : { proof: this.proof };
    return reasoningItem(this.#place.id, { type: 'reasoning', text: this.#text, ...proof });
  }

  begin(): Said[] {
    return [added(this.#place, reasoningItem(this.#place.id, { type: 'reasoning', text: '' }))];
  }

  delta(text: string): Said[] {
    const part = { type: 'summary_text', text: '' };
    const opening: Said[] =
      this.#text === '' ? [{ type: 'response.reasoning_summary_part.added', ...this.#at, part }] : [];
    this.#text += text;
    return [...opening, { type: 'response.reasoning_summary_text.delta', ...this.#at, delta: text }];
  }

  close(): Said[] {
    const ended = done(this.#place, this.item);
    if (this.#text === '') return [ended];
    const part = { type: 'summary_text', text: this.#text };
    return [
      { type: 'response.reasoning_summary_text.done', ...this.#at, text: this.#text },
      { type: 'response.reasoning_summary_part.done', ...this.#at, part },
      ended,
    ];
  }

  get #at() {
    return { item_id: this.#place.id, output_index: this.#place.outputIndex, summary_index: 0 };
  }
}

/** An item that is told in one piece. */
export class WholeWriter implements ItemWriter {
  readonly item: JsonObject;
  readonly #place: Place;

  constructor(place: Place, item: JsonObject) {
    this.#place = place;
    this.item = item;
  }

  begin(): Said[] {
    return [added(this.#place, this.item), done(this.#place, this.item)];
  }
}
