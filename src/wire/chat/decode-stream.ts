import { NO_OBJECT, type FrameFacts } from '../answer/frame.ts';
import type { ModelAnswer, StreamEvent } from '../hub/canonical.ts';
import type { StreamDecoder } from '../hub/codec.ts';
import { collectAnswer } from '../hub/collect-answer.ts';
import { isObject, type Json, type JsonObject } from '../document/json.ts';
import type { SseEvent } from '../answer/sse.ts';
import { CallReader } from './decode-calls.ts';
import { callPieces, textPieces, type Piece } from './answer-texts.ts';
import { decodeFinish } from './finish.ts';
import { ChatStreamReader, errorIn, finishWord } from './read-stream.ts';

/** A buffered chat answer in the hub's form: its first choice. Undefined: it is not a chat answer. */
export function decodeAnswer(body: JsonObject): ModelAnswer | undefined {
  const choice = firstChoice(body);
  if (!choice || !isObject(choice['message']) || errorIn(body) !== undefined) return undefined;
  const decoder = new ChatStreamDecoder();
  // Told in one chunk, it is read by the same rules as a stream.
  const events = decoder.decodeChunk({ ...body, choices: [{ ...choice, index: 0, delta: choice['message'] }] });
  const { finish = { reason: 'stop' }, ...answer } = collectAnswer([...events, ...decoder.decodeEnd()]);
  return { ...answer, finish };
}

/** Decodes a chat completion stream into the hub's events, with the deviations of vendors. // wire-formats 4.1 */
export class ChatStreamDecoder implements StreamDecoder {
  readonly #reader = new ChatStreamReader();
  #parts = 0;
  #begun = false;
  #done = false;
  #finished = false;
  #refused = false;
  #id = '';
  /** The text, reasoning or refusal in progress. */
  #open: { readonly type: Piece['type']; readonly index: number } | undefined;
  readonly #calls = new CallReader(() => this.#parts++);

  get finished(): boolean {
    return this.#done || this.#finished;
  }

  decode(event: SseEvent): readonly StreamEvent[] {
    if (this.#done) return [];
    const facts = this.#reader.read(event);
    if (facts === NO_OBJECT) return [{ type: 'warning', message: 'a chunk that is no object' }];
    return this.#decode(facts);
  }

  /** One chunk of a stream, or a whole answer told as one. */
  decodeChunk(body: JsonObject): readonly StreamEvent[] {
    return this.#decode(this.#reader.readChunk(body));
  }

  end(): readonly StreamEvent[] {
    return this.#close();
  }

  /** The end marker: an answer without a reason to end has simply ended. */
  decodeEnd(): StreamEvent[] {
    this.#done = true;
    const events = this.#finished ? [] : this.#finish('stop');
    return [...events, { type: 'end' }];
  }

  #decode({ kind, id, usage, error, errorKind: code, body }: FrameFacts): readonly StreamEvent[] {
    if (kind === 'done') return this.decodeEnd();
    if (error !== undefined) return [{ type: 'error', message: error, ...(code !== undefined && { code }) }];
    if (!body) return [];
    const events: StreamEvent[] = [];
    if (!this.#begun) {
      this.#begun = true;
      this.#id = id ?? '';
      events.push({ type: 'start', ...(id === undefined ? {} : { id }) });
    }
    const choice = firstChoice(body);
    if (choice) this.#choice(choice, events);
    if (usage) events.push({ type: 'usage', usage });
    return events;
  }

  #choice(choice: JsonObject, events: StreamEvent[]): void {
    const { delta } = choice;
    if (isObject(delta)) {
      const pieces = textPieces(delta, (message) => events.push({ type: 'warning', message }));
      for (const piece of pieces) this.#text(piece, events);
      for (const piece of callPieces(delta)) events.push(...this.#closeText(), ...this.#calls.read(piece, this.#id));
    }
    const word = finishWord(choice);
    if (word !== undefined && !this.#finished) for (const one of this.#finish(word)) events.push(one);
  }

  #text({ type, text }: Piece, events: StreamEvent[]): void {
    if (this.#open?.type === type) {
      events.push({ type: 'part-delta', index: this.#open.index, text });
      return;
    }
    if (type === 'refusal') this.#refused = true;
    events.push(...this.#closeText());
    const index = this.#parts++;
    this.#open = { type, index };
    events.push({ type: 'part-start', index, part: { type, text } });
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
  const { choices } = body;
  if (!Array.isArray(choices)) return undefined;
  for (const choice of choices as readonly Json[]) {
    if (isObject(choice) && (typeof choice['index'] !== 'number' || choice['index'] === 0)) return choice;
  }
  return undefined;
}
