import { encodeFinish } from '../chat/finish.ts';
import { DONE } from '../chat/encode-stream.ts';
import { writeUsage } from '../chat/usage.ts';
import type { FinishReason, ModelAnswer, StreamEvent } from '../hub/canonical.ts';
import type { AnswerContext, StreamEncoder } from '../hub/codec.ts';
import type { JsonObject } from '../document/json.ts';
import { writeEvent } from '../answer/sse.ts';
import type { Usage } from '../answer/usage.ts';

/** A whole answer in this family's words: its text, and nothing else of it. */
export function encodeAnswer({ parts, finish, usage }: ModelAnswer, context: AnswerContext): JsonObject {
  const text = parts.map((part) => (part.type === 'text' ? part.text : '')).join('');
  return {
    ...envelopeOf(context),
    choices: [choice(text, finishWord(finish.reason))],
    ...(usage ? { usage: writeUsage(usage) } : {}),
  };
}

/** A chunk that says only `text` on `channel` (`0/text`). */
export function deltaFrame(like: JsonObject, channel: string, text: string): JsonObject {
  return { ...envelopeLike(like), choices: [{ ...choice(text, null), index: Number.parseInt(channel, 10) }] };
}

/** The last chunk of a stream whose client asked for usage. */
export function usageFrame(like: JsonObject, usage: Usage): JsonObject {
  return { ...envelopeLike(like), choices: [], usage: writeUsage(usage) };
}

/** Writes a stream in this family's words: texts, how it finished, usage if asked for, and the end marker. */
export class CompletionStreamEncoder implements StreamEncoder {
  readonly #envelope: JsonObject;
  readonly #includeUsage: boolean;
  readonly #texts = new Set<number>();
  #reason: FinishReason = 'stop';
  #usage: Usage | undefined;

  constructor(context: AnswerContext) {
    this.#envelope = envelopeOf(context);
    this.#includeUsage = context.includeUsage;
  }

  encode(event: StreamEvent): string {
    switch (event.type) {
      case 'part-start':
        if (event.part.type !== 'text') return '';
        this.#texts.add(event.index);
        return this.#text(event.part.text);
      case 'part-delta':
        return this.#texts.has(event.index) ? this.#text(event.text) : '';
      case 'finish':
        this.#reason = event.finish.reason;
        return '';
      case 'usage':
        this.#usage = event.usage;
        return '';
      case 'end':
        return this.#end();
      case 'start':
      case 'part-proof':
      case 'part-end':
      case 'error':
      case 'warning':
        return '';
    }
  }

  #text(text: string): string {
    return text === '' ? '' : this.#chunk([choice(text, null)]);
  }

  #end(): string {
    const usage = this.#includeUsage && this.#usage ? this.#chunk([], writeUsage(this.#usage)) : '';
    return this.#chunk([choice('', finishWord(this.#reason))]) + usage + DONE;
  }

  #chunk(choices: readonly JsonObject[], usage?: JsonObject): string {
    return writeEvent(JSON.stringify({ ...this.#envelope, choices, usage }));
  }
}

function finishWord(reason: FinishReason): string {
  return encodeFinish(reason, { calls: false, refusal: false });
}

function choice(text: string, finish: string | null): JsonObject {
  return { text, index: 0, logprobs: null, finish_reason: finish };
}

function envelopeOf({ callId, createdAt: created, model }: AnswerContext): JsonObject {
  return { id: `cmpl-${callId.replaceAll('-', '')}`, object: 'text_completion', created, model };
}

function envelopeLike({ id, created, model }: JsonObject): JsonObject {
  return { id: id ?? '', object: 'text_completion', created: created ?? 0, model: model ?? '' };
}
