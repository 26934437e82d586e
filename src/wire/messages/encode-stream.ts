import type { Finish, Part, Proof, StreamEvent } from '../hub/canonical.ts';
import type { AnswerContext, StreamEncoder } from '../hub/codec.ts';
import { isObject, type JsonObject } from '../document/json.ts';
import { writeEvent } from '../answer/sse.ts';
import { NO_USAGE, type Usage } from '../answer/usage.ts';
import { writeFinish } from './finish.ts';
import { envelope } from './encode-answer.ts';
import { STREAM_END } from './read-stream.ts';
import { writeUsage } from './usage.ts';

/** A part whose turn has not come, or is now. */
interface Pending {
  readonly part: Part;
  /** Text of it that is not written yet. */
  text: string;
  signature: string;
  ended: boolean;
  /** The block's own index, once it is open. */
  block: number | undefined;
}

/**
 * Writes a messages stream. Its blocks follow each other: of parts that are open at once, the later ones wait until the
 * earlier ones have ended. A part that says nothing is no block: the vendor takes no empty one back. // spec 6.2
 */
export class MessagesStreamEncoder implements StreamEncoder {
  readonly #context: Pick<AnswerContext, 'callId' | 'model' | 'estimatedInput'>;
  /** In the order they opened. The first one is being written. */
  readonly #pending = new Map<number, Pending>();
  #started = false;
  #blocks = 0;
  #called = false;
  #usage: Usage | undefined;
  #finish: Finish = { reason: 'stop' };

  constructor({ callId, model, estimatedInput }: AnswerContext) {
    this.#context = { callId, model, estimatedInput };
  }

  encode(event: StreamEvent): string {
    switch (event.type) {
      case 'start':
        return this.#start(event.usage);
      case 'part-start':
        return this.#start() + this.#open(event.index, event.part);
      case 'part-delta':
        return this.#change(event.index, (pending) => void (pending.text += event.text));
      case 'part-proof':
        return this.#change(event.index, (pending) => void (pending.signature = signatureOf(event.proof)));
      case 'part-end':
        return this.#change(event.index, (pending) => void (pending.ended = true));
      case 'usage':
        this.#usage = event.usage;
        return '';
      case 'finish':
        this.#finish = event.finish;
        return '';
      case 'end':
        return this.#start() + this.#end();
      case 'error':
      case 'warning':
        return '';
    }
  }

  #start(usage?: Usage): string {
    if (this.#started) return '';
    this.#started = true;
    const known = usage ?? { ...NO_USAGE, input: this.#context.estimatedInput };
    const message = {
      ...envelope(this.#context),
      content: [],
      stop_reason: null,
      stop_sequence: null,
      usage: writeUsage(known),
    };
    return frame({ type: 'message_start', message }) + frame({ type: 'ping' });
  }

  #open(index: number, part: Part): string {
    if (!hasPlace(part)) return '';
    this.#called ||= part.type === 'tool-call';
    const text = 'text' in part ? part.text : part.type === 'tool-call' ? part.argumentsJson : '';
    const signature = part.type === 'reasoning' && part.proof ? signatureOf(part.proof) : '';
    this.#pending.set(index, { part, text, signature, ended: false, block: undefined });
    return this.#advance();
  }

  #change(index: number, change: (pending: Pending) => void): string {
    const pending = this.#pending.get(index);
    if (!pending) return '';
    change(pending);
    return this.#advance();
  }

  /** Writes what can be written now: of the first part all that was said, and of the next ones once it has ended. */
  #advance(): string {
    let text = '';
    for (const [index, pending] of this.#pending) {
      text += this.#say(pending);
      if (!pending.ended) return text;
      text += this.#close(pending);
      this.#pending.delete(index);
    }
    return text;
  }

  #say(pending: Pending): string {
    if (pending.block === undefined && isSilent(pending)) return '';
    let text = '';
    if (pending.block === undefined) {
      pending.block = this.#blocks++;
      text = frame({ type: 'content_block_start', index: pending.block, content_block: blockOf(pending.part) });
    }
    if (pending.text === '') return text;
    const delta = deltaOf(pending.part, pending.text);
    pending.text = '';
    return text + frame({ type: 'content_block_delta', index: pending.block, delta });
  }

  #close({ block: index, signature }: Pending): string {
    if (index === undefined) return '';
    const proof =
      signature === ''
        ? ''
        : frame({ type: 'content_block_delta', index, delta: { type: 'signature_delta', signature } });
    return proof + frame({ type: 'content_block_stop', index });
  }

  #end(): string {
    for (const pending of this.#pending.values()) pending.ended = true;
    const usage = this.#usage ?? { ...NO_USAGE, input: this.#context.estimatedInput };
    const delta = writeFinish(this.#finish, this.#called);
    return this.#advance() + frame({ type: 'message_delta', delta, usage: writeUsage(usage) }) + STREAM_END;
  }
}

/** Whether an answer of this family can hold it. */
function hasPlace(part: Part): boolean {
  if (part.type === 'opaque') return part.family === 'messages' && isObject(part.value);
  return part.type !== 'media' && part.type !== 'tool-result';
}

/** Whether nothing was said yet that would be worth a block. */
function isSilent({ part, text, signature }: Pending): boolean {
  return part.type !== 'tool-call' && part.type !== 'opaque' && text === '' && signature === '';
}

function blockOf(part: Part): JsonObject {
  if (part.type === 'tool-call') return { type: 'tool_use', id: part.id, name: part.name, input: {} };
  if (part.type === 'reasoning') return { type: 'thinking', thinking: '', signature: '' };
  if (part.type === 'opaque' && isObject(part.value)) return part.value;
  return { type: 'text', text: '' };
}

function deltaOf(part: Part, text: string): JsonObject {
  if (part.type === 'tool-call') return { type: 'input_json_delta', partial_json: text };
  if (part.type === 'reasoning') return { type: 'thinking_delta', thinking: text };
  return { type: 'text_delta', text };
}

/** What proves thinking to this family: other models' evidence is nothing to it. // spec 4.5.4 */
function signatureOf({ family, value }: Proof): string {
  return family === 'messages' ? value : '';
}

function frame(event: JsonObject & { readonly type: string }): string {
  return writeEvent(JSON.stringify(event), event.type);
}
