import { readId } from '../answer/answer-id.ts';
import type { ModelAnswer, StreamEvent } from '../hub/canonical.ts';
import type { StreamDecoder } from '../hub/codec.ts';
import { errorKind, errorMessage } from '../answer/error-message.ts';
import { collectAnswer } from '../answer/collect-answer.ts';
import { isObject, type Json, type JsonObject } from '../document/json.ts';
import type { SseEvent } from '../answer/sse.ts';
import { CallReader } from './call-reader.ts';
import { callPieces, textPieces, type Piece } from './delta.ts';
import { decodeFinish } from './finish.ts';
import { usageOf } from './usage.ts';

/** A buffered chat answer in the hub's words: its first choice. Undefined: it is none. */
export function decodeAnswer(body: JsonObject): ModelAnswer | undefined {
  const choice = firstChoice(body);
  if (!choice || !isObject(choice['message']) || errorOf(body)) return undefined;
  const reader = new ChatStreamDecoder();
  // Told in one chunk, it is read by the same rules as a stream.
  const events = reader.readChunk({ ...body, choices: [{ ...choice, index: 0, delta: choice['message'] }] });
  const { finish = { reason: 'stop' }, ...answer } = collectAnswer([...events, ...reader.readDone()]);
  return { ...answer, finish };
}

/** Reads a chat completion stream into the hub, with the deviations that vendors are known for. // wire-formats 4.1 */
export class ChatStreamDecoder implements StreamDecoder {
  #parts = 0;
  #begun = false;
  #done = false;
  #finished = false;
  #refused = false;
  #id = '';
  /** The text, reasoning or refusal that is being told. */
  #open: { readonly type: Piece['type']; readonly index: number } | undefined;
  readonly #calls = new CallReader(() => this.#parts++);

  get finished(): boolean {
    return this.#done || this.#finished;
  }

  read(event: SseEvent): readonly StreamEvent[] {
    if (event.data === undefined || event.data === '' || this.#done) return [];
    if (event.data.trim() === '[DONE]') return this.readDone();
    const body: unknown = JSON.parse(event.data);
    return isObject(body) ? this.readChunk(body) : [{ type: 'warning', message: 'a chunk that is no object' }];
  }

  end(): readonly StreamEvent[] {
    return this.#close();
  }

  /** The end marker: an answer without a reason to end has simply ended. */
  readDone(): StreamEvent[] {
    this.#done = true;
    const events = this.#finished ? [] : this.#finish('stop');
    return [...events, { type: 'end' }];
  }

  readChunk(body: JsonObject): StreamEvent[] {
    const error = errorOf(body);
    if (error) return [error];
    const events: StreamEvent[] = [];
    if (!this.#begun) {
      this.#begun = true;
      const id = readId(body['id']);
      this.#id = id ?? '';
      events.push({ type: 'start', ...(id === undefined ? {} : { id }) });
    }
    const choice = firstChoice(body);
    if (choice) for (const one of this.#choice(choice)) events.push(one);
    const usage = usageOf(body);
    if (usage) events.push({ type: 'usage', usage });
    return events;
  }

  #choice({ delta, finish_reason: reason }: JsonObject): StreamEvent[] {
    const events: StreamEvent[] = [];
    if (isObject(delta)) {
      const pieces = textPieces(delta, (message) => events.push({ type: 'warning', message }));
      for (const piece of pieces) for (const one of this.#text(piece)) events.push(one);
      for (const piece of callPieces(delta)) events.push(...this.#closeText(), ...this.#calls.read(piece, this.#id));
    }
    if (typeof reason === 'string' && reason !== '' && !this.#finished)
      for (const one of this.#finish(reason)) events.push(one);
    return events;
  }

  #text({ type, text }: Piece): StreamEvent[] {
    if (type === 'refusal') this.#refused = true;
    if (this.#open?.type === type) return [{ type: 'part-delta', index: this.#open.index, text }];
    const closed = this.#closeText();
    const index = this.#parts++;
    this.#open = { type, index };
    return [...closed, { type: 'part-start', index, part: { type, text } }];
  }

  #finish(word: string): StreamEvent[] {
    this.#finished = true;
    const closed = this.#close();
    const reason = decodeFinish(word, { calls: this.#calls.any, refusal: this.#refused });
    if (reason) return [...closed, { type: 'finish', finish: { reason } }];
    return [
      ...closed,
      { type: 'warning', message: 'an unknown reason to finish' },
      { type: 'finish', finish: { reason: this.#calls.any ? 'tool-calls' : 'stop' } },
    ];
  }

  #close(): StreamEvent[] {
    return [...this.#closeText(), ...this.#calls.end()];
  }

  #closeText(): StreamEvent[] {
    if (!this.#open) return [];
    const { index } = this.#open;
    this.#open = undefined;
    return [{ type: 'part-end', index }];
  }
}

/** Choices may come in any order, and without an index; there may be none (usage, annotations of a filter). */
function firstChoice(body: JsonObject): JsonObject | undefined {
  const choices = Array.isArray(body['choices']) ? (body['choices'] as readonly Json[]) : [];
  return choices.filter(isObject).find(({ index }) => typeof index !== 'number' || index === 0);
}

/** Most vendors wrap it; one says that the whole chunk is one. */
function errorOf(body: JsonObject): StreamEvent | undefined {
  const error = body['error'] ?? (body['object'] === 'error' ? body : undefined);
  if (error === undefined || error === null) return undefined;
  const { errorKind: code } = errorKind(error);
  return { type: 'error', message: errorMessage(error), ...(code !== undefined && { code }) };
}
