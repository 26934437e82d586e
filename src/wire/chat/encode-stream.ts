import type { FinishReason, Part, StreamEvent, ToolCallPart } from '../hub/canonical.ts';
import type { AnswerContext, StreamEncoder } from '../hub/codec.ts';
import type { JsonObject } from '../document/json.ts';
import { writeEvent } from '../answer/sse.ts';
import type { Usage } from '../answer/usage.ts';
import { customCall, customNames } from './custom-tools.ts';
import { answerId, wantsFunctionCall } from './encode-answer.ts';
import { encodeFinish } from './finish.ts';
import { usageFrame } from './stream-places.ts';

/** What ends a chat stream. */
export const DONE = 'data: [DONE]\n\n';

/** The member of a delta that continues a part; `call`: which of the calls it is, and whether it said anything yet. */
type Channel = 'content' | 'reasoning_content' | 'refusal' | { readonly call: number; empty: boolean; custom?: Held };

/** A call of a tool that takes a text: its text is known when its arguments are whole. */
type Held = { -readonly [M in 'id' | 'name' | 'argumentsJson']: string };

/** Writes a stream in this family's words. // wire-formats 4.2 */
export class ChatStreamEncoder implements StreamEncoder {
  readonly #envelope: JsonObject;
  readonly #includeUsage: boolean;
  readonly #oldCalls: boolean;
  readonly #custom: ReadonlySet<string>;
  readonly #channels = new Map<number, Channel>();
  #begun = false;
  #calls = 0;
  #refusal = false;
  #reason: FinishReason = 'stop';
  #usage: Usage | undefined;

  constructor(context: AnswerContext) {
    const { createdAt: created, model, includeUsage } = context;
    this.#envelope = { id: answerId(context), object: 'chat.completion.chunk', created, model };
    this.#includeUsage = includeUsage;
    this.#oldCalls = wantsFunctionCall(context);
    this.#custom = customNames(context.request);
  }

  encode(event: StreamEvent): string {
    switch (event.type) {
      case 'start':
        return this.#begin();
      case 'part-start':
        return this.#start(event.index, event.part);
      case 'part-delta':
        return this.#continue(event.index, event.text);
      case 'part-end':
        return this.#endPart(event.index);
      case 'finish':
        this.#reason = event.finish.reason;
        return '';
      case 'usage':
        this.#usage = event.usage;
        return '';
      case 'end':
        return this.#end();
      case 'part-proof':
      case 'error':
      case 'warning':
        return '';
    }
  }

  #begin(): string {
    if (this.#begun) return '';
    this.#begun = true;
    return this.#chunk({ role: 'assistant', content: '' });
  }

  #start(index: number, part: Part): string {
    if (part.type === 'tool-call') return this.#begin() + this.#startCall(index, part);
    const channel = CHANNELS[part.type];
    if (channel === undefined) return '';
    if (channel === 'refusal') this.#refusal = true;
    this.#channels.set(index, channel);
    return this.#begin() + this.#continue(index, 'text' in part ? part.text : '');
  }

  #startCall(index: number, { id, name, argumentsJson }: ToolCallPart): string {
    const call = this.#calls++;
    // Clients of the old kind know of one call only.
    if (this.#oldCalls && call > 0) return '';
    if (this.#custom.has(name)) {
      this.#channels.set(index, { call, empty: false, custom: { id, name, argumentsJson } });
      return '';
    }
    this.#channels.set(index, { call, empty: argumentsJson === '' });
    const called = { name, arguments: argumentsJson };
    if (this.#oldCalls) return this.#chunk({ function_call: called });
    return this.#chunk({ tool_calls: [{ index: call, id, type: 'function', function: called }] });
  }

  #continue(index: number, text: string): string {
    const channel = this.#channels.get(index);
    if (channel === undefined || text === '') return '';
    if (typeof channel === 'string') return this.#chunk({ [channel]: text });
    if (channel.custom) {
      channel.custom.argumentsJson += text;
      return '';
    }
    channel.empty = false;
    if (this.#oldCalls) return this.#chunk({ function_call: { arguments: text } });
    return this.#chunk({ tool_calls: [{ index: channel.call, function: { arguments: text } }] });
  }

  /** Clients parse the arguments of a call: none are an empty object. */
  #endPart(index: number): string {
    const channel = this.#channels.get(index);
    const text = typeof channel === 'object' && channel.empty ? this.#continue(index, '{}') : '';
    this.#channels.delete(index);
    if (typeof channel !== 'object' || !channel.custom) return text;
    return this.#chunk({ tool_calls: [{ index: channel.call, ...customCall(channel.custom) }] });
  }

  #end(): string {
    const open = [...this.#channels.keys()].map((index) => this.#endPart(index)).join('');
    const calls = this.#calls > 0;
    const word = encodeFinish(this.#reason, { calls, refusal: this.#refusal });
    const finish = this.#chunk({}, this.#oldCalls && word === 'tool_calls' ? 'function_call' : word);
    const usage = this.#includeUsage && this.#usage ? usageFrame(this.#envelope, this.#usage) : undefined;
    return this.#begin() + open + finish + (usage ? writeEvent(JSON.stringify(usage)) : '') + DONE;
  }

  #chunk(delta: JsonObject, finish: string | null = null): string {
    const choices = [{ index: 0, delta, finish_reason: finish }];
    return writeEvent(JSON.stringify({ ...this.#envelope, choices }));
  }
}

const CHANNELS: Readonly<Partial<Record<Part['type'], Exclude<Channel, object>>>> = {
  text: 'content',
  reasoning: 'reasoning_content',
  refusal: 'refusal',
};
