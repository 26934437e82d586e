import { NO_FACTS, NO_OBJECT, type FrameFacts, type StreamReader } from '../answer/frame.ts';
import { refuseUnasked } from '../answer/answer-bounds.ts';
import { IdReader } from '../answer/answer-id.ts';
import { errorKind, errorMessage } from '../answer/error-message.ts';
import { isObject, type Json, type JsonObject } from '../document/json.ts';
import type { SseEvent } from '../answer/sse.ts';
import { hasChunks } from './flat-content.ts';
import { usageOf } from './usage.ts';

const DONE_MARK: FrameFacts = { ...NO_FACTS, kind: 'done' };

/** Reads a stream of chat or plain completions, with the deviations that compatible vendors are known for. */
export class ChatStreamReader implements StreamReader {
  readonly #id = new IdReader();
  #done = false;
  readonly #answers: number;
  readonly #begun = new Set<number>();
  readonly #finished = new Set<number>();

  /** `answers`: how many the request asks for. */
  constructor(answers = Infinity) {
    this.#answers = answers;
  }

  /** `[DONE]` came, or every choice has its finish reason: some vendors send no `[DONE]`. */
  get finished(): boolean {
    return this.#done || (this.#begun.size > 0 && this.#begun.size === this.#finished.size);
  }

  /** Throws `SyntaxError` when the data is not JSON, `AnswerOutOfBounds` for choices that were not requested. */
  read(event: SseEvent): FrameFacts {
    if (event.data === undefined || event.data === '') return NO_FACTS;
    if (event.data.trim() === '[DONE]') {
      this.#done = true;
      return DONE_MARK;
    }
    const body: unknown = JSON.parse(event.data);
    return isObject(body) ? this.readChunk(body) : NO_OBJECT;
  }

  /** Reads one chunk. Throws `AnswerOutOfBounds`. */
  readChunk(body: JsonObject): FrameFacts {
    const error = errorIn(body);
    if (error !== undefined) {
      return { ...NO_FACTS, kind: 'error', error: errorMessage(error), ...errorKind(error), body };
    }
    const choices = Array.isArray(body['choices']) ? (body['choices'] as readonly Json[]) : [];
    let deviates = false;
    for (let at = 0; at < choices.length; at++) {
      const choice = choices[at];
      if (!isObject(choice)) continue;
      const index = choiceIndex(choice, at);
      if (!this.#begun.has(index)) refuseUnasked(this.#begun.add(index).size, this.#answers);
      deviates ||= hasChunks(choice);
      if (finishWord(choice) !== undefined) this.#finished.add(index);
    }
    const usage = usageOf(body);
    const kind = choices.length > 0 ? 'content' : usage ? 'usage' : 'other';
    return { kind, id: this.#id.read(body['id']), usage, deviates, body };
  }
}

/** The word that a choice ends with; undefined while it goes on. */
export function finishWord({ finish_reason: word }: JsonObject): string | undefined {
  return typeof word === 'string' && word !== '' ? word : undefined;
}

/** Most vendors wrap it; one says that the whole chunk is one. */
export function errorIn(body: JsonObject): Json | undefined {
  return body['error'] ?? (body['object'] === 'error' ? body : undefined);
}

/** Which answer a choice is of: vendors who give one alone may leave its number out. */
export function choiceIndex(choice: JsonObject, position: number): number {
  return typeof choice['index'] === 'number' ? choice['index'] : position;
}
